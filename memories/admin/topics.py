"""The topics with their health, to rename and to consolidate."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from icm_site.errors import IcmError
from icm_site.model_admin import back, caller, own_page, require, say_done
from memories import health, store
from memories.admin.acts import undo_of

SHOWN = 200
STATUS: dict[str, Promise] = {
    "needs attention": _("needs attention"),
    "consolidate": _("consolidate"),
    "has stale entries": _("has stale entries"),
    "healthy": _("healthy"),
}
# In this order, the largest first among equals.
_PLACE = {name: place for place, name in enumerate(STATUS)}


def listed(request: HttpRequest) -> HttpResponse:
    """The topics that need a person first; `q` names a part of their names."""
    require(request, "memories.view_memory")
    wanted = request.GET.get("q", "").strip().lower()
    found = [
        topic
        for topic in health.topics(now=timezone.now())
        if wanted in topic.topic.lower()
    ]
    found.sort(key=lambda row: (_PLACE[row.status], -row.entries))
    rows = [(row, STATUS[row.status]) for row in found[:SHOWN]]
    return own_page(
        request,
        "memories/topics.html",
        title=_("Topics"),
        rows=rows,
        count=len(found),
        largest=max((row.entries for row in found), default=1),
        wanted=wanted,
    )


def rename(request: HttpRequest) -> HttpResponse:
    """Move all memories of a topic to another name."""
    require(request, "memories.change_memory")
    if request.method != "POST":
        return HttpResponseRedirect(reverse("admin:memories_topics"))
    try:
        moved, merged, change = store.rename_topic(
            request.POST.get("topic", ""),
            request.POST.get("name", ""),
            caller=caller(request),
        )
    except IcmError as error:
        messages.error(request, error.message)
    else:
        text = ngettext("%d memory is moved.", "%d memories are moved.", moved) % moved
        if merged:
            text += " " + gettext("%d had a text that was there already.") % merged
        say_done(request, text, undo=undo_of(change))
    return back(request, otherwise=reverse("admin:memories_topics"))

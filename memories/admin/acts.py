"""Acts on several chosen memories: a page that asks, then one change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from icm_site.model_admin import back, caller, own_page, require, say_done
from icm_site.ulid import is_ulid
from memories import bulk, consolidate, embedding
from memories.models import Change, Importance, Memory

LIST = "admin:memories_memory_changelist"
# More in one act than a person has looked at; topics have acts of their own.
MOST = 1_000
MERGED = 20
# A preview writes nothing, so it does not matter who asks.
READER = Caller(surface="admin", origin="user")


@dataclass(frozen=True)
class Act:
    """A page that asks: its address, its template, how many memories it takes."""

    name: str
    title: str | Promise
    least: int = 1
    most: int = MOST

    @property
    def template(self) -> str:
        return f"memories/act_{self.name}.html"


EDIT = Act("edit", _("Change topic or importance"))
MERGE = Act("merge", _("Merge into one memory"), least=2, most=MERGED)
CONSOLIDATE = Act("consolidate", _("Consolidate a topic"))


def undo_of(change: Change | None) -> str:
    """What takes a change back, as the message's button sends it."""
    return f"change-{change.ulid}" if change else ""


def ask(request: HttpRequest, rows: Iterable[Memory], act: Act) -> HttpResponse | None:
    """The page that asks; None, and a message, where the choice does not fit."""
    chosen = [row for row in rows if row.is_live]
    if not act.least <= len(chosen) <= act.most:
        text = gettext("Choose from %(least)d to %(most)d live memories.")
        messages.error(request, text % {"least": act.least, "most": act.most})
        return None
    try:
        return own_page(
            request, act.template, title=act.title, act=act, **_context(act, chosen)
        )
    except IcmError as error:
        messages.error(request, error.message)
        return None


def _context(act: Act, chosen: list[Memory]) -> dict[str, Any]:
    context: dict[str, Any] = {
        "memories": chosen,
        "ids": ",".join(memory.ulid for memory in chosen),
        "levels": Importance.values,
        "address": reverse(f"admin:memories_{act.name}"),
    }
    if act is CONSOLIDATE:
        if len({memory.topic_key for memory in chosen}) > 1:
            raise InvalidInput(gettext("Choose memories of one topic."))
        context |= _plan(chosen[0].topic, [memory.ulid for memory in chosen])
    return context


def _plan(topic: str, ids: list[str]) -> dict[str, Any]:
    """What a consolidation would archive, and the text to begin with."""
    plan = consolidate.consolidate(
        topic=topic, ids=ids, caller=READER, now=timezone.now(), dry_run=True
    )
    text = "\n".join(f"- {memory.summary}" for memory in plan.originals)
    return {"plan": plan, "text": text, "memories": plan.originals}


def edit(request: HttpRequest) -> HttpResponse:
    """Give the chosen memories another topic or importance."""

    def work(chosen: list[Memory]) -> tuple[str, bulk.Done]:
        done = bulk.edit(
            chosen,
            topic=request.POST.get("topic", "").strip(),
            importance=request.POST.get("importance", ""),
            caller=caller(request),
        )
        text = ngettext("%d memory is changed.", "%d memories are changed.", done.count)
        return text % done.count, done

    return _written(request, work)


def merge(request: HttpRequest) -> HttpResponse:
    """Let one of the chosen memories say what all of them say."""

    def work(chosen: list[Memory]) -> tuple[str, bulk.Done]:
        kept = [m for m in chosen if m.ulid == request.POST.get("kept")]
        if not kept:
            raise InvalidInput(gettext("Choose the memory that stays."))
        done = bulk.combine(
            kept[0],
            [memory for memory in chosen if memory != kept[0]],
            content=_typed(request),
            caller=caller(request),
        )
        embedding.embed_missing(kept)
        return gettext("%d memories are one now.") % done.count, done

    return _written(request, work)


def consolidate_page(request: HttpRequest) -> HttpResponse:
    """Show what a topic's consolidation would archive; with a POST do it."""
    topic = request.POST.get("topic", request.GET.get("topic", ""))
    if request.method != "POST":
        require(request, "memories.change_memory")
        context = {"ids": "", "address": reverse("admin:memories_consolidate")}
        context |= _plan(topic, [])
        title = CONSOLIDATE.title
        return own_page(request, CONSOLIDATE.template, title=title, **context)

    def work(chosen: list[Memory]) -> tuple[str, bulk.Done]:
        made = consolidate.consolidate(
            topic=topic,
            ids=[memory.ulid for memory in chosen],
            summary=_typed(request),
            caller=caller(request),
            now=timezone.now(),
        )
        if made.successor is not None:
            embedding.embed_missing([made.successor])
        count = len(made.originals)
        text = ngettext("%d memory is archived.", "%d memories are archived.", count)
        return text % count, bulk.Done(count=count, change=made.change)

    return _written(request, work)


def _written(
    request: HttpRequest, work: Callable[[list[Memory]], tuple[str, bulk.Done]]
) -> HttpResponse:
    """Do the work on the memories that the form names; say so, or why not."""
    require(request, "memories.change_memory")
    if request.method != "POST":
        return HttpResponseRedirect(reverse(LIST))
    ids = list(filter(is_ulid, request.POST.get("ids", "").split(",")))[:MOST]
    chosen = list(Memory.objects.with_usage().filter(ulid__in=ids).order_by("id"))
    try:
        text, done = work(chosen)
    except IcmError as error:
        messages.error(request, error.message)
    else:
        say_done(request, text, undo=undo_of(done.change))
        if done.redacted:
            masked = gettext("Masked before it was written: %s.")
            messages.warning(request, masked % ", ".join(done.redacted))
    return back(request, otherwise=reverse(LIST))


def _typed(request: HttpRequest) -> str:
    return request.POST.get("content", "").replace("\r\n", "\n").strip()

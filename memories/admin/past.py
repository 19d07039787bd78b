"""What happened to a memory: changes with their words compared, each to undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from icm_site.model_admin import UNDO, back, caller, own_page, require, say_done
from icm_site.undoing import ACTS
from memories import diff, history, marking, records, suggestions
from memories.models import Memory
from memories.schemas import HistoryEntry

# Changes shown beside the form; the history has all.
FEW = 5
ENTRIES = 200
# By the mark of a person, `feedback.marks` gives the same name.
PERSON = "person"
OPERATIONS: dict[str, Promise] = {
    "store": _("stored"),
    "update": _("corrected"),
    "edit": _("moved or rated anew"),
    "merge": _("merged"),
    "forget": _("forgotten"),
    "forget_topic": _("forgotten with its topic"),
    "rename_topic": _("moved with its topic"),
    "consolidate": _("consolidated"),
    "prune": _("pruned"),
    "accept_suggestion": _("replaced, as suggested"),
    "accept_correction": _("replaced by its correction"),
    "import": _("imported"),
    "undo": _("undone"),
}
FIELDS: dict[str, Promise] = {
    "summary": _("text"),
    "raw_excerpt": _("original wording"),
    "topic": _("topic"),
    "keywords": _("keywords"),
    "importance": _("importance"),
    "state": _("state"),
    "superseded_by": _("replaced by"),
    "metadata": _("further data"),
}


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field that a change touched, as stretches of words."""

    name: str
    title: str | Promise
    parts: Sequence[diff.Part]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A change as the page shows it; `can_undo` where nothing has taken it back."""

    change: str
    title: str | Promise
    at: datetime
    surface: str
    writer: str
    fields: Sequence[Field]
    undone: bool
    is_new: bool

    @property
    def can_undo(self) -> bool:
        return not self.undone


def entries(memory: Memory) -> list[Entry]:
    """The changes of a memory, the newest first."""
    return [_entry(row) for row in records.history_entries(memory)[:ENTRIES]]


def _entry(row: HistoryEntry) -> Entry:
    return Entry(
        change=row.change,
        title=OPERATIONS.get(row.operation, row.operation),
        at=row.at,
        surface=row.surface,
        writer=row.host or gettext(row.origin),
        fields=list(_fields(row)),
        undone=row.undone,
        is_new=row.before is None,
    )


def _fields(row: HistoryEntry) -> Iterator[Field]:
    for name, title in FIELDS.items():
        if name not in row.after:
            continue
        old = _text((row.before or {}).get(name))
        new = _text(row.after[name])
        if row.before is None:
            # What is new has nothing to be compared with.
            if new and name in ("summary", "topic", "importance"):
                yield Field(name=name, title=title, parts=[diff.Part("same", new)])
        elif old != new:
            yield Field(name=name, title=title, parts=diff.words(old, new))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(word) for word in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {value[key]}" for key in value)
    return "" if value is None else str(value)


def page(request: HttpRequest, key: str) -> HttpResponse:
    """All changes of the memory with this integer key."""
    require(request, "memories.view_memory")
    memory = Memory.objects.with_usage().filter(pk=key).first() if _whole(key) else None
    if memory is None:
        raise Http404
    return own_page(
        request,
        "memories/history.html",
        title=_("History"),
        memory=memory,
        entries=entries(memory),
    )


def _whole(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 19


def take_back(request: HttpRequest) -> HttpResponse:
    """Undo what a form's `undo` names: a change, a dismissal, a mark."""
    require(request, "memories.change_memory")
    if request.method != "POST":
        return HttpResponseRedirect(reverse("admin:memories_memory_changelist"))
    try:
        wanted = request.POST.get("undo", "").removeprefix(UNDO)
        text, undo = taken_back(wanted, caller(request))
    except IcmError as error:
        messages.error(request, error.message)
    else:
        say_done(request, text, undo=undo)
    return back(request, otherwise=reverse("admin:memories_memory_changelist"))


def taken_back(undo: str, who: Caller) -> tuple[str, str]:
    """Undo what a message named; returns what is said, and what undoes that.

    Raises IcmError.
    """
    kind, _dash, name = undo.partition("-")
    if kind == "change":
        change, memories = history.undo(name, caller=who, now=timezone.now())
        text = ngettext(
            "Undone; %d memory is as it was before.",
            "Undone; %d memories are as they were before.",
            len(memories),
        )
        return text % len(memories), f"change-{change.ulid}"
    if kind == "dismissal":
        suggestions.reopen(name)
        return gettext("The suggestion is open again."), ""
    if kind == "mark":
        marking.unmark(PERSON, memory=history.find_memory(name))
        return gettext("The mark is taken back."), ""
    if kind == "act":
        return ACTS.take_back(name, who)
    raise InvalidInput(gettext("There is nothing to undo by this name."))

"""The review queue: what a person should look at, decided with one click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from icm_site.model_admin import back, caller, own_page, require, say_done
from icm_site.undoing import watching
from memories import bulk, diff, history, marking, marks, merge, store, suggestions
from memories.admin.acts import undo_of
from memories.admin.past import PERSON
from memories.driver import raw_connection
from memories.health import STALE_AFTER, STALE_WEIGHT
from memories.models import (
    Change,
    Importance,
    Memory,
    MemoryMark,
    MemoryUsage,
    Suggestion,
)

SHOWN = 30
# Marked memories that are looked through at most.
MARKED = 500
MASKED = "[redacted:"


@dataclass(frozen=True, kw_only=True)
class Item:
    """A memory to look at, with the other one it is about, if there is one."""

    memory: Memory
    other: Memory | None = None
    kind: str | Promise = ""
    note: str | Promise = ""
    id: str = ""
    parts: Sequence[diff.Part] = ()


KINDS: dict[str, Promise] = {
    "may_update": _("may update"),
    "duplicate": _("duplicate"),
    "contradiction": _("contradiction"),
}


def queue(request: HttpRequest) -> HttpResponse:
    """One part of the queue, and how long the others are."""
    require(request, "memories.view_memory")
    part = request.GET.get("part", "suggestions")
    part = part if part in PARTS else "suggestions"
    now = timezone.now()
    counts = {"suggestions": _open().count(), "stale": _stale(now).count()}
    counts["contradicted"] = len(_contradicted_keys())
    return own_page(
        request,
        "memories/review.html",
        title=_("Review"),
        part=part,
        parts=[(name, title, counts.get(name)) for name, (title, _f) in PARTS.items()],
        items=PARTS[part][1](now),
    )


def _open() -> QuerySet[Suggestion]:
    return Suggestion.objects.filter(
        status=Suggestion.Status.OPEN, source__state="live", target__state="live"
    )


def _suggested(now: datetime) -> list[Item]:
    return [
        Item(
            memory=row.source,
            other=row.target,
            kind=KINDS[row.kind],
            note=row.reason,
            id=row.ulid,
            parts=diff.words(row.target.summary, row.source.summary),
        )
        for row in suggestions.listed(limit=SHOWN)
    ]


def _contradicted_keys() -> list[int]:
    """Live memories that were marked wrong more often than helpful."""
    marked = MemoryMark.objects.filter(helpful=False, memory__state="live")
    keys = marked.order_by("-memory_id").values_list("memory_id", flat=True).distinct()
    judged = marks.read(raw_connection(), list(keys[:MARKED]))
    return sorted(
        (key for key, row in judged.items() if row.wrong > row.helpful), reverse=True
    )


def _contradicted(now: datetime) -> list[Item]:
    keys = _contradicted_keys()[:SHOWN]
    corrected = marks.corrections(raw_connection(), keys)
    rows = Memory.objects.with_usage().in_bulk([*keys, *corrected.values()])
    return [_contradiction(rows[key], rows.get(corrected.get(key, 0))) for key in keys]


def _contradiction(memory: Memory, correction: Memory | None) -> Item:
    if correction is None:
        return Item(memory=memory, kind=_("marked wrong"), id=memory.ulid)
    parts = diff.words(memory.summary, correction.summary)
    kind = KINDS["contradiction"]
    return Item(memory=correction, other=memory, kind=kind, id=memory.ulid, parts=parts)


def _stale(now: datetime) -> QuerySet[Memory]:
    return (
        Memory.objects.live()
        .with_usage()
        .filter(
            usage__weight__lt=STALE_WEIGHT,
            usage__last_accessed__lt=now - STALE_AFTER,
        )
        .exclude(importance=Importance.CRITICAL)
    )


def _fading(now: datetime) -> list[Item]:
    rows = _stale(now).order_by("usage__weight", "id")[:SHOWN]
    return [Item(memory=row, kind=_("stale"), id=row.ulid) for row in rows]


def _masked(now: datetime) -> list[Item]:
    rows = Memory.objects.live().with_usage().filter(summary__contains=MASKED)
    return [
        Item(memory=row, kind=_("secret masked"), id=row.ulid) for row in rows[:SHOWN]
    ]


PARTS: dict[str, tuple[Promise, Callable[[datetime], list[Item]]]] = {
    "suggestions": (_("Suggestions"), _suggested),
    "contradicted": (_("Contradicted"), _contradicted),
    "stale": (_("Stale"), _fading),
    "masked": (_("Masked secrets"), _masked),
}


def act(request: HttpRequest) -> HttpResponse:
    """Decide one item: `act` is a row of ACTS, `id` what it is about."""
    require(request, "memories.change_memory")
    place = reverse("admin:memories_review")
    if request.method != "POST":
        return HttpResponseRedirect(place)
    try:
        work = ACTS.get(request.POST.get("act", ""))
        if work is None:
            raise InvalidInput(gettext("There is no such decision."))
        text, undo = work(request.POST.get("id", ""), caller(request), timezone.now())
    except IcmError as error:
        messages.error(request, error.message)
    else:
        say_done(request, text, undo=undo)
    return back(request, otherwise=place)


def _accept(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    _suggestion, change = suggestions.accept(name, caller=who, now=now)
    return gettext("The newer memory has replaced the older one."), undo_of(change)


def _dismiss(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    row = suggestions.dismiss(name)
    return gettext("Dismissed; both memories stay."), f"dismissal-{row.ulid}"


def _correct(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    change = _replace_by_correction(name, who, now)
    return gettext("The correction has taken its place."), undo_of(change)


def _replace_by_correction(name: str, who: Caller, now: datetime) -> Change:
    with history.change("accept_correction", caller=who, now=now) as log:
        memory = history.find_memory(name)
        found = marks.corrections(raw_connection(), [memory.pk])
        if memory.pk not in found:
            text = gettext("This memory has no correction in sight.")
            raise InvalidInput(text)
        merge.supersede(
            memory, by=Memory.objects.get(pk=found[memory.pk]), log=log, now=now
        )
    return log.change


def _confirm(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    memory = history.find_memory(name)
    marking.mark(memory, helpful=True, reference=PERSON, now=now)
    return gettext("Marked as right."), f"mark-{memory.ulid}"


def _keep(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    memory = history.find_memory(name)
    with watching(lambda: [MemoryUsage.objects.filter(pk=memory.pk)]) as done:
        bulk.refresh([memory], now=now)
    return gettext("It stays, with full weight."), done.undo


def _forget(name: str, who: Caller, now: datetime) -> tuple[str, str]:
    _memory, change = store.forget(name, caller=who, now=now)
    return gettext("The memory is hidden."), undo_of(change)


ACTS: dict[str, Callable[[str, Caller, datetime], tuple[str, str]]] = {
    "accept": _accept,
    "dismiss": _dismiss,
    "correct": _correct,
    "confirm": _confirm,
    "keep": _keep,
    "forget": _forget,
}

"""Acts on many chosen memories at once, each as one change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput
from memories import history, merge, statements, store, validation
from memories.cleaner import Cleaner
from memories.models import Change, Memory, MemoryUsage, State


@dataclass(frozen=True, kw_only=True)
class Done:
    """How many memories were touched, by which change, and what was masked."""

    count: int
    change: Change | None
    redacted: tuple[str, ...] = ()


def forget(
    memories: Iterable[Memory], *, caller: Caller, now: datetime | None = None
) -> tuple[int, Change | None]:
    """Hide memories that are not forgotten yet; returns how many, and the change."""
    now = now or timezone.now()
    with history.change("forget", caller=caller, now=now) as log:
        rows = [memory for memory in memories if memory.state != State.FORGOTTEN]
        history.hide(rows, State.FORGOTTEN, log=log, now=now)
    return len(rows), log.change if rows else None


def edit(
    memories: Iterable[Memory],
    *,
    caller: Caller,
    topic: str = "",
    importance: str = "",
    now: datetime | None = None,
) -> Done:
    """Give live memories another topic or importance, or both.

    A memory whose text the new topic holds already is hidden behind that one. Raises
    InvalidInput where neither is given.
    """
    if not topic and not importance:
        raise InvalidInput("nothing to change: give a topic or an importance")
    clean = Cleaner()
    place = validation.topic(clean(topic)) if topic else ""
    level = validation.importance(importance) if importance else ""
    now = now or timezone.now()
    with history.change("edit", caller=caller, now=now) as log:
        rows = [memory for memory in memories if memory.is_live]
        history.load_hashes(rows)
        for memory in rows:
            log.keep(memory)
            memory.importance = level or memory.importance
            if place and place != memory.topic:
                store.move_within(memory, place, log=log, now=now)
            else:
                history.save(memory, log=log, now=now)
    change = log.change if rows else None
    return Done(count=len(rows), change=change, redacted=clean.found)


def combine(
    kept: Memory,
    others: Sequence[Memory],
    *,
    content: str,
    caller: Caller,
    now: datetime | None = None,
) -> Done:
    """Let one memory say what several said; the others are hidden behind it.

    It has `content` as its text, the highest importance and the keywords of all. Raises
    InvalidInput, Conflict for a memory that is hidden or for a text that another has.
    """
    if not others:
        raise InvalidInput("choose two memories or more to merge")
    clean = Cleaner()
    text = content if content == kept.summary else clean(content)
    now = now or timezone.now()
    with history.change("merge", caller=caller, now=now) as log:
        if not kept.is_live:
            raise Conflict(f"memory {kept.ulid} is {kept.state}, not live")
        log.keep(kept)
        hashes = {row.summary_hash for row in kept.hashes.all()}
        known = {kept.summary_hash, *(m.summary_hash for m in others), *hashes}
        for memory in others:
            merge.unite(kept, memory)
            merge.supersede(memory, by=kept, log=log, now=now)
        kept.summary = validation.summary(text)
        kept.derive()
        taken = statements.live_holder(kept.summary_hash, other_than=kept.pk)
        if taken is not None:
            raise Conflict(f"memory {taken} of this topic has the same text")
        # Storing one of the old texts again finds this memory.
        history.set_hashes(kept, sorted(known - {kept.summary_hash}))
        history.save(kept, log=log, now=now)
        MemoryUsage.objects.filter(pk=kept.pk).update(weight=1.0, decayed_at=now)
    return Done(count=len(others) + 1, change=log.change, redacted=clean.found)


def refresh(memories: Iterable[Memory], *, now: datetime | None = None) -> int:
    """Say that memories still hold: full weight, looked at now; returns how many."""
    now = now or timezone.now()
    keys = [memory.pk for memory in memories]
    rows = MemoryUsage.objects.filter(pk__in=keys)
    return rows.update(weight=1.0, last_accessed=now, decayed_at=now)

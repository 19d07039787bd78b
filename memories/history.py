"""Changes and revisions: every act on text can be seen and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, prefetch_related_objects

from icm_site.caller import Caller
from icm_site.errors import Conflict, NotFound
from icm_site.ulid import is_ulid
from memories import statements
from memories.models import (
    Change,
    Memory,
    MemoryHash,
    MemoryRevision,
    MemoryUsage,
    State,
)

# Keys in one statement; SQLite allows 32 766 parameters.
BATCH = 10_000
FIELDS = (
    "topic",
    "summary",
    "raw_excerpt",
    "keywords",
    "importance",
    "state",
    "metadata",
    "superseded_by_id",
)
DERIVED = (
    "topic_key",
    "summary_hash",
    "keywords_key",
    "topic_index",
    "summary_index",
    "keywords_index",
)


@dataclass
class Log:
    """The change that is being made; `keep` is called before a memory is touched."""

    change: Change
    before: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    given: dict[int, dict[str, Any]] = field(default_factory=dict)

    def keep(self, memory: Memory) -> None:
        """Keep the fields of a memory as they are now."""
        self.before.setdefault(memory.pk, snapshot(memory))

    def created(self, memory: Memory) -> None:
        """Note that the memory did not exist before."""
        self.before[memory.pk] = None

    def write(self) -> None:
        statements.insert_change(self.change, self.before, self.given)


@contextmanager
def change(
    operation: str, *, caller: Caller, now: datetime, undoes: Change | None = None
) -> Iterator[Log]:
    """One write transaction whose revisions are written at its end.

    A block that touches no memory leaves no change behind.
    """
    with transaction.atomic():
        log = Log(
            Change(
                operation=operation,
                surface=caller.surface,
                origin=caller.origin,
                host=caller.host,
                agent_session=caller.agent_session,
                at=now,
                undoes=undoes,
            )
        )
        yield log
        if log.before:
            log.write()


def snapshot(memory: Memory) -> dict[str, Any]:
    """The fields that an undo brings back, as JSON values."""
    hashes = sorted(row.summary_hash for row in memory.hashes.all())
    return {name: getattr(memory, name) for name in FIELDS} | {"hashes": hashes}


def find_change(identifier: str) -> Change:
    """The change by its own id, or the last standing one of a memory's id.

    Raises NotFound.
    """
    wanted = identifier.strip().upper()
    found = Change.objects.filter(ulid=wanted).first() if is_ulid(wanted) else None
    if found:
        return found
    memory = find_memory(identifier, what="memory or change")
    last = (
        Change.objects.active()
        .filter(revisions__memory=memory, undoes__isnull=True)
        .first()
    )
    if last is None:
        raise NotFound(f"nothing left to undo for memory {memory.ulid}")
    return last


def find_memory(identifier: str, *, what: str = "memory") -> Memory:
    """The memory by its id, in whatever state. Raises NotFound."""
    wanted = identifier.strip().upper()
    memory = None
    if is_ulid(wanted):
        memory = Memory.objects.with_usage().filter(ulid=wanted).first()
    if memory is None:
        raise NotFound(f"{what} not found: {identifier.strip()[:64] or '(empty)'}")
    return memory


def revisions(memory: Memory) -> list[MemoryRevision]:
    """What happened to a memory, newest first."""
    return list(memory.revisions.select_related("change", "change__undoes"))


def undo(
    identifier: str, *, caller: Caller, now: datetime
) -> tuple[Change, list[Memory]]:
    """Take back a change; the undo is a change of its own and can be undone.

    Returns the new change and the memories as they are now. Raises NotFound, and
    Conflict where a later change of the same memory still stands, the change was
    undone before, or the text is stored again under another id.
    """
    with transaction.atomic():
        target = find_change(identifier)
        if target.undone:
            raise Conflict(f"change {target.ulid} was undone before")
        rows = list(target.revisions.select_related("memory"))
        _refuse_later(target, [row.memory_id for row in rows])
        with change("undo", caller=caller, now=now, undoes=target) as log:
            memories = [_bring_back(row, log=log, now=now) for row in rows]
        Change.objects.filter(pk=target.pk).update(undone=True)
        if target.undoes_id is not None:
            Change.objects.filter(pk=target.undoes_id).update(undone=False)
    return log.change, memories


def _refuse_later(target: Change, memory_ids: list[int]) -> None:
    # An undo of a change that is later too leaves both without effect.
    stands = Q(change__undoes=None) | Q(change__undoes__lt=target.pk)
    later = (
        MemoryRevision.objects.filter(
            stands,
            memory_id__in=memory_ids,
            change_id__gt=target.pk,
            change__undone=False,
        )
        .select_related("change", "memory")
        .first()
    )
    if later is not None:
        raise Conflict(
            f"memory {later.memory.ulid} was changed later by "
            f"{later.change.operation} {later.change.ulid}: undo that first"
        )


def _bring_back(row: MemoryRevision, *, log: Log, now: datetime) -> Memory:
    memory = row.memory
    log.keep(memory)
    before = row.before if row.before is not None else {"state": State.FORGOTTEN}
    for name in FIELDS:
        setattr(memory, name, before.get(name, getattr(memory, name)))
    if "hashes" in before:
        set_hashes(memory, before["hashes"])
    memory.derive()
    _refuse_taken_hash(memory)
    save(memory, now=now)
    return memory


def set_hashes(memory: Memory, hashes: Iterable[str]) -> None:
    """Make these the hashes of texts that are merged into a memory."""
    memory.hashes.all().delete()
    for value in hashes:
        MemoryHash.objects.update_or_create(
            summary_hash=value, defaults={"memory": memory}
        )


def hide(memories: Iterable[Memory], state: State, *, log: Log, now: datetime) -> None:
    """Take memories out of sight within a change."""
    rows = list(memories)
    prefetch_related_objects(rows, "hashes")
    for memory in rows:
        log.keep(memory)
        memory.state, memory.updated_at = state, now
    for at in range(0, len(rows), BATCH):
        keys = [memory.pk for memory in rows[at : at + BATCH]]
        Memory.objects.filter(pk__in=keys).update(state=state, updated_at=now)


def save(memory: Memory, *, now: datetime) -> None:
    """Write a changed memory; the vectors of another text go.

    Called inside the transaction of a change, after `Log.keep`.
    """
    stored = Memory.objects.values_list("topic", "summary").get(pk=memory.pk)
    memory.updated_at = now
    memory.derive()
    memory.save(update_fields=[*FIELDS, *DERIVED, "updated_at"])
    MemoryUsage.objects.filter(pk=memory.pk).update(importance=memory.importance)
    if stored != (memory.topic, memory.summary):
        memory.vectors.all().delete()


def _refuse_taken_hash(memory: Memory) -> None:
    if not memory.is_live:
        return
    taken = (
        Memory.objects.live()
        .filter(summary_hash=memory.summary_hash)
        .exclude(pk=memory.pk)
        .first()
    )
    if taken is not None:
        raise Conflict(
            f"the same text is stored again as {taken.ulid}: forget that first"
        )

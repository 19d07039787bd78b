"""Changes and revisions: every act on text can be seen and taken back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, prefetch_related_objects

from icm_site.caller import Caller
from icm_site.errors import Conflict, NotFound
from icm_site.text import summary_hash
from icm_site.ulid import is_ulid
from memories import loading, statements
from memories.models import (
    Change,
    Memory,
    MemoryHash,
    MemoryRevision,
    MemoryUsage,
    State,
    Suggestion,
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
TEXTS = ("topic", "summary", "keywords")
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
    """The change that is being made; `keep` is called before a memory is touched.

    `stored` has the fields of each memory as they are in the table by now.
    """

    change: Change
    before: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    given: dict[int, dict[str, Any]] = field(default_factory=dict)
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)

    def keep(self, memory: Memory) -> None:
        """Keep the fields of a memory as they are now."""
        if memory.pk not in self.before:
            self.kept(memory, snapshot(memory))

    def kept(self, memory: Memory, fields: dict[str, Any]) -> None:
        """Note fields that were taken down before, unless some are noted already."""
        self.before.setdefault(memory.pk, fields)
        self.stored.setdefault(memory.pk, fields)

    def created(self, memory: Memory) -> None:
        """Note that the memory did not exist before."""
        self.before[memory.pk] = None
        self.stored[memory.pk] = fields_of(memory)

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
        made = statements.new(
            Change,
            operation=operation,
            surface=caller.surface,
            origin=caller.origin,
            host=caller.host,
            agent_session=caller.agent_session,
            at=now,
        )
        made.undoes = undoes
        log = Log(made)
        yield log
        if log.before:
            log.write()


def fields_of(memory: Memory) -> dict[str, Any]:
    """The columns that an undo brings back, as JSON values."""
    return {name: getattr(memory, name) for name in FIELDS}


def snapshot(memory: Memory) -> dict[str, Any]:
    """All that an undo brings back: columns, and hashes of texts that were merged."""
    hashes = sorted(row.summary_hash for row in memory.hashes.all())
    return fields_of(memory) | {"hashes": hashes}


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
        # Of one whose change has expired nothing says any more what it took back.
        .exclude(operation="undo")
        .first()
    )
    if last is None:
        raise NotFound(f"nothing left to undo for memory {memory.ulid}")
    return last


def find_memory(identifier: str, *, what: str = "memory") -> Memory:
    """The memory by its id, in whatever state. Raises NotFound."""
    wanted = identifier.strip().upper()
    memory = loading.by_id(wanted) if is_ulid(wanted) else None
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
        _refuse_later(target)
        rows = list(target.revisions.select_related("memory"))
        load_hashes([row.memory for row in rows])
        erased = _erased_successors(rows)
        with change("undo", caller=caller, now=now, undoes=target) as log:
            memories = [_bring_back(row, erased, log=log, now=now) for row in rows]
            _follow_suggestions(memories, log)
        Change.objects.filter(pk=target.pk).update(undone=True)
        if target.undoes_id is not None:
            Change.objects.filter(pk=target.undoes_id).update(undone=False)
    return log.change, memories


def _refuse_later(target: Change) -> None:
    # An undo of a change that is later too leaves both without effect.
    stands = Q(change__undoes=None) | Q(change__undoes__lt=target.pk)
    later = (
        MemoryRevision.objects.filter(
            stands,
            memory__in=target.revisions.order_by().values("memory_id"),
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


def _erased_successors(rows: Iterable[MemoryRevision]) -> set[int]:
    """Keys of memories that earlier fields name as successor and a purge took away."""
    befores = (row.before or {} for row in rows)
    named = {key for fields in befores if (key := fields.get("superseded_by_id"))}
    return named - Memory.objects.in_bulk(named).keys()


def _bring_back(
    row: MemoryRevision, erased: Collection[int], *, log: Log, now: datetime
) -> Memory:
    memory = row.memory
    log.keep(memory)
    before = row.before if row.before is not None else {"state": State.FORGOTTEN}
    for name in FIELDS:
        setattr(memory, name, before.get(name, getattr(memory, name)))
    if memory.superseded_by_id in erased:
        memory.superseded_by = None
    stored = log.stored[memory.pk]
    if before.get("hashes", stored["hashes"]) != stored["hashes"]:
        set_hashes(memory, before["hashes"])
    if _rewritten(memory, stored):
        memory.derive()
    _refuse_taken_hash(memory)
    save(memory, log=log, now=now)
    return memory


def _follow_suggestions(memories: Iterable[Memory], log: Log) -> None:
    """A suggestion counts as accepted while its newer memory hides the older one."""
    status = Suggestion.Status
    for memory in memories:
        was = _successor(log.before[memory.pk] or {})
        now = _successor(log.stored[memory.pk])
        if was == now:
            continue
        for key, old, new in (
            (was, status.ACCEPTED, status.OPEN),
            (now, status.OPEN, status.ACCEPTED),
        ):
            Suggestion.objects.filter(source_id=key, target=memory, status=old).update(
                status=new
            )


def _successor(fields: Mapping[str, Any]) -> int | None:
    superseded = fields.get("state") == State.SUPERSEDED
    return fields.get("superseded_by_id") if superseded else None


def load_hashes(memories: Sequence[Memory]) -> None:
    """Read the hashes of many memories at once."""
    for at in range(0, len(memories), BATCH):
        prefetch_related_objects(memories[at : at + BATCH], "hashes")


def set_hashes(memory: Memory, hashes: Iterable[str]) -> None:
    """Make these the hashes of texts that are merged into a memory."""
    memory.hashes.all().delete()
    for value in hashes:
        MemoryHash.objects.update_or_create(
            summary_hash=value, defaults={"memory": memory}
        )


def carry_hashes(memory: Memory, *, topic: str) -> None:
    """Let the texts that are merged into a memory be known in its new topic.

    `topic` is the one it comes from. A hash counts within its topic: left as it is, a
    store in the old topic would end in a memory of the new one.
    """
    known = {row.summary_hash for row in memory.hashes.all()}
    if not known:
        return
    states = [
        state or {}
        for pair in memory.revisions.values_list("before", "given")
        for state in pair
    ]
    texts = {state["summary"] for state in states if "summary" in state}
    carried = {
        summary_hash(memory.topic, text)
        for text in texts
        if summary_hash(topic, text) in known
    }
    set_hashes(memory, sorted(carried - {memory.summary_hash}))


def hide(memories: Iterable[Memory], state: State, *, log: Log, now: datetime) -> None:
    """Take memories out of sight within a change."""
    rows = list(memories)
    load_hashes(rows)
    for memory in rows:
        log.keep(memory)
        memory.state, memory.updated_at = state, now
        log.stored[memory.pk] = log.stored[memory.pk] | {"state": state}
    for at in range(0, len(rows), BATCH):
        keys = [memory.pk for memory in rows[at : at + BATCH]]
        Memory.objects.filter(pk__in=keys).update(state=state, updated_at=now)


def save(memory: Memory, *, log: Log, now: datetime) -> None:
    """Write what has changed of a memory; the vectors of another text go.

    Called inside the transaction of a change, after `Log.keep`.
    """
    stored = log.stored[memory.pk]
    changed = [name for name in FIELDS if getattr(memory, name) != stored[name]]
    memory.updated_at = now
    if _rewritten(memory, stored):
        memory.derive()
        changed += DERIVED
    memory.save(update_fields=[*changed, "updated_at"])
    if "importance" in changed:
        usage = MemoryUsage.objects.filter(pk=memory.pk)
        usage.update(importance=memory.importance)
    if not {"topic", "summary"}.isdisjoint(changed):
        memory.vectors.all().delete()
    log.stored[memory.pk] = stored | fields_of(memory)


def _rewritten(memory: Memory, stored: Mapping[str, Any]) -> bool:
    """Whether one of the texts that columns are derived from is another one."""
    return any(getattr(memory, name) != stored[name] for name in TEXTS)


def _refuse_taken_hash(memory: Memory) -> None:
    if not memory.is_live:
        return
    taken = statements.live_holder(memory.summary_hash, other_than=memory.pk)
    if taken is not None:
        raise Conflict(f"the same text is stored again as {taken}: forget that first")

"""Memories as the records that surfaces show; a constant number of queries a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memories import history, marks
from memories.driver import raw_connection
from memories.models import Importance, Memory, MemoryLink, MemoryRevision, MemoryVector
from memories.schemas import Explanation, HistoryEntry, MemoryRecord, Source

if TYPE_CHECKING:
    from memories.recall import Recalled

# Keys in one query; SQLite allows 32 766 parameters.
BATCH = 10_000
SUCCESSOR = "superseded_by_id"
HIDDEN = (SUCCESSOR, "hashes")


def record(memory: Memory) -> MemoryRecord:
    return records([memory])[0]


def records(memories: Sequence[Memory]) -> list[MemoryRecord]:
    """Records in the given order. The memories come with their usage loaded."""
    parts = (memories[at : at + BATCH] for at in range(0, len(memories), BATCH))
    return [record for part in parts for record in _batch(part)]


def recalled(found: Sequence[Recalled], *, explain: bool = False) -> list[MemoryRecord]:
    """Records of what a search found, each with what the search says of it."""
    names = _ulids(key for hit in found for key in hit.collapsed)
    return [
        record.model_copy(
            update={
                "score": hit.score,
                "relevance": hit.relevance,
                "explain": _explanation(hit) if explain else None,
                "same_as": [names[k] for k in hit.collapsed if k in names] or None,
            }
        )
        for hit, record in zip(
            found, records([hit.memory for hit in found]), strict=True
        )
    ]


def _explanation(hit: Recalled) -> Explanation:
    return Explanation(arms=dict(hit.arms), decided=hit.decided)


def _batch(memories: Sequence[Memory]) -> list[MemoryRecord]:
    keys = [memory.pk for memory in memories]
    embedded = set(
        MemoryVector.objects.filter(memory_id__in=keys).values_list(
            "memory_id", flat=True
        )
    )
    related, replaces = _related(keys), _replaced(keys)
    successors = _ulids(memory.superseded_by_id for memory in memories)
    corrected = marks.corrections(raw_connection(), keys)
    corrections = _ulids(corrected.values())
    return [
        MemoryRecord(
            id=memory.ulid,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            last_accessed=memory.usage.last_accessed,
            access_count=memory.usage.access_count,
            weight=memory.usage.weight,
            topic=memory.topic,
            summary=memory.summary,
            raw_excerpt=memory.raw_excerpt,
            keywords=memory.keywords,
            importance=Importance(memory.importance),
            source=Source(type=memory.source_type, data=memory.source_data),
            origin=memory.origin,
            host=memory.host,
            state=memory.state,
            related_ids=related[memory.pk],
            superseded_by=successors.get(memory.superseded_by_id or 0),
            replaces=replaces[memory.pk],
            corrected_by=corrections.get(corrected.get(memory.pk, 0)),
            has_embedding=memory.pk in embedded,
        )
        for memory in memories
    ]


def _related(keys: Sequence[int]) -> dict[int, list[str]]:
    rows = (
        MemoryLink.objects.filter(source_id__in=keys, target__state="live")
        .order_by("-score", "target_id")
        .values_list("source_id", "target__ulid")
    )
    found: dict[int, list[str]] = defaultdict(list)
    for source, ulid in rows:
        found[source].append(ulid)
    return found


def _replaced(keys: Sequence[int]) -> dict[int, list[str]]:
    rows = (
        Memory.objects.filter(superseded_by_id__in=keys, state="superseded")
        .order_by("id")
        .values_list("superseded_by_id", "ulid")
    )
    found: dict[int, list[str]] = defaultdict(list)
    for successor, ulid in rows:
        found[successor or 0].append(ulid)
    return found


def _ulids(keys: Iterable[int | None]) -> dict[int, str]:
    wanted = {key for key in keys if key is not None}
    return dict(Memory.objects.filter(pk__in=wanted).values_list("pk", "ulid"))


def history_entries(memory: Memory) -> list[HistoryEntry]:
    """What happened to a memory, newest first, each with the fields it changed."""
    revisions = history.revisions(memory)
    states = [history.snapshot(memory), *(row.before or {} for row in revisions)]
    ulids = _ulids(state.get(SUCCESSOR) for state in states)
    shown = [_shown(state, ulids) for state in states]
    return [
        _entry(revision, before if revision.before is not None else None, after)
        for revision, before, after in zip(revisions, shown[1:], shown, strict=False)
    ]


def _shown(state: Mapping[str, Any], ulids: Mapping[int, str]) -> dict[str, Any]:
    """Fields as people see them: ids of ours become the public ones."""
    fields = {name: value for name, value in state.items() if name not in HIDDEN}
    if SUCCESSOR in state:
        fields["superseded_by"] = ulids.get(state[SUCCESSOR])
    return fields


def _entry(
    revision: MemoryRevision,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
) -> HistoryEntry:
    change = revision.change
    changed = {
        name: value
        for name, value in after.items()
        if before is None or before.get(name) != value
    }
    return HistoryEntry(
        change=change.ulid,
        operation=change.operation,
        at=change.at,
        surface=change.surface,
        origin=change.origin,
        host=change.host,
        undone=change.undone,
        undoes=change.undoes.ulid if change.undoes else None,
        before=None if before is None else {name: before.get(name) for name in changed},
        after=changed,
    )

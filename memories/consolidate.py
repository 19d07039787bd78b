"""Consolidate: one summary takes the place of a topic's memories, restorably."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import history, store, validation
from memories.models import Change, Importance, Memory, MemoryLink, State

JOINT = " | "
KIND = "source"


@dataclass(frozen=True, kw_only=True)
class Consolidated:
    """What was, or in a dry run would be, merged; `left` stays live.

    `critical` counts the critical ones among those left.
    """

    topic: str
    originals: list[Memory]
    left: int
    critical: int
    successor: Memory | None = None
    change: Change | None = None


def consolidate(
    *,
    topic: str,
    caller: Caller,
    now: datetime,
    summary: str | None = None,
    ids: Sequence[str] = (),
    keep_originals: bool = False,
    dry_run: bool = False,
) -> Consolidated:
    """Store one memory for many and archive those, all in one change.

    Without a summary the texts are joined by a bar. `ids` limits it to those memories
    of the topic. Critical memories are never taken. Raises InvalidInput, NotFound for
    a topic without memories to merge, Conflict for ids outside the topic or not live.
    """
    name = validation.topic(topic)
    if dry_run:
        return _planned(name, ids)
    with history.change("consolidate", caller=caller, now=now) as log:
        plan = _planned(name, ids)
        if not plan.originals:
            raise NotFound(f"no memories to consolidate in topic: {name}")
        text = _joined(plan.originals) if summary is None else summary
        successor = _replace(
            plan.originals, text, keep=keep_originals, caller=caller, log=log, now=now
        )
    return replace(plan, successor=successor, change=log.change)


def _planned(topic: str, ids: Sequence[str]) -> Consolidated:
    live = list(Memory.objects.live().in_topic(topic).order_by("id"))
    originals = _chosen(live, ids, topic)
    return Consolidated(
        topic=topic,
        originals=originals,
        left=len(live) - len(originals),
        critical=sum(m.importance == Importance.CRITICAL for m in live),
    )


def _chosen(live: Sequence[Memory], ids: Sequence[str], topic: str) -> list[Memory]:
    mergeable = [m for m in live if m.importance != Importance.CRITICAL]
    if not ids:
        return mergeable
    wanted = {identifier.strip().upper() for identifier in ids}
    known = {memory.ulid for memory in mergeable}
    if unknown := sorted(wanted - known):
        raise Conflict(
            f"nothing was replaced: {unknown[0][:64]} is not a live, not critical "
            f"memory of topic {topic}"
        )
    return [memory for memory in mergeable if memory.ulid in wanted]


def _joined(originals: Iterable[Memory]) -> str:
    text = JOINT.join(" ".join(memory.summary.split()) for memory in originals)
    size = len(text.encode("utf-8"))
    if size > validation.TEXT_BYTES:
        raise InvalidInput(
            f"the joined text would be {size} bytes, {validation.TEXT_BYTES} are "
            "allowed: give a summary, or fewer ids"
        )
    return text


def _replace(
    originals: Sequence[Memory],
    text: str,
    *,
    keep: bool,
    caller: Caller,
    log: history.Log,
    now: datetime,
) -> Memory:
    words = dict.fromkeys(word for memory in originals for word in memory.keywords)
    fields = {
        "topic": originals[0].topic,
        "content": text,
        "keywords": list(words)[: validation.KEYWORDS],
        "importance": max(
            (Importance(m.importance) for m in originals), key=lambda level: level.rank
        ).value,
        "metadata": {"consolidated_from": [memory.ulid for memory in originals]},
    }
    if not keep:
        history.hide(originals, State.ARCHIVED, log=log, now=now)
    successor = store.insert_within(log, caller=caller, now=now, **fields)
    MemoryLink.objects.bulk_create(
        [
            MemoryLink(source=successor, target=memory, kind=KIND)
            for memory in originals
            if memory.pk != successor.pk
        ],
        ignore_conflicts=True,
    )
    return successor

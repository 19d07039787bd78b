"""Lists and figures over all memories, each with a constant number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Avg, Count, Max, Min

from memories import validation
from memories.models import Memory, MemoryUsage, State

SORTS = {
    "weight": ("-usage__weight", "-id"),
    "created": ("-created_at", "-id"),
    "accessed": ("-usage__last_accessed", "-id"),
}
# Rows of a list without a limit, and with the highest.
LIMIT, HIGHEST = 10_000, 1_000_000


@dataclass(frozen=True, kw_only=True)
class Stats:
    """Figures of the whole database; `hidden` counts rows by state."""

    memories: int
    topics: int
    average_weight: float
    oldest: datetime | None
    newest: datetime | None
    hidden: dict[str, int]


def listed(
    *, topic: str | None, sort: str, limit: int | None
) -> tuple[list[Memory], int]:
    """Live memories in order, and how many there are before the limit.

    Without a limit at most `LIMIT` are given. Raises InvalidInput for a bad topic.
    """
    rows = Memory.objects.live().with_usage()
    if topic is not None:
        rows = rows.in_topic(validation.topic(topic))
    bound = LIMIT if limit is None else min(max(limit, 0), HIGHEST)
    return list(rows.order_by(*SORTS[sort])[:bound]), rows.count()


def topics() -> list[tuple[str, int]]:
    """Topics with the number of their live memories, by name.

    Spellings that differ in case alone are one topic, shown as its first.
    """
    rows = (
        Memory.objects.live()
        .values("topic_key")
        .annotate(name=Min("topic"), count=Count("id"))
        .order_by("topic_key")
    )
    return [(row["name"], row["count"]) for row in rows]


def stats() -> Stats:
    """Each figure by the index that holds it; none reads the wide rows."""
    live = Memory.objects.live().order_by()
    hidden = Memory.objects.exclude(state=State.LIVE).order_by()
    # Rows of usage by themselves: to go through the memories costs ten times as much.
    usage = MemoryUsage.objects.exclude(memory__in=hidden.values("id"))
    return Stats(
        memories=live.count(),
        topics=live.aggregate(found=Count("topic_key", distinct=True))["found"],
        average_weight=usage.aggregate(found=Avg("weight"))["found"] or 0.0,
        # Two statements: one for both would read all rows.
        oldest=live.aggregate(found=Min("created_at"))["found"],
        newest=live.aggregate(found=Max("created_at"))["found"],
        hidden=dict(
            hidden.values_list("state").annotate(count=Count("id")).order_by("state")
        ),
    )

"""Health of topics: what is large, what is stale."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, Min, Q

from icm_site.errors import NotFound
from memories import validation
from memories.models import Importance, Memory
from memories.store import CONSOLIDATE_ABOVE

STALE_WEIGHT = 0.5
STALE_AFTER = timedelta(days=14)


@dataclass(frozen=True, kw_only=True)
class TopicHealth:
    """Figures of one topic; `countable` leaves out critical memories."""

    topic: str
    entries: int
    countable: int
    average_weight: float
    average_access: float
    stale: int

    @property
    def needs_consolidation(self) -> bool:
        return self.countable > CONSOLIDATE_ABOVE

    @property
    def status(self) -> str:
        if self.needs_consolidation and self.stale:
            return "needs attention"
        if self.needs_consolidation:
            return "consolidate"
        return "has stale entries" if self.stale else "healthy"


def topics(*, now: datetime, topic: str | None = None) -> list[TopicHealth]:
    """Health by topic name, with one query. Raises NotFound for an unknown topic."""
    live = Memory.objects.live()
    if topic is not None:
        live = live.in_topic(validation.topic(topic))
    stale = Q(
        usage__weight__lt=STALE_WEIGHT, usage__last_accessed__lt=now - STALE_AFTER
    )
    rows = (
        live.values("topic_key")
        .annotate(
            name=Min("topic"),
            entries=Count("id"),
            countable=Count("id", filter=~Q(importance=Importance.CRITICAL)),
            weight=Avg("usage__weight"),
            access=Avg("usage__access_count"),
            stale=Count("id", filter=stale),
        )
        .order_by("topic_key")
    )
    found = [
        TopicHealth(
            topic=row["name"],
            entries=row["entries"],
            countable=row["countable"],
            average_weight=row["weight"] or 0.0,
            average_access=row["access"] or 0.0,
            stale=row["stale"],
        )
        for row in rows
    ]
    if topic is not None and not found:
        raise NotFound(f"topic not found: {topic.strip()}")
    return found

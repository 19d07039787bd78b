"""Figures of all feedback: how much, of which topics, what was used the most."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from feedback.models import Feedback

MOST_APPLIED = 10


@dataclass(frozen=True, kw_only=True)
class Figures:
    """`topics`: (name, records), most first; `most_applied`: at most ten records."""

    total: int
    topics: list[tuple[str, int]]
    most_applied: list[Feedback]


def figures() -> Figures:
    """Count the records, by topic whatever its spelling, and find the most used."""
    counts = Feedback.objects.values("topic_key").annotate(count=Count("id"))
    names = dict(Feedback.objects.order_by("id").values_list("topic_key", "topic"))
    topics = [(names[row["topic_key"]], row["count"]) for row in counts.order_by()]
    applied = Feedback.objects.with_memories().filter(applied_count__gt=0)
    return Figures(
        total=sum(count for _, count in topics),
        topics=sorted(topics, key=lambda row: (-row[1], row[0])),
        most_applied=list(applied.order_by("-applied_count", "-id")[:MOST_APPLIED]),
    )

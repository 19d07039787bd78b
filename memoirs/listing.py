"""Lists and figures of memoirs, each with a constant number of queries."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg, Count, Q

from memoirs.models import Concept, ConceptLink, Memoir
from memoirs.relations import Relation
from memoirs.sql import rows

MEMOIR_LIMIT = 500
CONCEPT_LIMIT = 1_000
LINK_LIMIT = 5_000

LABELS = """
SELECT label.value, count(*) FROM concepts c, json_each(c.labels) AS label
WHERE c.memoir_id = %s GROUP BY label.value ORDER BY 2 DESC, 1
"""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one memoir; `labels` with how many concepts bear each, the most first."""

    concepts: int
    links: int
    average_confidence: float
    labels: list[tuple[str, int]]


def memoirs() -> tuple[list[Memoir], int]:
    """Memoirs by name, each with `concept_count`; and how many there are in all."""
    found = Memoir.objects.with_counts().order_by("name")
    return list(found[:MEMOIR_LIMIT]), Memoir.objects.count()


def full_memoirs() -> list[Memoir]:
    """Memoirs with more concepts than their threshold, each with `concept_count`."""
    return list(Memoir.objects.full())


def concepts(memoir: Memoir) -> list[Concept]:
    """The concepts of a memoir in the order they were added, up to 1 000."""
    found = memoir.concepts.select_related("memoir").order_by("id")
    return list(found[:CONCEPT_LIMIT])


def figures(memoir: Memoir) -> Figures:
    whole = memoir.concepts.aggregate(count=Count("id"), average=Avg("confidence"))
    return Figures(
        concepts=whole["count"],
        links=ConceptLink.objects.filter(source__memoir=memoir).count(),
        average_confidence=whole["average"] or 0.0,
        labels=rows(LABELS, [memoir.pk]),
    )


def neighbors(
    concept: Concept, relation: Relation | None
) -> list[tuple[Concept, ConceptLink]]:
    """Concepts linked with one in either direction, each with its link."""
    touching = ConceptLink.objects.filter(Q(source=concept) | Q(target=concept))
    if relation is not None:
        touching = touching.filter(relation=relation)
    found = touching.select_related("source__memoir", "target__memoir").order_by("id")
    return [
        (link.target if link.source_id == concept.pk else link.source, link)
        for link in found[:LINK_LIMIT]
    ]

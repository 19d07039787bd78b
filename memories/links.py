"""Links between memories: found by meaning when one is stored, walked on request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories import embedding, rank
from memories.driver import raw_connection
from memories.matrices import matrix
from memories.models import Memory, MemoryLink, MemoryVector

LINKS = 5
KIND = "related"
# Strength (0-1) above unrelated memories from which two of them belong together: a
# bare cosine of 0.75, as documented, joins everything with models of the e5 family.
MIN_STRENGTH = 0.6

NEIGHBOURS = """
SELECT l.source_id, l.target_id FROM memory_links l
JOIN memories m ON m.id = l.target_id AND m.state = 'live'
WHERE l.source_id IN (SELECT value FROM json_each(?))
ORDER BY l.score DESC, l.target_id
"""


@dataclass(frozen=True, kw_only=True)
class Related:
    """A memory reached over links, `hops` away."""

    memory: Memory
    hops: int
    score: float


def nearest(memory: Memory, *, depth: int) -> list[tuple[int, float, float]]:
    """Memories near one that has a vector: (key, cosine, strength), nearest first.

    Strength is the cosine above that of unrelated memories, 0-1. Empty without a
    model or a vector.
    """
    model = embedding.database_embedder()
    if model is None:
        return []
    rows = MemoryVector.objects.filter(memory=memory, model=model.name, piece=0)
    blob = rows.values_list("vector", flat=True).first()
    if blob is None:
        return []
    import numpy as np

    vector = np.frombuffer(bytes(blob), dtype="<f4")
    vectors = matrix(model.name, model.dimensions)
    found = vectors.nearest(raw_connection(), vector, depth=depth + 1)
    return [
        (key, found.cosines[key], rank.vector_strength(found.nearness[key]))
        for key in found.order
        if key != memory.pk
    ]


def link_to_nearest(memory: Memory) -> list[Memory]:
    """Link a new memory with the live ones nearest to it, both ways.

    Returns those; repeating it adds nothing.
    """
    near = [(k, s) for k, _, s in nearest(memory, depth=4 * LINKS) if s >= MIN_STRENGTH]
    strengths = dict(near)
    live = Memory.objects.live().filter(pk__in=list(strengths))
    chosen = sorted(live, key=lambda m: (-strengths[m.pk], m.pk))[:LINKS]
    MemoryLink.objects.bulk_create(
        [
            MemoryLink(source=a, target=b, kind=KIND, score=strengths[other.pk])
            for other in chosen
            for a, b in ((memory, other), (other, memory))
        ],
        ignore_conflicts=True,
    )
    return chosen


def neighbours(keys: Sequence[int]) -> dict[int, list[int]]:
    """Live memories one link away, best first, by the key they are linked from."""
    rows = raw_connection().execute(NEIGHBOURS, (json.dumps(list(keys)),))
    found: dict[int, list[int]] = {}
    for source, target in rows:
        found.setdefault(source, []).append(target)
    return found


def related(memory: Memory, *, depth: int, limit: int) -> list[Related]:
    """Memories within `depth` links of one, nearest first, each once.

    One query a level.
    """
    reached = list(_breadth_first(memory.pk, depth))[:limit]
    rows = Memory.objects.live().with_usage().in_bulk([key for key, _ in reached])
    return [
        Related(memory=rows[key], hops=hops, score=0.5**hops)
        for key, hops in reached
        if key in rows
    ]


def _breadth_first(start: int, depth: int) -> Iterator[tuple[int, int]]:
    seen, level = {start}, [start]
    for hops in range(1, depth + 1):
        found = neighbours(level)
        level = [
            key
            for key in dict.fromkeys(
                k for source in level for k in found.get(source, ())
            )
            if key not in seen
        ]
        seen.update(level)
        yield from ((key, hops) for key in level)

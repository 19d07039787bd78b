"""Walks over links: neighbourhoods, rings, and what has replaced what."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from memoirs.relations import Relation
from memoirs.sql import rows

T = TypeVar("T", int, str)

LINK_LIMIT = 5_000
# Rings of superseded_by are refused; the bound is for rows that came in otherwise.
MAX_HOPS = 32

REACHES = """
WITH RECURSIVE reached(id) AS (
    VALUES (%s)
    UNION
    SELECT l.target_id FROM reached
    JOIN concept_links l ON l.source_id = reached.id AND l.relation = %s
)
SELECT 1 FROM reached WHERE id = %s LIMIT 1
"""

LINKS_OF = """
SELECT id, source_id, target_id, relation, weight FROM concept_links
WHERE source_id IN (SELECT value FROM json_each(%s))
UNION
SELECT id, source_id, target_id, relation, weight FROM concept_links
WHERE target_id IN (SELECT value FROM json_each(%s))
ORDER BY 1 LIMIT %s
"""

SUCCESSORS = f"""
WITH RECURSIVE chain(start, previous, id, hops) AS (
    SELECT value, NULL, value, 0 FROM json_each(%s)
    UNION
    SELECT chain.start, chain.id, l.target_id, hops + 1 FROM chain
    JOIN concept_links l
        ON l.source_id = chain.id AND l.relation = '{Relation.SUPERSEDED_BY}'
    WHERE hops < {MAX_HOPS}
)
SELECT start, previous, id FROM chain WHERE hops > 0 ORDER BY hops, id
"""

PREDECESSORS = f"""
WITH RECURSIVE chain(start, id, hops) AS (
    SELECT value, value, 0 FROM json_each(%s)
    UNION
    SELECT chain.start, l.source_id, hops + 1 FROM chain
    JOIN concept_links l
        ON l.target_id = chain.id AND l.relation = '{Relation.SUPERSEDED_BY}'
    WHERE hops < {MAX_HOPS}
)
SELECT start, id FROM chain WHERE hops > 0 ORDER BY hops, id
"""


class Edge(NamedTuple):
    """A link by the integer keys of its ends."""

    id: int
    source: int
    target: int
    relation: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """What a walk found: hops by concept key, edges in the order they were met."""

    distances: dict[int, int]
    edges: list[Edge]
    truncated: bool


def reaches(start: int, goal: int, relation: Relation) -> bool:
    """Whether links of one relation lead from one concept (key) to another."""
    return bool(rows(REACHES, [start, relation.value, goal]))


def neighbourhood(start: int, *, depth: int, limit: int = LINK_LIMIT) -> Neighbourhood:
    """Breadth first over links in both directions, `depth` steps from a concept (key).

    Each concept and each link comes once; at most one query a step. At most `limit`
    links are met, then `truncated` is true.
    """
    distances, edges = {start: 0}, dict[int, Edge]()
    frontier = [start]
    for distance in range(1, depth + 1):
        keys = json.dumps(frontier)
        frontier = []
        for edge in map(Edge._make, rows(LINKS_OF, [keys, keys, limit + 1])):
            if len(edges) == limit and edge.id not in edges:
                return Neighbourhood(
                    distances=distances, edges=list(edges.values()), truncated=True
                )
            edges[edge.id] = edge
            for end in (edge.source, edge.target):
                if end not in distances:
                    distances[end] = distance
                    frontier.append(end)
        if not frontier:
            break
    return Neighbourhood(
        distances=distances, edges=list(edges.values()), truncated=False
    )


def current(keys: Collection[int]) -> dict[int, list[int]]:
    """For each superseded concept (key) those at the end of its successors.

    A concept that nothing has replaced is absent.
    """
    ends: dict[int, dict[int, None]] = defaultdict(dict)
    passed: dict[int, set[int]] = defaultdict(set)
    for start, previous, key in rows(SUCCESSORS, [json.dumps(sorted(keys))]):
        ends[start][key] = None
        passed[start].add(previous)
    found = {
        start: [k for k in ends[start] if k not in passed[start]] for start in ends
    }
    return {start: keys for start, keys in found.items() if keys}


def replaced(keys: Collection[int]) -> dict[int, list[int]]:
    """For each concept (key) all that it has replaced, the nearest first."""
    found: dict[int, dict[int, None]] = defaultdict(dict)
    for start, key in rows(PREDECESSORS, [json.dumps(sorted(keys))]):
        if key != start:
            found[start][key] = None
    return {start: list(keys) for start, keys in found.items()}


def closes_ring(edges: Iterable[tuple[T, T]], source: T, target: T) -> bool:
    """Whether a link from `source` to `target` would close a ring among `edges`."""
    following: dict[T, list[T]] = defaultdict(list)
    for one, other in edges:
        following[one].append(other)
    seen, waiting = {target}, [target]
    while waiting:
        name = waiting.pop()
        if name == source:
            return True
        fresh = [n for n in following[name] if n not in seen]
        seen.update(fresh)
        waiting += fresh
    return False

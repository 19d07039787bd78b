"""Recall inside a project: its own memories first, then those of no project.

Takes any SQLite connection and imports no Django: a hook without it finds the same.
"""

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from memories import marks, projects, rank, search
from memories.rank import Hit
from memories.scope import IN_SCOPE, TOPICS, Connection, Scope
from memories.search import INDEX, Vectors
from memories.words import Source

if TYPE_CHECKING:
    from datetime import datetime

    from memories.vector_rows import Needle

# What a memory of no particular project must score to be used inside a project.
SHARED_MIN_SCORE = 0.25

INSIDE = f"""
SELECT m.id FROM memories m
WHERE m.id IN (SELECT value FROM json_each(?)) AND {IN_SCOPE}
"""


def scopes(
    raw: Connection, topic: str | None, keyword: str | None, project: str | None
) -> list[Scope]:
    """The memories that are asked first, and inside a project the second tier."""
    # Agents send "" for what they leave out, so a blank filter is none.
    word = keyword.strip() if keyword and keyword.strip() else None
    topic = topic if topic and topic.strip() else None
    project = project.strip() if project else None
    if not project and topic is None:
        return [Scope(keyword=word)]
    topics: Sequence[str] = [row[0] for row in raw.execute(TOPICS)]
    if topic is not None:
        topics = search.topics_matching(topic, topics)
    if not project:
        return [Scope(topics=tuple(topics), keyword=word)]
    own = tuple(
        name
        for name in topics
        if projects.segment_match(name, project) or projects.is_global_topic(name)
    )
    shared = tuple(n for n in topics if projects.is_kind_only(n) and n not in own)
    second = [Scope(topics=shared, keyword=word)] if shared else []
    return [Scope(topics=own, keyword=word), *second]


def find(
    raw: Connection,
    query: str,
    allowed: Sequence[Scope],
    *,
    limit: int,
    min_score: float = 0.0,
    min_relevance: float = 0.0,
    engine: str = "default",
    query_vector: "Needle | None" = None,
    vectors: Vectors | None = None,
    words: Source = INDEX,
    marked: bool = False,
    exclude: Collection[int] = (),
    now: "datetime | None" = None,
    without: Collection[str] = (),
) -> list[Hit]:
    """The memories of these tiers that answer a query, best first in each.

    `marked`: what feedback said of them counts. `exclude`: memories that are never
    returned. See search.find for the rest.
    """

    def ask(scope: Scope, floor: float, wanted: int, known: set[int]) -> list[Hit]:
        found = search.find(
            raw,
            query,
            scope=scope,
            limit=wanted + (marks.SPARE if marked else 0),
            min_score=floor,
            min_relevance=min_relevance,
            engine=engine,
            query_vector=query_vector,
            vectors=vectors,
            words=words,
            exclude=known,
            now=now,
            without=without,
        )
        if marked:
            found = marks.applied(
                raw, found, lambda keys: inside(raw, keys, allowed) - known
            )
        return found[: rank.clamp_limit(wanted)]

    first, *others = allowed
    hits = ask(first, min_score, limit, set(exclude))
    for scope in others:
        if len(hits) < limit:
            known = {*exclude, *(hit.memory_id for hit in hits)}
            floor = max(min_score, SHARED_MIN_SCORE)
            hits = [*hits, *ask(scope, floor, limit - len(hits), known)]
    return hits


def inside(
    raw: Connection, keys: Collection[int], allowed: Sequence[Scope]
) -> set[int]:
    """Those of the memories that lie in one of the scopes."""
    found: set[int] = set()
    for scope in allowed:
        rows = raw.execute(INSIDE, (json.dumps(list(keys)), *scope.parameters))
        found.update(row[0] for row in rows)
    return found

"""Recall over any SQLite connection: the flow `find`, from a query to hits."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memories import lending, periods, rank, relevance
from memories.arms import Search, Vectors, substring_arm
from memories.collapse import collapse
from memories.rank import Arms, Hit
from memories.scope import EVERYTHING, Connection, Scope, topics_matching
from memories.succession import PLAIN, Row, live_successor, read_rows
from memories.words import Asked, IndexWords, Source

if TYPE_CHECKING:
    from datetime import datetime

    from memories.vector_rows import Needle

__all__ = ["Connection", "Scope", "Vectors", "find", "topics_matching"]

# Without Django and numpy: the index itself is asked.
INDEX = IndexWords()
# Rows looked up for each hit wanted: some fall to filters and near-duplicates.
LEADERS_PER_HIT = 4

TEXTS = """
SELECT id, topic, summary FROM memories
WHERE id IN (SELECT value FROM json_each(?))
"""


def find(
    connection: Connection,
    query: str,
    *,
    scope: Scope = EVERYTHING,
    limit: int = 5,
    min_score: float = 0.0,
    min_relevance: float = 0.0,
    engine: str = "default",
    query_vector: "Needle | None" = None,
    vectors: Vectors | None = None,
    words: Source = INDEX,
    exclude: Collection[int] = (),
    depth: int | None = None,
    now: "datetime | None" = None,
    without: Collection[str] = (),
) -> list[Hit]:
    """The memories that answer a query, best first; [] for a blank query.

    Filters hold before the cut. `limit` is clamped to 1-500. `min_relevance`: such as
    rank.HOOK_FLOOR for somebody who did not ask. `engine`: one of rank.ENGINES.
    `query_vector` must come from the model that `vectors` serves. `words`: where words
    are looked up; the answer is the same. `exclude`: memory ids never returned. `now`:
    see periods.named. `without`: arms left out (arms.NAMES), to measure what they are
    worth. An arm that fails is logged and the others answer.
    """
    if not query.strip():
        return []
    limit = rank.clamp_limit(limit)
    depth = rank.arm_depth(limit, depth)
    # Only the default fusion knows sessions and periods.
    default = engine == "default"
    named = periods.named(query, now) if default and "period" not in without else ()
    source = None if "text" in without else words
    near = None if "vector" in without else vectors
    search = Search(connection, query, scope, depth, source, query_vector, near, named)
    arms, asked = search.arms()
    scores = rank.fuse(arms, engine)
    if arms.dated:
        scores = rank.with_period(scores, arms.dated)
    leaders = rank.ordered(scores, arms)
    lending = asked if default and "session" not in without else None
    floors, sure = (min_score, min_relevance), _judge(query, asked, arms, default)

    def best(count: int) -> Iterable[Hit]:
        return _current(search, scores, arms, leaders[:count], lending, sure)

    def cut(hits: Iterable[Hit]) -> list[Hit]:
        new = (h for h in _kept(hits, floors) if h.memory_id not in exclude)
        return collapse(new, Texts(connection, leaders[: limit + 2]), limit)

    if not leaders:
        return cut(_fallback(connection, query, scope))
    count = LEADERS_PER_HIT * max(limit, 10)
    hits = cut(best(count))
    if len(hits) == limit or count >= len(leaders):
        return hits
    last = rank.explained(leaders[count], scores[leaders[count]], 0.0, arms)
    more = any(_kept([last._replace(relevance=sure(last))], floors))
    return cut(best(len(leaders))) if more else hits


def _kept(hits: Iterable[Hit], floors: tuple[float, float]) -> Iterator[Hit]:
    """Those of the least score and relevance."""
    score, sure = floors
    return (hit for hit in hits if hit.score >= score and hit.relevance >= sure)


def _judge(
    query: str, asked: Asked | None, arms: Arms, default: bool
) -> Callable[[Hit], float]:
    """Tells the relevance of a hit; of other fusions the score means another thing."""
    about = relevance.question(query, asked.words) if asked else relevance.UNKNOWN
    own = {} if default else rank.fuse(arms)
    by_vector = arms.neighbours is not None

    def sure(hit: Hit) -> float:
        near = hit.values.get("nearness", 0.0) if by_vector else None
        return about.relevance(own.get(hit.memory_id, hit.score), near)

    return sure


def _fallback(connection: Connection, query: str, scope: Scope) -> list[Hit]:
    # The last arm: if it fails as well, nothing found would mean nothing there.
    found = substring_arm(connection, query, scope=scope)
    places = {memory_id: place for place, memory_id in enumerate(found, 1)}
    lives = _lives(found, read_rows(connection, found, scope))
    return [
        Hit(
            live,
            0.0,
            {"substring": places[via[0]]},
            decided="substring",
            replaces=tuple(i for i in via if i != live),
        )
        for live, via in lives.items()
    ]


def _current(
    search: Search,
    scores: Mapping[int, float],
    arms: Arms,
    leaders: Sequence[int],
    asked: Asked | None,
    sure: Callable[[Hit], float],
) -> Iterator[Hit]:
    """Hits of the leading rows, and of rows that their sessions lend score to."""
    rows = read_rows(search.connection, leaders, search.scope)
    parts: Mapping[int, float] = {}
    asking: Collection[int] = ()
    if asked and any(row.lends for row in rows.values() if row is not PLAIN):
        others = lending.beside(leaders).union(arms.strengths).difference(rows)
        rows |= read_rows(search.connection, others, search.scope)
        asking = {i for i, row in rows.items() if row.asks and row.lends}
        parts = _session_parts(scores, rows, asked, leaders, asking)
    raised, order = scores, leaders
    if parts:
        own = {i: scores[i] for i in {*leaders, *parts} if i in scores}
        raised = lending.with_parts(own, parts, asking)
        order = rank.ordered(raised, arms)
    for live, via in _lives(order, rows).items():
        best = via[0]
        hit = rank.explained(best, raised[best], parts.get(best, 0.0), arms)
        if len(via) > 1 or best != live:
            old = tuple(i for i in via if i != live)
            hit = hit._replace(memory_id=live, replaces=old)
        yield hit._replace(relevance=sure(hit))


def _session_parts(
    scores: Mapping[int, float],
    rows: Mapping[int, Row],
    asked: Asked,
    leaders: Sequence[int],
    asking: Collection[int],
) -> dict[int, float]:
    """What sessions add to the leaders and to the rows beside them."""
    sessions = {i: row.session for i, row in rows.items() if row.lends}
    held: dict[str, int] = {}
    for memory_id, bits in asked.held(sessions).items():
        session = sessions[memory_id]
        held[session] = held.get(session, 0) | bits
    coverage = {key: asked.words.coverage(bits) for key, bits in held.items()}
    near = {i: sessions[i] for i in lending.beside(leaders) if i in sessions}
    return lending.session_parts(scores, near, coverage, asking)


def _lives(found: Iterable[int], rows: Mapping[int, Row]) -> dict[int, list[int]]:
    """The live memories that rows stand for, and the rows that led to each."""
    lives: dict[int, list[int]] = {}
    for memory_id in found:
        plain = rows.get(memory_id) is PLAIN
        live = memory_id if plain else live_successor(memory_id, rows)
        if live is not None:
            lives.setdefault(live, []).append(memory_id)
    return lives


class Texts:
    """Topic and summary of a memory by its id; those expected are read together."""

    def __init__(self, connection: Connection, expected: Sequence[int]) -> None:
        self._connection = connection
        self._known = self._read(expected)

    def __call__(self, memory_id: int) -> tuple[str, str]:
        if memory_id not in self._known:
            self._known |= self._read([memory_id])
        return self._known.get(memory_id, ("", ""))

    def _read(self, memory_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        rows = self._connection.execute(TEXTS, (json.dumps(memory_ids),))
        return {memory_id: (topic, summary) for memory_id, topic, summary in rows}

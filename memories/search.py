"""Recall over any SQLite connection: one function per arm, and the flow `find`."""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, TypeVar

from icm_site import text
from memories import rank
from memories.rank import Hit, Neighbours, WordHits

logger = logging.getLogger(__name__)

T = TypeVar("T")
StateRow: TypeAlias = tuple[str, int | None, bool]

# BM25 weights of topic, summary, keywords.
COLUMN_WEIGHTS = (1.0, 1.0, 1.0)
FALLBACK_POOL = 100
MAX_SUPERSEDED_HOPS = 32


class Connection(Protocol):
    """A DB-API connection in the style of sqlite3 (`?` parameters)."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...


class Vectors(Protocol):
    """A source of neighbours by cosine for one model."""

    def nearest(
        self,
        connection: Connection,
        query: Sequence[float],
        *,
        depth: int,
        within: Collection[int] | None,
        also: Collection[int],
    ) -> Neighbours:
        """The `depth` nearest memories and the cosines of `also` (memory ids).

        `within`: only these memory ids; None means all.
        """
        ...


@dataclass(frozen=True)
class Scope:
    """Which memories may be found; applied before any cut.

    `topics`: exact topics; None means all. `keyword`: case-folded, contained in one
    of the memory's keywords; None means any.
    """

    topics: tuple[str, ...] | None = None
    keyword: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is filtered."""
        return self.topics is None and self.keyword is None

    @property
    def parameters(self) -> tuple[str | None, ...]:
        """The four parameters of IN_SCOPE."""
        topics = None if self.topics is None else json.dumps(self.topics)
        keyword = None if self.keyword is None else self.keyword.casefold()
        return topics, topics, keyword, keyword


EVERYTHING = Scope()

IN_SCOPE = """
(? IS NULL OR m.topic IN (SELECT value FROM json_each(?)))
AND (? IS NULL OR instr(m.keywords_key, ?) > 0)
"""

TEXT_ARM = """
SELECT rowid, -bm25(memories_fts, ?, ?, ?) AS score FROM memories_fts
WHERE memories_fts MATCH ?
ORDER BY score DESC, rowid LIMIT ?
"""

TEXT_ARM_IN_SCOPE = f"""
SELECT memories_fts.rowid, -bm25(memories_fts, ?, ?, ?) AS score FROM memories_fts
JOIN memories m ON m.id = memories_fts.rowid
WHERE memories_fts MATCH ? AND {IN_SCOPE}
ORDER BY score DESC, memories_fts.rowid LIMIT ?
"""

INDEXED_ROWS = "SELECT count(*) FROM memories_fts_docsize"

# One pass over the word's rows gives both figures; the unary plus keeps SQLite from
# seeking each candidate by itself.
WORD_HITS = """
SELECT count(*), json_group_array(rowid)
    FILTER (WHERE +rowid IN (SELECT value FROM json_each(?)))
FROM memories_fts WHERE memories_fts MATCH ?
"""

IDS_IN_SCOPE = f"""
SELECT m.id FROM memories m
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE}
"""

SUBSTRING_ARM = f"""
SELECT m.id,
    (SELECT count(*) FROM json_each(?) WHERE instr(
        m.topic_index || ' ' || m.summary_index || ' ' || m.keywords_index,
        value) > 0) AS words
FROM memories m LEFT JOIN memory_usage u ON u.memory_id = m.id
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE} AND words > 0
ORDER BY words DESC, u.weight DESC, m.id LIMIT ?
"""

STATES = f"""
SELECT m.id, m.state, m.superseded_by_id, {IN_SCOPE} FROM memories m
WHERE m.id IN (SELECT value FROM json_each(?))
"""

SUMMARY = "SELECT summary FROM memories WHERE id = ?"


def topics_matching(wanted: str, topics: Iterable[str]) -> tuple[str, ...]:
    """The topics that a topic filter means: equal or one contains the other.

    Case does not count. A blank filter matches nothing.
    """
    key = wanted.strip().casefold()
    if not key:
        return ()
    return tuple(t for t in topics if _overlaps(key, t.strip().casefold()))


def _overlaps(one: str, other: str) -> bool:
    return bool(other) and (one in other or other in one)


def text_arm(
    connection: Connection, query: str, *, scope: Scope = EVERYTHING, depth: int
) -> dict[int, float]:
    """BM25 (positive, best first) by memory id of rows that hold a query word."""
    expression = text.match_expression(query)
    if not expression:
        return {}
    statement = TEXT_ARM if scope.is_open else TEXT_ARM_IN_SCOPE
    filters = () if scope.is_open else scope.parameters
    parameters = (*COLUMN_WEIGHTS, expression, *filters, depth)
    return dict(connection.execute(statement, parameters).fetchall())


def word_hits(
    connection: Connection, query: str, candidates: Collection[int]
) -> list[WordHits]:
    """For each search word of the query: its rows and the candidates among them."""
    ids = json.dumps(sorted(candidates))
    found = []
    for word in text.search_words(query):
        parameters = (ids, text.match_term(word))
        count, held = connection.execute(WORD_HITS, parameters).fetchone()
        found.append(WordHits(count, frozenset(json.loads(held))))
    return found


def text_strengths(
    connection: Connection, query: str, bm25: Mapping[int, float]
) -> dict[int, float]:
    """The text arm's candidates with strengths 0-1 (see rank.text_strengths)."""
    if not bm25:
        return {}
    total = connection.execute(INDEXED_ROWS).fetchone()[0]
    return rank.text_strengths(bm25, word_hits(connection, query, bm25), total)


def vector_arm(
    connection: Connection,
    query_vector: Sequence[float],
    vectors: Vectors,
    *,
    scope: Scope = EVERYTHING,
    depth: int,
    also: Collection[int] = (),
) -> Neighbours:
    """The nearest memories in scope, with exact cosines of `also` too."""
    within = None
    if not scope.is_open:
        rows = connection.execute(IDS_IN_SCOPE, scope.parameters)
        within = frozenset(row[0] for row in rows)
    return vectors.nearest(
        connection, query_vector, depth=depth, within=within, also=also
    )


def substring_arm(
    connection: Connection, query: str, *, scope: Scope = EVERYTHING
) -> list[int]:
    """Memories that contain words of the query anywhere, most words first.

    Words of 3 characters or more; shorter ones only in scripts without spaces.
    """
    words = [w for w in text.search_words(query) if len(w) > 2 or not w.isascii()]
    if not words:
        return []
    parameters = (json.dumps(words), *scope.parameters, FALLBACK_POOL)
    return [row[0] for row in connection.execute(SUBSTRING_ARM, parameters)]


def find(
    connection: Connection,
    query: str,
    *,
    scope: Scope = EVERYTHING,
    limit: int = 5,
    min_score: float = 0.0,
    engine: str = "default",
    query_vector: Sequence[float] | None = None,
    vectors: Vectors | None = None,
    exclude: Collection[int] = (),
    depth: int | None = None,
) -> list[Hit]:
    """The memories that answer a query, best first; [] for a blank query.

    Filters hold before the cut. `limit` is clamped to 1-500. `query_vector` must come
    from the model that `vectors` serves. `exclude`: memory ids never returned. An arm
    that fails is logged and the others answer.
    """
    if not query.strip():
        return []
    limit = rank.clamp_limit(limit)
    depth = rank.arm_depth(limit, depth)
    hits = _fused(connection, query, scope, depth, engine, query_vector, vectors)
    if not hits:
        hits = _fallback(connection, query, scope)
    hits = _current(connection, hits, scope, frozenset(exclude))
    hits = sorted((h for h in hits if h.score >= min_score), key=lambda h: h.order_key)
    return rank.collapse(hits, lambda i: _summary(connection, i), limit)


def _fused(
    connection: Connection,
    query: str,
    scope: Scope,
    depth: int,
    engine: str,
    query_vector: Sequence[float] | None,
    vectors: Vectors | None,
) -> list[Hit]:
    def ask_text() -> tuple[dict[int, float], dict[int, float]]:
        bm25 = text_arm(connection, query, scope=scope, depth=depth)
        return bm25, text_strengths(connection, query, bm25)

    nothing: tuple[dict[int, float], dict[int, float]] = ({}, {})
    bm25, strengths = _attempt("text", ask_text, nothing)
    neighbours = None
    if query_vector is not None and vectors is not None:
        neighbours = _attempt(
            "vector",
            lambda: vector_arm(
                connection,
                query_vector,
                vectors,
                scope=scope,
                depth=depth,
                also=bm25,
            ),
            None,
        )
    return _hits(bm25, strengths, neighbours, engine)


def _attempt(arm: str, ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except Exception:
        logger.exception("the %s arm of recall failed", arm)
        return otherwise


def _hits(
    bm25: Mapping[int, float],
    strengths: Mapping[int, float],
    neighbours: Neighbours | None,
    engine: str,
) -> list[Hit]:
    scores = rank.fuse(strengths, neighbours, engine)
    near = neighbours or Neighbours()
    text_rank = {memory_id: place for place, memory_id in enumerate(bm25, 1)}
    near_rank = {memory_id: place for place, memory_id in enumerate(near.order, 1)}
    hits = []
    for memory_id, score in scores.items():
        if score <= 0:
            continue
        ranks: dict[str, int] = {}
        values: dict[str, float] = {}
        if memory_id in text_rank:
            ranks["text"] = text_rank[memory_id]
            values |= {"bm25": bm25[memory_id], "text": strengths[memory_id]}
        if memory_id in near_rank:
            ranks["vector"] = near_rank[memory_id]
        cosine = near.cosines.get(memory_id)
        if cosine is not None:
            values["cosine"] = cosine
        decided = rank.decided_by(strengths.get(memory_id, 0.0), cosine, near.floor)
        hits.append(Hit(memory_id, score, ranks, values, decided))
    return hits


def _fallback(connection: Connection, query: str, scope: Scope) -> list[Hit]:
    nothing: list[int] = []
    found = _attempt(
        "substring", lambda: substring_arm(connection, query, scope=scope), nothing
    )
    return [
        Hit(memory_id, 0.0, {"substring": place}, {}, "substring")
        for place, memory_id in enumerate(found, 1)
    ]


def _current(
    connection: Connection, hits: list[Hit], scope: Scope, exclude: frozenset[int]
) -> list[Hit]:
    """Superseded hits become the live memory that replaced them; others drop out."""
    rows = _states(connection, [h.memory_id for h in hits], scope)
    merged: dict[int, Hit] = {}
    for hit in hits:
        live = _live_successor(hit.memory_id, rows)
        if live is None or live in exclude:
            continue
        replaced = () if live == hit.memory_id else (hit.memory_id,)
        better = min(merged.get(live, hit), hit, key=lambda h: h.order_key)
        seen = merged[live].replaces if live in merged else ()
        merged[live] = replace(better, memory_id=live, replaces=(*seen, *replaced))
    return list(merged.values())


def _states(
    connection: Connection, ids: Collection[int], scope: Scope
) -> dict[int, StateRow]:
    known: dict[int, StateRow] = {}
    wanted = set(ids)
    for _ in range(MAX_SUPERSEDED_HOPS):
        if not wanted:
            break
        parameters = (*scope.parameters, json.dumps(sorted(wanted)))
        for memory_id, state, successor, inside in connection.execute(
            STATES, parameters
        ):
            known[memory_id] = (state, successor, bool(inside))
        successors = {known[i][1] for i in wanted if i in known}
        wanted = {i for i in successors if i is not None} - known.keys()
    return known


def _live_successor(memory_id: int, rows: Mapping[int, StateRow]) -> int | None:
    current: int | None = memory_id
    for _ in range(MAX_SUPERSEDED_HOPS):
        if current is None or current not in rows:
            return None
        state, successor, inside = rows[current]
        if state == "live":
            return current if inside else None
        current = successor if state == "superseded" else None
    return None


def _summary(connection: Connection, memory_id: int) -> str:
    row = connection.execute(SUMMARY, (memory_id,)).fetchone()
    return str(row[0]) if row else ""

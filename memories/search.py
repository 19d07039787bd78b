"""Recall over any SQLite connection: one function per arm, and the flow `find`."""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from icm_site import text
from memories import rank
from memories.rank import Arms, Hit, Neighbours, WordHits
from memories.scope import EVERYTHING, IN_SCOPE, Connection, Scope, topics_matching
from memories.succession import Row, live_successor, read_rows

__all__ = ["Connection", "Scope", "Vectors", "find", "topics_matching"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

# BM25 weights of topic, summary, keywords.
COLUMN_WEIGHTS = (1.0, 1.0, 1.0)
FALLBACK_POOL = 100
# Beside vectors, parts of words count for something in a query this short.
FRAGMENT_WORDS = 3
FRAGMENT_STRENGTH = 0.5
# Rows looked up for each hit wanted: some fall to filters and near-duplicates.
LEADERS_PER_HIT = 4


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

# The same figure for rows that another arm found.
TEXT_OF = """
SELECT rowid, -bm25(memories_fts, ?, ?, ?) FROM memories_fts
WHERE memories_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""

INDEXED_ROWS = "SELECT count(*) FROM memories_fts_docsize"

# One pass over each word's rows gives both figures; the unary plus keeps SQLite from
# seeking each candidate by itself.
WORD_HITS = """
SELECT word.key, count(*), json_group_array(f.rowid)
    FILTER (WHERE +f.rowid IN (SELECT value FROM json_each(?)))
FROM json_each(?) AS word JOIN memories_fts AS f
WHERE f.memories_fts MATCH word.value
GROUP BY word.key
"""

IDS_IN_SCOPE = f"""
SELECT m.id FROM memories m
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE}
"""

# Each word comes with its spellings in capitals: lower() of SQLite knows ASCII only.
SUBSTRING_ARM = f"""
SELECT m.id, (
    SELECT count(*) FROM json_each(?) AS word WHERE EXISTS (
        SELECT 1 FROM json_each(word.value) AS form
        WHERE instr(lower(m.summary), form.value) > 0
            OR instr(m.topic_key, form.value) > 0
            OR instr(m.keywords_key, form.value) > 0)) AS words
FROM memories m LEFT JOIN memory_usage u ON u.memory_id = m.id
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE} AND words > 0
ORDER BY words DESC, u.weight DESC, m.id LIMIT ?
"""

TEXT = "SELECT topic, summary FROM memories WHERE id = ?"


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


def text_of(
    connection: Connection, query: str, candidates: Collection[int]
) -> dict[int, float]:
    """BM25 by memory id of those candidates that hold a query word."""
    expression = text.match_expression(query)
    if not (expression and candidates):
        return {}
    parameters = (*COLUMN_WEIGHTS, expression, json.dumps(sorted(candidates)))
    return dict(connection.execute(TEXT_OF, parameters).fetchall())


def word_hits(
    connection: Connection, query: str, candidates: Collection[int]
) -> list[WordHits]:
    """For each search word of the query: its rows and the candidates among them."""
    terms = [text.match_term(word) for word in text.search_words(query)]
    parameters = (json.dumps(sorted(candidates)), json.dumps(terms))
    found = [WordHits(0, frozenset())] * len(terms)
    for key, count, held in connection.execute(WORD_HITS, parameters):
        found[key] = WordHits(count, frozenset(json.loads(held)))
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
) -> dict[int, float]:
    """Share of the query's words that a memory contains anywhere, most words first.

    Words of 3 characters or more; shorter ones only in scripts without spaces.
    """
    words = [w for w in text.plain_words(query) if len(w) > 2 or text.is_unspaced(w)]
    if not words:
        return {}
    forms = json.dumps([sorted({w, w.upper(), w.title()}) for w in words])
    parameters = (forms, *scope.parameters, FALLBACK_POOL)
    found = connection.execute(SUBSTRING_ARM, parameters).fetchall()
    return {memory_id: count / len(words) for memory_id, count in found}


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

    Filters hold before the cut. `limit` is clamped to 1-500. `engine`: one of
    rank.ENGINES. `query_vector` must come from the model that `vectors` serves.
    `exclude`: memory ids never returned. An arm that fails is logged and the others
    answer.
    """
    if not query.strip():
        return []
    limit = rank.clamp_limit(limit)
    depth = rank.arm_depth(limit, depth)
    arms = _ask_arms(connection, query, scope, depth, query_vector, vectors)
    scores = rank.fuse(arms, engine)
    leaders = rank.ordered(scores, arms)
    lend = engine == "default"

    def best(count: int) -> Iterable[Hit]:
        return _current(connection, scores, arms, leaders[:count], scope, lend=lend)

    def cut(hits: Iterable[Hit]) -> list[Hit]:
        wanted = (
            hit
            for hit in hits
            if hit.score >= min_score and hit.memory_id not in exclude
        )
        return rank.collapse(wanted, partial(_text, connection), limit)

    if not leaders:
        return cut(_fallback(connection, query, scope))
    count = LEADERS_PER_HIT * max(limit, 10)
    hits = cut(best(count))
    more = count < len(leaders) and scores[leaders[count]] >= min_score
    if len(hits) < limit and more:
        return cut(best(len(leaders)))
    return hits


def _ask_arms(
    connection: Connection,
    query: str,
    scope: Scope,
    depth: int,
    query_vector: Sequence[float] | None,
    vectors: Vectors | None,
) -> Arms:
    ask_text = partial(text_arm, connection, query, scope=scope, depth=depth)
    nothing: dict[int, float] = {}
    top = _attempt("text", ask_text, nothing)
    neighbours = None
    if query_vector is not None and vectors is not None:
        ask = partial(vector_arm, connection, query_vector, vectors)
        ask = partial(ask, scope=scope, depth=depth, also=top)
        neighbours = _attempt("vector", ask, None)
    if neighbours and not top and len(text.plain_words(query)) <= FRAGMENT_WORDS:
        ask_parts = partial(substring_arm, connection, query, scope=scope)
        parts = _attempt("substring", ask_parts, nothing)
        strengths = {i: FRAGMENT_STRENGTH * share for i, share in parts.items()}
        return Arms({}, strengths, neighbours, substring=tuple(parts))
    return _attempt(
        "text",
        partial(_with_strengths, connection, query, top, neighbours, depth),
        Arms({}, {}, neighbours),
    )


def _with_strengths(
    connection: Connection,
    query: str,
    top: dict[int, float],
    neighbours: Neighbours | None,
    depth: int,
) -> Arms:
    """Both arms, each candidate of one judged by the other too."""
    bm25 = top
    if neighbours and len(top) == depth:
        bm25 = top | text_of(connection, query, set(neighbours.order) - top.keys())
    strengths = text_strengths(connection, query, bm25)
    return Arms(bm25, strengths, neighbours, ranked=len(top))


def _attempt(arm: str, ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except Exception as error:
        trace = logger.isEnabledFor(logging.DEBUG)
        logger.warning("the %s arm of recall failed: %s", arm, error, exc_info=trace)
        return otherwise


def _fallback(connection: Connection, query: str, scope: Scope) -> list[Hit]:
    ask = partial(substring_arm, connection, query, scope=scope)
    nothing: dict[int, float] = {}
    found = _attempt("substring", ask, nothing)
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
    connection: Connection,
    scores: Mapping[int, float],
    arms: Arms,
    leaders: Sequence[int],
    scope: Scope,
    *,
    lend: bool,
) -> Iterator[Hit]:
    """Hits of the leading rows, and with `lend` of rows beside them in a session."""
    asked = rank.beside(leaders) if lend else leaders
    rows = read_rows(connection, asked, scope)
    sessions = {i: row.session for i, row in rows.items() if lend and row.lends}
    parts = rank.session_parts(scores, sessions)
    own = {i: scores[i] for i in {*leaders, *parts} if i in scores}
    raised = rank.with_parts(own, parts)
    for live, via in _lives(rank.ordered(raised, arms), rows).items():
        best = via[0]
        hit = rank.explained(best, raised[best], parts.get(best, 0.0), arms)
        old = tuple(i for i in via if i != live)
        yield replace(hit, memory_id=live, replaces=old) if old else hit


def _lives(found: Iterable[int], rows: Mapping[int, Row]) -> dict[int, list[int]]:
    """The live memories that rows stand for, and the rows that led to each."""
    lives: dict[int, list[int]] = {}
    for memory_id in found:
        live = live_successor(memory_id, rows)
        if live is not None:
            lives.setdefault(live, []).append(memory_id)
    return lives


def _text(connection: Connection, memory_id: int) -> tuple[str, str]:
    row = connection.execute(TEXT, (memory_id,)).fetchone()
    return (str(row[0]), str(row[1])) if row else ("", "")

"""Recall over any SQLite connection: one function per arm, and the flow `find`."""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeVar

from icm_site import text
from memories import dated, periods, rank, relevance
from memories.collapse import collapse
from memories.periods import Period
from memories.rank import Arms, Hit, Neighbours
from memories.scope import EVERYTHING, IN_SCOPE, Connection, Scope, topics_matching
from memories.succession import Row, live_successor, read_rows
from memories.words import Asked, IndexWords, Source

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Connection", "Scope", "Vectors", "find", "topics_matching"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Without Django and numpy: the index itself is asked.
INDEX = IndexWords()
NO_INDEX = ("no such table: memories_fts", "no such module: fts5")
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


# As text: a third of the time that rows would take to come out one by one.
IDS_IN_SCOPE = f"""
SELECT group_concat(m.id) FROM memories m
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE}
"""

# Without the other filter an index has all that is needed.
IDS_IN_TOPICS = """
SELECT group_concat(id) FROM memories
WHERE topic_key IN (SELECT value FROM json_each(?)) AND state IN ('live', 'superseded')
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

TEXTS = """
SELECT id, topic, summary FROM memories
WHERE id IN (SELECT value FROM json_each(?))
"""


def ids_in_scope(connection: Connection, scope: Scope) -> list[int] | None:
    """The memories that may be found; None means all."""
    if scope.is_open:
        return None
    statement, parameters = IDS_IN_SCOPE, scope.parameters
    if scope.keyword is None:
        statement, parameters = IDS_IN_TOPICS, (scope.topic_keys,)
    (found,) = connection.execute(statement, parameters).fetchone()
    ids: list[int] = json.loads(f"[{found or ''}]")
    return ids


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
    min_relevance: float = 0.0,
    engine: str = "default",
    query_vector: Sequence[float] | None = None,
    vectors: Vectors | None = None,
    words: Source = INDEX,
    exclude: Collection[int] = (),
    depth: int | None = None,
    now: "datetime | None" = None,
) -> list[Hit]:
    """The memories that answer a query, best first; [] for a blank query.

    Filters hold before the cut. `limit` is clamped to 1-500. `min_relevance`: such as
    rank.HOOK_FLOOR for somebody who did not ask. `engine`: one of rank.ENGINES.
    `query_vector` must come from the model that `vectors` serves. `words`: where words
    are looked up; the answer is the same. `exclude`: memory ids never returned. `now`:
    see periods.named. An arm that fails is logged and the others answer.
    """
    if not query.strip():
        return []
    limit = rank.clamp_limit(limit)
    depth = rank.arm_depth(limit, depth)
    # Only the default fusion knows sessions and periods.
    default = engine == "default"
    named = periods.named(query, now) if default else ()
    search = Search(
        connection, query, scope, depth, words, query_vector, vectors, named
    )
    arms, asked = search.arms()
    scores = rank.fuse(arms, engine)
    if arms.dated:
        scores = rank.with_period(scores, arms.dated)
    leaders = rank.ordered(scores, arms)
    lending = asked if default else None
    judged = partial(_judged, query, asked, arms, default=default)

    def best(count: int) -> Iterable[Hit]:
        return judged(_current(search, scores, arms, leaders[:count], lending))

    def cut(hits: Iterable[Hit]) -> list[Hit]:
        wanted = (
            hit
            for hit in hits
            if hit.score >= min_score
            and hit.relevance >= min_relevance
            and hit.memory_id not in exclude
        )
        return collapse(wanted, Texts(connection, leaders[: limit + 2]), limit)

    if not leaders:
        return cut(_fallback(connection, query, scope))
    count = LEADERS_PER_HIT * max(limit, 10)
    hits = cut(best(count))
    if len(hits) == limit or count >= len(leaders):
        return hits
    (last,) = judged(
        [rank.explained(leaders[count], scores[leaders[count]], 0.0, arms)]
    )
    if last.score < min_score or last.relevance < min_relevance:
        return hits
    return cut(best(len(leaders)))


def _judged(
    query: str, asked: Asked | None, arms: Arms, hits: Iterable[Hit], *, default: bool
) -> Iterator[Hit]:
    """The hits with their relevance; of other fusions the score means another thing."""
    about = relevance.question(query, asked.words) if asked else relevance.UNKNOWN
    own = {} if default else rank.fuse(arms)
    for hit in hits:
        near = hit.values.get("nearness", 0.0) if arms.neighbours else None
        sure = about.relevance(own.get(hit.memory_id, hit.score), near)
        yield replace(hit, relevance=sure)


@dataclass(frozen=True)
class Search:
    """What is asked of each arm."""

    connection: Connection
    query: str
    scope: Scope
    depth: int
    source: Source
    query_vector: Sequence[float] | None
    vectors: Vectors | None
    named: Sequence[Sequence[Period]] = ()

    @cached_property
    def within(self) -> list[int] | None:
        """The memories in scope; None means all."""
        return ids_in_scope(self.connection, self.scope)

    @property
    def _is_short(self) -> bool:
        return len(text.plain_words(self.query)) <= FRAGMENT_WORDS

    def arms(self) -> tuple[Arms, Asked | None]:
        """What the arms found, each candidate of one judged by the other too."""
        asked = _attempt("text", self._by_words, None)
        top = asked.bm25 if asked else {}
        newest: dict[Period, list[int]] = {}
        if self.named:
            newest = _attempt("period", self._by_period, newest)
        also = {*top, *chain.from_iterable(newest.values())} if newest else top
        neighbours = _attempt("vector", partial(self._by_vector, also), None)
        if neighbours and not also and self._is_short:
            return self._with_fragments(neighbours), None
        candidates = {*also, *neighbours.order} if neighbours else also
        judge = partial(asked.strengths, candidates) if asked else dict
        strengths: dict[int, float] = _attempt("text", judge, {})
        of_period = tuple(self._all_dated(newest, candidates)) if newest else ()
        return Arms(top, strengths, neighbours, dated=of_period), asked

    def _by_words(self) -> Asked:
        return self.source.ask(
            self.connection,
            self.query,
            scope=self.scope,
            within=lambda: self.within,
            depth=self.depth,
        )

    def _by_period(self) -> dict[Period, list[int]]:
        """The newest memories of each period that is named."""
        found = (
            dated.newest(
                self.connection,
                alternatives,
                scope=self.scope,
                within=self.within,
                depth=self.depth,
            )
            for alternatives in self.named
        )
        return {period: newest for period, newest in found if period}

    def _all_dated(
        self, found: Mapping[Period, list[int]], candidates: Collection[int]
    ) -> Iterable[int]:
        """Those found, and the candidates that a full arm had no place for."""
        every = dict.fromkeys(chain.from_iterable(found.values()))
        for period, newest in found.items():
            if len(newest) == self.depth:
                every |= dict.fromkeys(
                    sorted(dated.among(self.connection, candidates, period))
                )
        return every

    def _by_vector(self, also: Collection[int]) -> Neighbours | None:
        if self.query_vector is None or self.vectors is None:
            return None
        return self.vectors.nearest(
            self.connection,
            self.query_vector,
            depth=self.depth,
            within=self.within,
            also=also,
        )

    def _with_fragments(self, neighbours: Neighbours) -> Arms:
        ask = partial(substring_arm, self.connection, self.query, scope=self.scope)
        nothing: dict[int, float] = {}
        parts = _attempt("substring", ask, nothing)
        strengths = {i: FRAGMENT_STRENGTH * share for i, share in parts.items()}
        return Arms({}, strengths, neighbours, substring=tuple(parts))


def _attempt(arm: str, ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except Exception as error:
        trace = logger.isEnabledFor(logging.DEBUG)
        # That there is no text index is said by `stats`, not by each recall.
        quiet = str(error).startswith(NO_INDEX)
        level = logging.DEBUG if quiet else logging.WARNING
        logger.log(level, "the %s arm of recall failed: %s", arm, error, exc_info=trace)
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
    search: Search,
    scores: Mapping[int, float],
    arms: Arms,
    leaders: Sequence[int],
    asked: Asked | None,
) -> Iterator[Hit]:
    """Hits of the leading rows, and of rows that their sessions lend score to."""
    rows = read_rows(search.connection, leaders, search.scope)
    parts: Mapping[int, float] = {}
    if asked and any(row.lends for row in rows.values()):
        others = rank.beside(leaders).union(arms.strengths).difference(rows)
        rows |= read_rows(search.connection, others, search.scope)
        parts = _session_parts(scores, rows, asked, leaders)
    raised, order = scores, leaders
    if parts:
        own = {i: scores[i] for i in {*leaders, *parts} if i in scores}
        raised = rank.with_parts(own, parts)
        order = rank.ordered(raised, arms)
    for live, via in _lives(order, rows).items():
        best = via[0]
        hit = rank.explained(best, raised[best], parts.get(best, 0.0), arms)
        old = tuple(i for i in via if i != live)
        yield replace(hit, memory_id=live, replaces=old) if old else hit


def _session_parts(
    scores: Mapping[int, float],
    rows: Mapping[int, Row],
    asked: Asked,
    leaders: Sequence[int],
) -> dict[int, float]:
    """What sessions add to the leaders and to the rows beside them."""
    sessions = {i: row.session for i, row in rows.items() if row.lends}
    held: dict[str, int] = {}
    for memory_id, bits in asked.held(sessions).items():
        session = sessions[memory_id]
        held[session] = held.get(session, 0) | bits
    coverage = {key: asked.words.coverage(bits) for key, bits in held.items()}
    near = {i: sessions[i] for i in rank.beside(leaders) if i in sessions}
    return rank.session_parts(scores, near, coverage)


def _lives(found: Iterable[int], rows: Mapping[int, Row]) -> dict[int, list[int]]:
    """The live memories that rows stand for, and the rows that led to each."""
    lives: dict[int, list[int]] = {}
    for memory_id in found:
        live = live_successor(memory_id, rows)
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

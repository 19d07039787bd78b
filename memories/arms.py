"""The arms of recall: what each of them finds, over any SQLite connection."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeVar

from icm_site import text
from memories import dated
from memories.periods import Period
from memories.rank import Arms, Neighbours
from memories.scope import EVERYTHING, IN_SCOPE, Connection, Scope
from memories.words import Asked, Source

if TYPE_CHECKING:
    from memories.vector_rows import Needle

T = TypeVar("T")

# What a search can do without. A session lends what words and vectors found.
NAMES = ("text", "vector", "period", "session")

NO_INDEX = ("no such table: memories_fts", "no such module: fts5")
FALLBACK_POOL = 100
# Beside vectors, parts of words count for something in a query this short.
FRAGMENT_WORDS = 3
FRAGMENT_STRENGTH = 0.5


class Vectors(Protocol):
    """A source of neighbours by cosine for one model."""

    def nearest(
        self,
        connection: Connection,
        query: "Needle",
        *,
        depth: int,
        within: Collection[int] | None,
        also: Collection[int],
        known: float,
    ) -> Neighbours:
        """The `depth` nearest memories and the cosines of `also` (memory ids).

        `within`: only these memory ids; None means all. `known`: see Words.known.
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

# It reads all texts: one expression for each word takes a fifth of what a list of words
# joined to each row would take.
SUBSTRING_ARM = f"""
SELECT m.id, {{words}} AS words
FROM memories m LEFT JOIN memory_usage u ON u.memory_id = m.id
WHERE m.state IN ('live', 'superseded') AND {IN_SCOPE} AND words > 0
ORDER BY words DESC, u.weight DESC, m.id LIMIT ?
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
    held, forms = zip(*map(_held, words), strict=True)
    statement = SUBSTRING_ARM.format(words=" + ".join(held))
    parameters = (*chain.from_iterable(forms), *scope.parameters, FALLBACK_POOL)
    found = connection.execute(statement, parameters).fetchall()
    return {memory_id: count / len(words) for memory_id, count in found}


def _held(word: str) -> tuple[str, list[str]]:
    """Whether a row holds a word, 0 or 1, and the parameters of that."""
    # LIKE knows no case in ASCII alone. Words hold none of its wildcards.
    forms = {word} if word.isascii() else {word, word.upper(), word.title()}
    tests = ["m.summary LIKE ?"] * len(forms)
    tests += ["instr(m.topic_key, ?) > 0", "instr(m.keywords_key, ?) > 0"]
    parts = [f"%{form}%" for form in sorted(forms)]
    return f"({' OR '.join(tests)})", [*parts, word, word]


@dataclass(frozen=True)
class Search:
    """What is asked of each arm."""

    connection: Connection
    query: str
    scope: Scope
    depth: int
    source: Source | None
    query_vector: "Needle | None"
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
        asked = attempt("text", self._by_words, None)
        top = asked.bm25 if asked else {}
        newest: dict[Period, list[int]] = {}
        if self.named:
            newest = attempt("period", self._by_period, newest)
        also = {*top, *chain.from_iterable(newest.values())} if newest else top
        known = asked.words.known if asked else 1.0
        near = partial(self._by_vector, also, known)
        neighbours = attempt("vector", near, None)
        if neighbours and not also and self._is_short:
            return self._with_fragments(neighbours), None
        candidates = {*also, *neighbours.order} if neighbours else also
        judge = partial(asked.strengths, candidates) if asked else dict
        strengths: dict[int, float] = attempt("text", judge, {})
        of_period = tuple(self._all_dated(newest, candidates)) if newest else ()
        return Arms(top, strengths, neighbours, dated=of_period, known=known), asked

    def _by_words(self) -> Asked | None:
        if self.source is None:
            return None
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

    def _by_vector(self, also: Collection[int], known: float) -> Neighbours | None:
        if self.query_vector is None or self.vectors is None:
            return None
        return self.vectors.nearest(
            self.connection,
            self.query_vector,
            depth=self.depth,
            within=self.within,
            also=also,
            known=known,
        )

    def _with_fragments(self, neighbours: Neighbours) -> Arms:
        ask = partial(substring_arm, self.connection, self.query, scope=self.scope)
        nothing: dict[int, float] = {}
        parts = attempt("substring", ask, nothing)
        strengths = {i: FRAGMENT_STRENGTH * share for i, share in parts.items()}
        return Arms({}, strengths, neighbours, substring=tuple(parts))


def attempt(arm: str, ask: Callable[[], T], otherwise: T) -> T:
    """What an arm finds; one that fails is logged and finds nothing."""
    try:
        return ask()
    except Exception as error:
        # Loaded when there is something to say: it takes as long as an arm.
        import logging

        logger = logging.getLogger(__name__)
        trace = logger.isEnabledFor(logging.DEBUG)
        # That there is no text index is said by `stats`, not by each recall.
        quiet = str(error).startswith(NO_INDEX)
        level = logging.DEBUG if quiet else logging.WARNING
        logger.log(level, "the %s arm of recall failed: %s", arm, error, exc_info=trace)
        return otherwise

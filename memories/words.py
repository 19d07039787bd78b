"""The words of memories: which rows hold those of a query, and how well they answer.

Takes any SQLite connection and imports neither Django nor numpy.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from icm_site import text
from memories.guesses import guessed
from memories.scope import EVERYTHING, IN_SCOPE, Connection, Scope

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# A number, or an array of them.
N = TypeVar("N", float, "npt.NDArray[np.float64]")

# What a word gives: so much for being there, the rest by how often, in how long a text
# (BM25's saturation: Robertson and Zaragoza 2009, eq. 3.15), up to FULL. Measured: the
# 1.2 and 0.75 of FTS5 with nothing for being there rank dialogues worse.
PRESENCE, FULL = 0.3, 2.0
K1, B = 2.0, 0.9
_BY_COUNT = (1 - PRESENCE) * (K1 + 1) / FULL
# Counts of a handful of rows say little: below this size words weigh as in a store
# of this size.
LEAST_ROWS = 100
# A word that was perhaps meant says less than one that was written.
GUESS_SHARE = 0.7
# Candidates come from the rarest words, as long as so many rows hold them.
MOST_HITS = 100_000

CANDIDATES = """
SELECT rowid, -bm25(memories_fts) AS score FROM memories_fts
WHERE memories_fts MATCH ?
ORDER BY score DESC, rowid LIMIT ?
"""

CANDIDATES_IN_SCOPE = f"""
SELECT memories_fts.rowid, -bm25(memories_fts) AS score FROM memories_fts
JOIN memories m ON m.id = memories_fts.rowid
WHERE memories_fts MATCH ? AND {IN_SCOPE}
ORDER BY score DESC, memories_fts.rowid LIMIT ?
"""

HOLDERS = """
SELECT word.key, count(*) FROM json_each(?) AS word JOIN memories_fts AS f
WHERE f.memories_fts MATCH word.value
GROUP BY word.key
"""

INDEXED_ROWS = "SELECT count(*) FROM memories_fts_docsize"
# SQLite documents both tables (fts5.html, "Appendix B"): row 1 holds the number of
# rows and of words by column, as varints; `sz` the number of words of a row likewise.
AVERAGES = "SELECT block FROM memories_fts_data WHERE id = 1"
SIZES = "SELECT sz FROM memories_fts_docsize"

TEXTS = """
SELECT id, topic_index || ' ' || summary_index || ' ' || keywords_index
FROM memories WHERE id IN (SELECT value FROM json_each(?))
"""

# The ids of the memories in scope, or None for all of them.
Within = Callable[[], Collection[int] | None]


def everywhere() -> None:
    """No memory is out of scope."""


class Asked(Protocol):
    """A query asked of the words of memories."""

    @property
    def bm25(self) -> Mapping[int, float]:
        """The candidates by memory id, best first, and their BM25 (positive)."""
        ...

    @property
    def words(self) -> "Words":
        """The words of the query."""
        ...

    def strengths(self, memory_ids: Collection[int]) -> dict[int, float]:
        """How well these memories answer: 0-1, those that hold a word."""
        ...

    def held(self, memory_ids: Collection[int]) -> dict[int, int]:
        """The words that each of these memories holds: bit n for the n-th."""
        ...


class Source(Protocol):
    """Answers for the words of a query."""

    def ask(
        self,
        connection: Connection,
        query: str,
        *,
        scope: Scope = EVERYTHING,
        within: Within = everywhere,
        depth: int,
    ) -> Asked:
        """Ask for the `depth` best memories; `within` and `scope` say the same."""
        ...


@dataclass(frozen=True)
class Words:
    """The words of a query and the index that they are looked up in.

    `holders`: the rows that hold each word. `spare`: words that a text need not hold
    (see text.spare_words). `rows`: those of the index, of `average` words each.
    `guesses`: those that stand at the end, which were not written (see guesses.py).
    """

    terms: Sequence[str]
    holders: Sequence[int]
    spare: Collection[str]
    rows: int
    average: float
    guesses: int = 0

    @cached_property
    def weights(self) -> list[float]:
        """Inverse document frequency that stays positive, of each word."""
        rows = max(self.rows, LEAST_ROWS)
        found = [math.log1p((rows - n + 0.5) / (n + 0.5)) for n in self.holders]
        for n in range(len(found) - self.guesses, len(found)):
            found[n] *= GUESS_SHARE
        return found

    @property
    def written(self) -> list[tuple[str, int, float]]:
        """Word, holders and weight of those that the query itself has."""
        every = zip(self.terms, self.holders, self.weights, strict=True)
        return [*every][: len(self.terms) - self.guesses]

    @cached_property
    def whole(self) -> float:
        """The weight of all that is asked for."""
        return math.fsum(
            w for term, n, w in self.written if n or term not in self.spare
        )

    @cached_property
    def known(self) -> float:
        """The part, 0-1, of all that is asked for which some memory holds."""
        held = math.fsum(weight for _, n, weight in self.written if n)
        return min(1.0, held / self.whole) if self.whole else 1.0

    @cached_property
    def leading(self) -> list[int]:
        """Numbers of the words that candidates are found by: not the commonest.

        A row that holds none but the commonest words is no good answer.
        """
        chosen: list[int] = []
        hits = 0
        for n in sorted(range(len(self.terms)), key=lambda n: (self.holders[n], n)):
            if chosen and hits + self.holders[n] > MOST_HITS:
                break
            if self.holders[n]:
                chosen.append(n)
                hits += self.holders[n]
        return sorted(chosen)

    def strength(self, total: float) -> float:
        """The sum of weight x gain over the words, as a part of full strength: 0-1."""
        return min(1.0, total / self.whole)

    def coverage(self, held: int) -> float:
        """The part of all that is asked for which these words (a bit each) are."""
        weights = (w for n, w in enumerate(self.weights) if held >> n & 1)
        return min(1.0, math.fsum(weights) / self.whole)


@dataclass(frozen=True)
class IndexAsked:
    """A query asked of the full-text index."""

    connection: Connection
    words: Words
    bm25: Mapping[int, float]
    _judged: dict[int, tuple[float, int]] = field(default_factory=dict)

    def strengths(self, memory_ids: Collection[int]) -> dict[int, float]:
        """See Asked."""
        judged = self._judge(memory_ids)
        return {i: judged[i][0] for i in memory_ids if i in judged}

    def held(self, memory_ids: Collection[int]) -> dict[int, int]:
        """See Asked."""
        judged = self._judge(memory_ids)
        return {i: judged[i][1] for i in memory_ids if i in judged}

    def _judge(self, memory_ids: Collection[int]) -> dict[int, tuple[float, int]]:
        missing = sorted(set(memory_ids) - self._judged.keys())
        if missing and any(self.words.holders):
            rows = self.connection.execute(TEXTS, (json.dumps(missing),))
            self._judged.update(_judged(rows.fetchall(), self.words))
        return self._judged


def _judged(
    rows: Sequence[tuple[int, str]], words: Words
) -> Iterator[tuple[int, tuple[float, int]]]:
    """Strength and held words of each row that holds one."""
    known = [
        (bit, term, is_prefix(term), words.weights[bit])
        for bit, term in enumerate(words.terms)
        if words.holders[bit]
    ]
    for memory_id, body in rows:
        tokens = body.split()
        counts = Counter(tokens)
        norm = norms(len(tokens), words.average)
        total, held = 0.0, 0
        for bit, term, prefix, weight in known:
            count = counts[term]
            if prefix:
                count = sum(token.startswith(term) for token in tokens)
            if count:
                total += weight * gain(count, norm)
                held |= 1 << bit
        if held:
            yield memory_id, (words.strength(total), held)


def norms(length: N, average: float) -> N:
    """How much a row of so many words dampens each of them."""
    return K1 * (1 - B + B * length / average)


def gain(count: N, norm: N) -> N:
    """What a word gives that occurs so often, about 0.3-1.35."""
    return PRESENCE + _BY_COUNT * (count / (count + norm))


def is_prefix(term: str) -> bool:
    """Whether a word stands for all that begin with it."""
    return text.match_term(term).endswith("*")


class IndexWords:
    """The full-text index of the database, for a process that asks only once."""

    def ask(
        self,
        connection: Connection,
        query: str,
        *,
        scope: Scope = EVERYTHING,
        within: Within = everywhere,
        depth: int,
    ) -> IndexAsked:
        """See Source."""
        words = _words(connection, query)
        if not any(words.holders):
            return IndexAsked(connection, words, {})
        matched = " OR ".join(text.match_term(words.terms[n]) for n in words.leading)
        parameters: tuple[object, ...] = (matched, depth)
        statement = CANDIDATES
        if not scope.is_open:
            statement = CANDIDATES_IN_SCOPE
            parameters = (matched, *scope.parameters, depth)
        found = connection.execute(statement, parameters).fetchall()
        return IndexAsked(connection, words, dict(found))


def _words(connection: Connection, query: str) -> Words:
    terms = text.search_words(query)
    holders = _counts(connection, terms)
    spare = text.spare_words(query)
    guesses = guessed(connection, terms, holders, spare, {})
    if guesses:
        terms, holders = terms + guesses, holders + _counts(connection, guesses)
    rows, words = size(connection)
    average = words / rows if words else 1.0
    return Words(terms, holders, spare, rows, average, len(guesses))


def _counts(connection: Connection, terms: Sequence[str]) -> list[int]:
    """How many rows hold each word."""
    matched = [text.match_term(term) for term in terms]
    counts = [0] * len(terms)
    for n, count in connection.execute(HOLDERS, (json.dumps(matched),)):
        counts[n] = count
    return counts


def size(connection: Connection) -> tuple[int, int]:
    """The rows of the index and their words."""
    if getattr(connection, "in_transaction", False):
        # FTS5 keeps the sums in memory until the transaction ends.
        sizes = [sum(varints(row[0])) for row in connection.execute(SIZES)]
        return len(sizes), sum(sizes)
    found = connection.execute(AVERAGES).fetchone()
    rows, *words = varints(found[0]) if found and found[0] else [0]
    return rows, sum(words)


def varints(block: bytes) -> list[int]:
    """The numbers of a block: 7 bits a byte, most significant first (SQLite's own)."""
    numbers, value = [], 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return numbers

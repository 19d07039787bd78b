"""Nearest memories by cosine: a numpy matrix in memory, or the vec0 index."""

import json
import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memories.rank import Neighbours
from memories.search import Connection

logger = logging.getLogger(__name__)

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

# Equal scores whatever the order of summation: the routes differ by about 1e-7.
COSINE_DIGITS = 6
FLOOR_SAMPLE = 256
VEC0_MAX_K = 4096

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

ROWS_BY_ID = """
SELECT v.id, v.memory_id, v.vector FROM memory_vectors v
JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND v.id IN (SELECT value FROM json_each(?))
    AND m.state IN ('live', 'superseded')
ORDER BY v.id
"""

ID_RANGE = "SELECT min(id), max(id) FROM memory_vectors"

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
class Matrix:
    """The vectors of one model at one moment: rows, their ids and their memories."""

    ids: Ids
    memory_ids: Ids
    rows: Floats

    def best_by_memory(self, query: Floats) -> tuple[Ids, Floats]:
        """Memory ids (ascending) and the cosine of the best piece of each."""
        if not len(self.ids):
            return self.memory_ids, np.zeros(0, np.float32)
        cosines = self.rows @ query
        order = np.argsort(self.memory_ids, kind="stable")
        sorted_ids = self.memory_ids[order]
        starts = np.flatnonzero(np.diff(sorted_ids, prepend=sorted_ids[0] - 1))
        best = np.maximum.reduceat(cosines[order], starts)
        return sorted_ids[starts], best


def _empty(dimensions: int) -> Matrix:
    none = np.zeros(0, np.int64)
    return Matrix(none, none, np.zeros((0, dimensions), np.float32))


@dataclass
class MatrixVectors:
    """All vectors of one model in memory, kept in step with the database.

    Safe to share between threads and connections to the same database. New rows are
    appended; a change or removal (the stamp `vectors_rewritten`, written by triggers)
    loads anew. Inside an open transaction nothing is kept, since it may roll back.
    """

    model: str
    dimensions: int
    _matrix: Matrix | None = None
    _stamp: str | None = None
    _last_id: int = 0
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
        matrix = self._current(connection)
        needle = _unit(query, self.dimensions)
        ids, cosines = matrix.best_by_memory(needle)
        wanted = _spread(connection)
        sample = matrix.rows[np.isin(matrix.ids, wanted)] @ needle
        return _neighbours(ids, cosines, sample, depth, within, also)

    def _current(self, connection: Connection) -> Matrix:
        stamp, last_id = connection.execute(PROBE).fetchone()
        last_id = last_id or 0
        with self._lock:
            known = self._matrix is not None and stamp and stamp == self._stamp
            if self._matrix is not None and known and last_id == self._last_id:
                return self._matrix
            base = self._matrix if known and self._matrix else _empty(self.dimensions)
            after = self._last_id if known else 0
            fresh = _load(connection, self, base, after)
            if stamp and not getattr(connection, "in_transaction", False):
                self._matrix, self._stamp, self._last_id = fresh, stamp, last_id
            return fresh


def _load(
    connection: Connection, source: "MatrixVectors", base: Matrix, after: int
) -> Matrix:
    rows = connection.execute(ROWS_AFTER, (source.model, after)).fetchall()
    new = _matrix_of(rows, source.dimensions)
    return Matrix(
        np.concatenate([base.ids, new.ids]),
        np.concatenate([base.memory_ids, new.memory_ids]),
        np.concatenate([base.rows, new.rows]),
    )


def _matrix_of(rows: Sequence[tuple[int, int, bytes]], dimensions: int) -> Matrix:
    good = [row for row in rows if len(row[2]) == 4 * dimensions]
    if len(good) < len(rows):
        logger.warning(
            "%d stored vectors have not %d dimensions and are ignored",
            len(rows) - len(good),
            dimensions,
        )
    if not good:
        return _empty(dimensions)
    flat = np.frombuffer(b"".join(row[2] for row in good), dtype="<f4")
    return Matrix(
        np.array([row[0] for row in good], np.int64),
        np.array([row[1] for row in good], np.int64),
        flat.reshape(len(good), dimensions).astype(np.float32, copy=False),
    )


@dataclass
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
        near = self._nearest_ids(connection, needle, depth, within)
        asked = json.dumps(sorted({*near, *also}))
        rows = connection.execute(ROWS_OF, (self.model, asked)).fetchall()
        ids, cosines = _matrix_of(rows, self.dimensions).best_by_memory(needle)
        spread = json.dumps(_spread(connection).tolist())
        rows = connection.execute(ROWS_BY_ID, (self.model, spread)).fetchall()
        sample = _matrix_of(rows, self.dimensions).rows @ needle
        return _neighbours(ids, cosines, sample, depth, within, also)

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


def _unit(query: Sequence[float], dimensions: int) -> Floats:
    vector = np.asarray(query, np.float32)
    if vector.shape != (dimensions,):
        raise ValueError(f"query vector has shape {vector.shape}, not ({dimensions},)")
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm > 0 else vector


def _spread(connection: Connection) -> Ids:
    """Up to 256 row ids evenly over all: the sample that stands for "unrelated"."""
    first, last = connection.execute(ID_RANGE).fetchone()
    if first is None:
        return np.zeros(0, np.int64)
    return np.unique(np.linspace(first, last, FLOOR_SAMPLE).astype(np.int64))


def _neighbours(
    ids: Ids,
    cosines: Floats,
    sample: Floats,
    depth: int,
    within: Collection[int] | None,
    also: Collection[int],
) -> Neighbours:
    cosines = np.where(np.isnan(cosines), -1.0, np.round(cosines, COSINE_DIGITS))
    asked = np.isin(ids, np.fromiter(also, np.int64, len(also)))
    allowed = np.ones(len(ids), bool)
    if within is not None:
        allowed = np.isin(ids, np.fromiter(within, np.int64, len(within)))
    pool = np.flatnonzero(allowed)
    order = pool[np.lexsort((ids[pool], -cosines[pool]))][:depth]
    known = np.union1d(order, np.flatnonzero(asked))
    values = dict(zip(ids[known].tolist(), cosines[known].tolist(), strict=True))
    floor = float(np.round(np.mean(sample), COSINE_DIGITS)) if len(sample) else 0.0
    return Neighbours(tuple(ids[order].tolist()), values, floor)

"""Nearest memories by cosine from the vec0 index, for a process that asks once."""

import json
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from memories.centre import asked_from, centre, sample
from memories.rank import Neighbours
from memories.scope import Connection
from memories.vector_rows import (
    Floats,
    Ids,
    Needle,
    Rows,
    as_ids,
    first,
    neighbours,
    places,
    read,
    unit,
)

VEC0_MAX_K = 4096

ROWS_OF = """
SELECT v.memory_id, v.vector FROM memory_vectors v
WHERE v.model = ? AND v.memory_id IN (SELECT value FROM json_each(?))
ORDER BY v.memory_id, v.id
"""

SAMPLE = """
SELECT v.memory_id, v.vector FROM memory_vectors v
JOIN memories m ON m.id = v.memory_id
WHERE v.model = ? AND v.memory_id IN (SELECT value FROM json_each(?))
    AND m.state IN ('live', 'superseded')
ORDER BY v.memory_id, v.id
"""

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
class Vec0Vectors:
    """The vec0 index of the database, for a process that asks only once."""

    model: str
    dimensions: int

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
        needle = unit(query, self.dimensions)
        found = self._nearest_ids(connection, needle, depth, within)
        rows = self._rows(connection, ROWS_OF, sorted({*found, *also}))
        cosines = rows.cosines(needle)
        inside = places(rows.memories, np.sort(as_ids(found)))
        near, _ = first(rows.memories[inside], cosines[inside], depth)
        asked = rows.of_memories(_together(near, also))
        spread = self._rows(connection, SAMPLE, sample(connection).tolist())
        middle = centre(self.model, spread.vectors, self.dimensions)
        view = asked_from(self.model, middle, known)
        return neighbours(asked, needle, (middle, view), near)

    def _rows(self, connection: Connection, query: str, keys: list[int]) -> Rows:
        found = connection.execute(query, (self.model, json.dumps(keys))).fetchall()
        return Rows(*read(found, self.dimensions))

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


def _together(near: Ids, also: Collection[int]) -> Ids:
    """The distinct ids of both, ascending."""
    return as_ids(sorted({*near.tolist(), *also}))

"""Unit vectors of memories as numpy rows, and what is computed of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from memories.rank import Neighbours

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
# The vector of a query, of any length.
Needle = Sequence[float] | Floats

# Equal scores whatever the order of summation: the routes differ by about 1e-7.
DIGITS = 5
# Values that may be equal once they are rounded.
CLOSE = 2 * 10.0**-DIGITS
_LEAST_NORM = np.float32(1e-9)
# Values looked at together, where that puts most of them aside.
BLOCK = 64


@dataclass(frozen=True)
class Rows:
    """Vectors of memories, which ascend; a memory may have several rows."""

    memory_ids: Ids
    vectors: Floats

    @cached_property
    def _starts(self) -> Ids | None:
        """Where each memory starts; None if each has one row."""
        other = self.memory_ids[1:] != self.memory_ids[:-1]
        if other.all():
            return None
        return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(other) + 1])

    @cached_property
    def memories(self) -> Ids:
        """The distinct memories, ascending."""
        return (
            self.memory_ids if self._starts is None else self.memory_ids[self._starts]
        )

    def best_by_memory(self, values: Floats) -> Floats:
        """For each of `memories` the best value of its rows."""
        if self._starts is None:
            return values
        best: Floats = np.maximum.reduceat(values, self._starts)
        return best

    def of_memories(self, memory_ids: Ids) -> "Rows":
        """A copy of the rows that belong to these memories (distinct, ascending)."""
        found = places(self.memories, memory_ids)
        if self._starts is not None:
            ends = np.append(self._starts, len(self.memory_ids))
            lengths = ends[found + 1] - ends[found]
            first = np.repeat(ends[found] - (np.cumsum(lengths) - lengths), lengths)
            found = first + np.arange(len(first))
        vectors = self.vectors.take(found, axis=0)
        return Rows(self.memory_ids[found], vectors)

    def cosines(self, needle: Floats) -> Floats:
        """For each of `memories` its cosine with a unit vector."""
        return self.best_by_memory(dot(self.vectors, needle))


def no_rows(dimensions: int) -> Rows:
    """Rows of no memory."""
    return Rows(np.zeros(0, np.int64), np.zeros((0, dimensions), np.float32))


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, of which no two have rows of the same memory."""
    parts = [part for part in parts if len(part.memory_ids)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    return ascending(
        np.concatenate([part.memory_ids for part in parts]),
        np.concatenate([part.vectors for part in parts]),
    )


def ascending(memory_ids: Ids, vectors: Floats) -> Rows:
    """Rows in the order of their memories; those of one stay as they are."""
    if np.all(memory_ids[1:] >= memory_ids[:-1]):
        return Rows(memory_ids, vectors)
    order = np.argsort(memory_ids, kind="stable")
    return Rows(memory_ids[order], vectors[order])


def read(rows: Sequence[tuple[int, bytes]], dimensions: int) -> tuple[Ids, Floats]:
    """Memory and vector of database rows; those of another size are left out."""
    good = [row for row in rows if len(row[1]) == 4 * dimensions]
    flat = np.frombuffer(b"".join(row[1] for row in good), dtype="<f4")
    vectors = flat.reshape(len(good), dimensions).astype(np.float32)
    np.nan_to_num(vectors, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    return np.fromiter((row[0] for row in good), np.int64, len(good)), vectors


def places(ordered: Ids, wanted: Ids) -> Ids:
    """Where those of the wanted ids stand that are there."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    near = ordered.searchsorted(wanted)
    found: Ids = near[ordered.take(near, mode="clip") == wanted]
    return found


def unit(query: Needle, dimensions: int) -> Floats:
    """A query's vector at length 1. Raises ValueError for one of another size."""
    vector = np.asarray(query, np.float32)
    if vector.shape != (dimensions,):
        raise ValueError(f"query vector has shape {vector.shape}, not ({dimensions},)")
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm > 0 else vector


def rounded(values: Floats) -> Floats:
    """Values that two ways of computing them have in common."""
    return values.round(DIGITS)


def union(one: Ids, other: Ids) -> Ids:
    """The distinct ids of both, ascending."""
    both = np.concatenate((one, other))
    both.sort()
    kept = np.ones(len(both), bool)
    np.not_equal(both[1:], both[:-1], out=kept[1:])
    found: Ids = both[kept]
    return found


def as_ids(memory_ids: Collection[int]) -> Ids:
    """Ids as an array, in their order."""
    return np.fromiter(memory_ids, np.int64, len(memory_ids))


def leading(values: Floats, depth: int) -> Ids | None:
    """Where the values stand that may be among the `depth` highest; None: all may."""
    if len(values) <= depth:
        return None
    blocks = len(values) // BLOCK
    if blocks < 2 * depth:
        return (values >= _nth_highest(values, depth) - CLOSE).nonzero()[0]
    # As many blocks have a value this high, so the lowest wanted is no lower.
    tops = values[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
    found = (values >= _nth_highest(tops, depth) - CLOSE).nonzero()[0]
    values = values[found]
    inside: Ids = found[values >= _nth_highest(values, depth) - CLOSE]
    return inside


def _nth_highest(values: Floats, n: int) -> Floats:
    values = values.copy()
    values.partition(len(values) - n)
    found: Floats = values[len(values) - n]
    return found


def first(ids: Ids, values: Floats, depth: int) -> tuple[Ids, Floats]:
    """The `depth` highest values, rounded, and their ids; the lower id wins a tie."""
    inside = leading(values, depth)
    if inside is not None:
        ids, values = ids[inside], values[inside]
    values = rounded(values)
    order = np.lexsort((ids, -values))[:depth]
    return ids[order], values[order]


def neighbours(
    rows: Rows, needle: Floats, centres: tuple[Floats, Floats], near: Ids
) -> Neighbours:
    """What is known of these rows; the memories `near` are among them.

    `centres`: what is taken from the rows and from the query. The vectors of the rows
    are overwritten.
    """
    cosines = rounded(rows.cosines(needle))
    nearness = rounded(rows.best_by_memory(_seen_from(centres, rows.vectors, needle)))
    by_id, values = rows.memories, nearness
    if len(by_id) > len(near):
        inside = places(by_id, np.sort(near))
        by_id, values = by_id[inside], values[inside]
    # Stable, and the ids ascend: the lower one wins a tie.
    order = by_id[(-values).argsort(kind="stable")]
    ids = rows.memories.tolist()
    return Neighbours(
        order=tuple(order.tolist()),
        nearness=dict(zip(ids, nearness.tolist(), strict=True)),
        cosines=dict(zip(ids, cosines.tolist(), strict=True)),
        floor=round(float(_cosine(centres[0], needle)), DIGITS),
    )


def _seen_from(
    centres: tuple[Floats, Floats], vectors: Floats, needle: Floats
) -> Floats:
    """Cosines of rows and query after its centre is taken from each.

    Text models put all texts into a narrow cone, so that plain cosines of unrelated
    texts are high and differ by language and style; the centre is that common part.
    """
    # In place: another array of that size would cost as much as the products.
    of_rows, of_query = centres
    vectors -= of_rows
    return _cosine(vectors, needle - of_query)


def _cosine(vectors: Floats, needle: Floats) -> Floats:
    norms = np.sqrt(dot(vectors, vectors) * dot(needle, needle))
    found: Floats = np.divide(
        dot(vectors, needle), np.maximum(norms, _LEAST_NORM), dtype=np.float32
    )
    return found


def dot(rows: Floats, needle: Floats) -> Floats:
    """The products of rows with a vector, or with as many rows."""
    # Not `@`: BLAS spreads it over threads that gain nothing here (the work is bound
    # by memory) and wait for each other on a busy machine: 15 ms instead of 0.6.
    products: Floats = np.vecdot(rows, needle)
    return products

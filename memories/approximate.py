"""An approximate index over many vectors: faiss, where its extra is installed."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memories.vector_rows import Floats, Ids

logger = logging.getLogger(__name__)

# From so many vectors on, looking at all of them is felt.
LEAST = 100_000
# Rows are kept as codes of 4 bits for each 2 dimensions, in a few lists around centres,
# so that most lists can be looked into: codes are fast to compare, and what they choose
# is judged exactly. Centres and codes are learnt from some rows, in a few rounds.
ROWS_PER_ROOT, DIMENSIONS_PER_CODE, LEARNT_FROM, ROUNDS = 3, 2, 40_000, 8
BATCH = 20_000
# Lists are looked into until so many of the 20 nearest are found, for stored vectors
# that are drawn away from their place as a question is from its answer. An index that
# finds fewer than the least, whatever it looks into, is not used.
WANTED_RECALL, LEAST_RECALL, NEAREST, ASKED = 0.98, 0.95, 20, 100
ASIDE = 0.45
# Candidates that are asked for, beside the number wanted.
SPARE = 5

# Parts done, parts in all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """How an index looks: into how many lists, and what it finds that way (0-1)."""

    probes: int
    recall: float


@dataclass(frozen=True)
class Index:
    """An index in a file that is mapped, over the rows of a matrix."""

    _faiss: Any

    def candidates(self, needle: Floats, count: int) -> Ids:
        """See vector_matrix.Approximate."""
        _, found = self._faiss.search(needle[np.newaxis], SPARE * count)
        return np.asarray(found[0][found[0] >= 0], np.int64)


def available() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("faiss") is not None


def opened(path: Path, *, rows: int, probes: int) -> Index | None:
    """The index of a file; None where it cannot be had: all vectors are searched."""
    if not available():
        return None
    faiss: Any = importlib.import_module("faiss")
    # One thread a search: others have the other cores.
    faiss.omp_set_num_threads(1)
    try:
        index = faiss.read_index(
            str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
        )
    except (RuntimeError, OSError) as error:
        logger.warning("the index %s cannot be read: %s", path.name, error)
        return None
    if index.ntotal != rows:
        return None
    index.nprobe = probes
    return Index(index)


def build(
    vectors: Floats, path: Path, *, progress: Progress | None = None
) -> Built | None:
    """Index unit vectors into a file; None, and no file, where it finds too little."""
    faiss: Any = importlib.import_module("faiss")
    # More threads wait for each other on a busy machine: seventy times as long.
    faiss.omp_set_num_threads(1)
    count, size = vectors.shape
    lists = max(1, int(math.sqrt(count) / ROWS_PER_ROOT))
    codes = size // DIMENSIONS_PER_CODE
    index: Any = faiss.index_factory(size, f"IVF{lists},PQ{codes}x4fs")
    index.cp.niter = ROUNDS
    chance = np.random.default_rng(1)
    some = np.sort(chance.choice(count, min(count, LEARNT_FROM), replace=False))
    index.train(vectors[some])
    for start in range(0, count, BATCH):
        index.add(np.ascontiguousarray(vectors[start : start + BATCH]))
        if progress:
            progress(min(start + BATCH, count), count)
    built = _tuned(faiss, index, vectors, chance)
    if built.recall < LEAST_RECALL:
        logger.warning("the index finds %.3f of the nearest: not used", built.recall)
        return None
    faiss.write_index(index, str(path))
    return built


def _tuned(faiss: Any, index: Any, vectors: Floats, chance: Any) -> Built:
    asked = vectors[np.sort(chance.choice(len(vectors), ASKED, replace=False))]
    noise = chance.standard_normal(asked.shape, dtype=np.float32)
    noise *= ASIDE / np.linalg.norm(noise, axis=1, keepdims=True)
    asked = asked + noise
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    _, exact = faiss.knn(asked, vectors, NEAREST, metric=faiss.METRIC_INNER_PRODUCT)
    probes = max(1, index.nlist // 8)
    while True:
        index.nprobe = probes
        _, found = index.search(asked, SPARE * NEAREST)
        shares = [len(np.intersect1d(*pair)) for pair in zip(exact, found, strict=True)]
        recall = float(np.mean(shares)) / NEAREST
        if recall >= WANTED_RECALL or probes == index.nlist:
            return Built(probes, round(recall, 4))
        probes = min(2 * probes, index.nlist)

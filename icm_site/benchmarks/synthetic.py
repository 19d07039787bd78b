"""Invented memories for measuring: texts of a Zipf vocabulary, vectors in groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

SIZE = 384
WORDS, TOPICS, GROUPS, DIRECTIONS = 30_000, 200, 2_000, 24
SYLLABLES = "ka lo mi ru ten vas por el dun shi bra ost ney fal gor qui ".split() + (
    "zem hal tri wex jor pil cas mun bek dra sol vin tur nep alb ost".split()
)
SHORTEST, LONGEST = 10, 35
# What two words of a Zipf vocabulary have in common: the n-th is used 1/(n + SHIFT).
SHIFT = 2.7
# How far the parts of a vector reach: what all have in common (so that two of them
# have a cosine of about 0.84, as those of the packaged model), its group, a few
# directions that matter less and less, and chance.
COMMON, OF_GROUP, OF_DIRECTION, OF_CHANCE = 2.3, 0.6, 0.75, 0.2


class Synthetic:
    """A stream of memories, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        shape = np.random.default_rng(seed + 1)
        self._common = _unit(shape.standard_normal((1, SIZE), np.float32)) * COMMON
        self._groups = _unit(shape.standard_normal((GROUPS, SIZE), np.float32))
        self._groups *= OF_GROUP
        directions = _unit(shape.standard_normal((DIRECTIONS, SIZE), np.float32))
        scale = 1 / np.sqrt(1 + np.arange(DIRECTIONS, dtype=np.float32))
        scale *= OF_DIRECTION / np.linalg.norm(scale)
        self._directions = directions * scale[:, np.newaxis]

    @cached_property
    def vocabulary(self) -> list[str]:
        """Words of two or three syllables, the commonest first."""
        made = [
            "".join(parts) for n in (2, 3) for parts in product(SYLLABLES, repeat=n)
        ]
        words = list(dict.fromkeys(made))[:WORDS]
        np.random.default_rng(7).shuffle(words)
        return words

    def texts(self, count: int) -> list[Ids]:
        """The numbers of the words of `count` texts."""
        lengths = self._chance.integers(SHORTEST, LONGEST + 1, count)
        words = self._by_rank(WORDS, int(lengths.sum()))
        return np.split(words, np.cumsum(lengths)[:-1])

    def topics(self, count: int) -> Ids:
        """The numbers of topics of `count` memories."""
        return self._by_rank(TOPICS, count)

    def vectors(self, count: int) -> Floats:
        """Unit vectors (count, SIZE)."""
        chance = self._chance
        groups = self._by_rank(GROUPS, count)
        along = chance.standard_normal((count, DIRECTIONS), np.float32)
        rest = chance.standard_normal((count, SIZE), np.float32)
        rest *= np.float32(OF_CHANCE / np.sqrt(SIZE))
        rest += self._common + self._groups[groups] + along @ self._directions
        return _unit(rest)

    def near(self, vectors: Floats, *, aside: float = 0.45) -> Floats:
        """Vectors beside these, as that of a question is beside that of its answer."""
        noise = _unit(self._chance.standard_normal(vectors.shape, np.float32))
        return _unit(vectors + np.float32(aside) * noise)

    def query(self, text: Sequence[str], words: int = 8) -> str:
        """A question of so many words, half of them of a text, half just common."""
        own = self._chance.choice(list(text), words // 2, replace=False)
        other = self._by_rank(WORDS, words - words // 2)
        return " ".join([*own, *(self.vocabulary[n] for n in other)])

    def _by_rank(self, kinds: int, count: int) -> Ids:
        share = 1 / (np.arange(kinds) + SHIFT)
        ends = np.cumsum(share / share.sum())
        found = np.searchsorted(ends, self._chance.random(count))
        return np.minimum(found, kinds - 1)


def _unit(rows: Floats) -> Floats:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows

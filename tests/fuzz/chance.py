"""Values by chance, from one `random.Random`: hypothesis spends 15 ms on an input."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")

# Ranges of code points from which texts are made, and how often each is taken.
_RANGES = (
    *((0x20, 0x7E),) * 6,
    *((0x00, 0x1F), (0x7F, 0xFF), (0x300, 0x36F), (0x4E00, 0x9FFF)),
    *((0x200B, 0x206F), (0x1F300, 0x1FAFF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF)),
)
_EDGES = (0, 1, -1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e308, 5e-324, math.inf, -math.inf, math.nan)


class Made(Generic[T]):
    """A kind of value: `draw` makes one."""

    def __init__(self, draw: Callable[[Random], T]) -> None:
        self.draw = draw

    def map(self, function: Callable[[T], S]) -> Made[S]:
        return Made(lambda r: function(self.draw(r)))


def just(value: T) -> Made[T]:
    return Made(lambda r: value)


def sampled(values: Sequence[T]) -> Made[T]:
    return Made(lambda r: values[int(r.random() * len(values))])


def one_of(*kinds: Made[Any]) -> Made[Any]:
    return Made(lambda r: kinds[int(r.random() * len(kinds))].draw(r))


def booleans() -> Made[bool]:
    return sampled([False, True])


def integers(least: int, most: int) -> Made[int]:
    near = [n for n in (least, most, *_EDGES) if least <= n <= most]

    def draw(r: Random) -> int:
        return r.choice(near) if r.random() < 0.2 else r.randint(least, most)

    return Made(draw)


def floats() -> Made[float]:
    def draw(r: Random) -> float:
        if r.random() < 0.5:
            return r.choice(_FLOATS)
        return r.uniform(-1, 1) * 10.0 ** r.randint(-300, 300)

    return Made(draw)


def _length(r: Random, most: int) -> int:
    """Mostly short."""
    return int(most * r.random() ** 3)


def text(most: int) -> Made[str]:
    """Characters of all planes, without half ones."""

    def draw(r: Random) -> str:
        if r.random() < 0.4:
            return "".join(r.choices(string.printable, k=_length(r, most)))
        drawn = (r.choice(_RANGES) for _ in range(_length(r, most)))
        return "".join(chr(r.randint(*each)) for each in drawn)

    return Made(draw)


def binary(most: int) -> Made[bytes]:
    return Made(lambda r: r.randbytes(_length(r, most + 1)))


def lists(kind: Made[T], *, least: int = 0, most: int) -> Made[list[T]]:
    return Made(lambda r: [kind.draw(r) for _ in range(r.randint(least, most))])


def tuples(*kinds: Made[Any]) -> Made[Any]:
    return Made(lambda r: tuple(kind.draw(r) for kind in kinds))


def dictionaries(
    keys: Made[str], values: Made[T], *, most: int = 4
) -> Made[dict[str, T]]:
    return lists(tuples(keys, values), most=most).map(dict)


def fields(
    needed: Mapping[str, Made[Any]], optional: Mapping[str, Made[Any]]
) -> Made[dict[str, Any]]:
    """Names with values: all that are needed, and half of the others."""

    def draw(r: Random) -> dict[str, Any]:
        chosen = {**needed, **{k: v for k, v in optional.items() if r.random() < 0.5}}
        return {name: kind.draw(r) for name, kind in chosen.items()}

    return Made(draw)


def nested(plain: Made[Any], *, depth: int = 3) -> Made[Any]:
    """A plain value, or lists and objects of them."""
    if not depth:
        return plain
    inner = nested(plain, depth=depth - 1)
    return one_of(
        plain, plain, lists(inner, most=4), dictionaries(text(9), inner, most=3)
    )

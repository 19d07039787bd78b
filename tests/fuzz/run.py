"""A run: so many inputs to each surface, and every fault that they met."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.place import Place, faults, state
from tests.fuzz.surfaces import SURFACES, Surface


class Report(NamedTuple):
    """What a surface was given, how much of it it refused, and its faults."""

    surface: str
    inputs: int
    refused: int
    seconds: float
    faults: Counter[str]
    examples: dict[str, str]


def fuzz(name: str, *, count: int, place: Place, number: int = 1) -> Report:
    """Give a surface so many inputs; the same for the same count and number."""
    surface = SURFACES[name]
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    done = Counter[str]()
    begun = time.perf_counter()

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(surface.inputs(place))
    def one(value: Any) -> None:
        fault = _told(surface, place, value, done)
        if fault:
            found[fault[:120]] += 1
            examples.setdefault(fault[:120], f"{fault}\n    {value!r}"[:1500])

    one()
    for fault in faults():
        found[fault] += 1
    seconds = time.perf_counter() - begun
    return Report(name, done["inputs"], done["refused"], seconds, found, examples)


def _told(surface: Surface, place: Place, value: Any, done: Counter[str]) -> str:
    """What is wrong after one input; "" where nothing is."""
    before = state()
    done["inputs"] += 1
    try:
        said = surface.take(place, value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    done["refused"] += said.refused
    after = state()
    if after.rows < before.rows:
        return f"rows are lost: {before} -> {after}"
    if said.refused and after != before:
        return f"a refused input changed something: {before} -> {after}"
    return said.fault

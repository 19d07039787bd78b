"""A run: so many inputs to each surface, and every fault that they met."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from random import Random
from typing import Any, NamedTuple

from icm_site import conf
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
    """Give a surface so many inputs; the same for the same number."""
    surface = SURFACES[name]
    _without_limit()
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    refused = 0
    begun = time.perf_counter()
    kind = surface.inputs(place)
    for each in range(count):
        # A seed for each: an input does not hang on those before it.
        value = kind.draw(Random(f"{number} {name} {each}"))
        refuses, fault = _told(surface, place, value)
        refused += refuses
        if fault:
            found[fault[:120]] += 1
            examples.setdefault(fault[:120], f"{fault}\n    {value!r}"[:1500])
    for fault in faults():
        found[fault] += 1
    seconds = time.perf_counter() - begun
    return Report(name, count, refused, seconds, found, examples)


def _without_limit() -> None:
    """Let more requests a minute pass than a server would hear."""
    config = conf.current()
    web = dataclasses.replace(config.web, requests_per_minute=0)
    conf.use(dataclasses.replace(config, web=web))


def _told(surface: Surface, place: Place, value: Any) -> tuple[bool, str]:
    """Whether an input was refused, and what is wrong after it; "" for nothing."""
    before = state()
    try:
        said = surface.take(place, value)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
    after = state()
    if after.rows < before.rows:
        return said.refused, f"rows are lost: {before} -> {after}"
    if said.refused and after != before:
        return True, f"a refused input changed something: {before} -> {after}"
    return said.refused, said.fault

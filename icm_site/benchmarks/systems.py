"""What is compared on the evaluations, and what each system answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from icm_site.benchmarks.data import Evaluation

Step = Literal["store", "embed", "ask"]
STEPS: tuple[Step, ...] = ("store", "embed", "ask")
# Called with a step and how many texts or queries of it are done since the last call.
Tick = Callable[[Step, int], None]


@dataclass(frozen=True, kw_only=True)
class System:
    """A way to answer: by words alone, or with the model by one of the fusions."""

    name: str
    engine: str = "default"
    model: bool = False


def words(engine: str = "default") -> System:
    """Words alone, in the way of this fusion."""
    return System(name="words", engine=engine)


def with_model(engine: str) -> System:
    """Words and vectors, joined by this fusion."""
    name = "model" if engine == "default" else f"model, {engine}"
    return System(name=name, engine=engine, model=True)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The answer to one query: document ids, best first, and the score of the first.

    The score of an empty answer is 0.
    """

    ranking: tuple[str, ...]
    score: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What each system (by name) found, in the order of the evaluation's queries.

    `unembedded`: memories that the model failed on.
    """

    evaluation: Evaluation
    found: Mapping[str, tuple[Found, ...]]
    unembedded: int = 0

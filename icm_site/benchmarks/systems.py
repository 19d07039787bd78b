"""What is compared on the evaluations, and what each system answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from icm_site.benchmarks.data import Evaluation
from memories.arms import NAMES

Step = Literal["store", "embed", "ask"]
STEPS: tuple[Step, ...] = ("store", "embed", "ask")
# Called with a step and how many texts or queries of it are done since the last call.
Tick = Callable[[Step, int], None]


@dataclass(frozen=True, kw_only=True)
class System:
    """A way to answer: by words alone, or with the model by one of the fusions.

    `without`: arms that are left out (memories.arms.NAMES).
    """

    name: str
    engine: str = "default"
    model: bool = False
    without: tuple[str, ...] = ()


def words(engine: str = "default") -> System:
    """Words alone, in the way of this fusion."""
    return System(name="words", engine=engine)


def with_model(engine: str) -> System:
    """Words and vectors, joined by this fusion."""
    name = "model" if engine == "default" else f"model, {engine}"
    return System(name=name, engine=engine, model=True)


def ablation(*, model: bool) -> list[System]:
    """Everything, then each arm off, then each that finds anything alone."""
    arms = tuple(arm for arm in NAMES if model or arm != "vector")
    found = [arm for arm in arms if arm in ("text", "vector")]
    off = arms if model else tuple(arm for arm in arms if arm != "text")
    return [
        System(name="all", model=model),
        *(System(name=f"no {arm}", model=model, without=(arm,)) for arm in off),
        *(
            System(
                name=f"{arm} alone",
                model=model,
                without=tuple(other for other in arms if other != arm),
            )
            for arm in found
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The answer to one query: document ids, best first.

    `score`: of the first hit; `relevance`: the highest; both 0 of an empty answer.
    """

    ranking: tuple[str, ...]
    score: float
    relevance: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What each system (by name) found, in the order of the evaluation's queries.

    `strangers`: likewise of its foreign questions. `unembedded`: memories that the
    model failed on.
    """

    evaluation: Evaluation
    found: Mapping[str, tuple[Found, ...]]
    strangers: Mapping[str, tuple[Found, ...]] = field(default_factory=dict)
    unembedded: int = 0

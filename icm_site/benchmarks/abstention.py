"""Does recall stay silent when nothing fits: questions asked of other texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from icm_site.benchmarks import scoring
from icm_site.benchmarks.data import Query
from icm_site.benchmarks.systems import Found, Outcome
from memories.rank import HOOK_FLOOR

# Made so that the right people are asked after a wrong thing: no question to answer.
TRAPS = "adversarial"


@dataclass(frozen=True, kw_only=True)
class Abstention:
    """One system on one group: the relevance of its answers.

    `own` and `foreign`: how many questions were asked of their own texts and of the
    next ones, traps left out; `own_answered` and `foreign_answered`: the share that
    reaches the floor of hooks. `auc`: the chance that an own question is the more
    relevant one. `traps`: how many there are, asked of their own texts, and the share
    that reaches the floor.
    """

    group: str
    system: str
    own: int
    foreign: int
    auc: float
    own_answered: float
    foreign_answered: float
    traps: tuple[int, float]


def abstentions(outcomes: Sequence[Outcome]) -> list[Abstention]:
    """A line for each group that was asked foreign questions, and each system."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.evaluation.foreign:
            groups.setdefault(outcome.evaluation.group, []).append(outcome)
    return [
        _of_group(name, members, system)
        for name, members in groups.items()
        for system in members[0].found
    ]


def _of_group(name: str, outcomes: Sequence[Outcome], system: str) -> Abstention:
    own: list[float] = []
    traps: list[float] = []
    foreign: list[float] = []
    for outcome in outcomes:
        evaluation = outcome.evaluation
        for query, found in _pairs(evaluation.queries, outcome.found[system]):
            (traps if query.kind == TRAPS else own).append(found.relevance)
        for query, found in _pairs(evaluation.foreign, outcome.strangers[system]):
            if query.kind != TRAPS:
                foreign.append(found.relevance)
    return Abstention(
        group=name,
        system=system,
        own=len(own),
        foreign=len(foreign),
        auc=scoring.auc(own, foreign),
        own_answered=_answered(own),
        foreign_answered=_answered(foreign),
        traps=(len(traps), _answered(traps)),
    )


def _pairs(
    queries: Sequence[Query], found: Sequence[Found]
) -> list[tuple[Query, Found]]:
    """Those with an answer in their own texts."""
    pairs = zip(queries, found, strict=True)
    return [(query, answer) for query, answer in pairs if query.relevant]


def _answered(relevances: Sequence[float]) -> float:
    return sum(r >= HOOK_FLOOR for r in relevances) / max(1, len(relevances))

"""From answers to figures: a line for each group of evaluations and each system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from icm_site.benchmarks import scoring
from icm_site.benchmarks.data import Query
from icm_site.benchmarks.scoring import Difference, Spread
from icm_site.benchmarks.systems import Found, Outcome
from icm_site.errors import InvalidInput

# What is compared between systems, by document and by session.
COMPARED = {False: ("R@5", "R@10"), True: ("any@5", "any@10")}


@dataclass(frozen=True, kw_only=True)
class Group:
    """Outcomes reported together; `by_session` judges the sessions of documents."""

    name: str
    outcomes: tuple[Outcome, ...]
    by_session: bool = False


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One system on one group.

    `kinds`: number of queries and means by kind. `forbidden`: number of queries that
    name a forbidden document and the share that got one in the first 5. `answerable`
    and `unanswerable`: top scores of queries with and without an answer; `auc`: the
    chance that one of the former is higher. `differences` to the first system.
    """

    group: str
    by_session: bool
    system: str
    documents: int
    queries: int
    abstentions: int
    means: Mapping[str, float]
    kinds: Mapping[str, tuple[int, Mapping[str, float]]]
    forbidden: tuple[int, float] | None
    answerable: Spread
    unanswerable: Spread
    auc: float
    differences: Mapping[str, Difference]


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """One query: `scores` is None where there is nothing to be found."""

    kind: str
    scores: Mapping[str, float] | None
    forbidden: bool | None
    top: float


def figures(
    outcomes: Sequence[Outcome], *, sessions_only: bool = False
) -> list[Figures]:
    """All lines of the report.

    Raises InvalidInput if only sessions are wanted and no document names its own.
    """
    groups = list(_groups(outcomes, sessions_only=sessions_only))
    if not groups:
        raise InvalidInput("no document of these evaluations names its session")
    return [line for group in groups for line in _of_group(group)]


def _groups(outcomes: Sequence[Outcome], *, sessions_only: bool) -> Iterable[Group]:
    families: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        evaluation = outcome.evaluation
        family = families.setdefault(evaluation.family, {})
        family.setdefault(evaluation.group, []).append(outcome)
    for family_name, family in families.items():
        for name, members in family.items():
            if not sessions_only:
                yield Group(name=name, outcomes=tuple(members))
            if all(outcome.evaluation.sessions() for outcome in members):
                yield Group(
                    name=f"{name} by session", outcomes=tuple(members), by_session=True
                )
        # Grains show the same questions more than once; languages are separate.
        whole = [o for o in outcomes if o.evaluation.family == family_name]
        grained = any(outcome.evaluation.grain for outcome in whole)
        if len(family) > 1 and not grained and not sessions_only:
            yield Group(name=f"{family_name} (all)", outcomes=tuple(whole))


def _of_group(group: Group) -> Iterable[Figures]:
    names = list(group.outcomes[0].found)
    judged = {name: _judge_all(group, name) for name in names}
    first = _answered(judged[names[0]])
    for name in names:
        differences = {}
        if name != names[0]:
            differences = _differences(group, first, _answered(judged[name]))
        yield _figures(group, name, judged[name], differences)


def _differences(
    group: Group,
    first: Sequence[Mapping[str, float]],
    second: Sequence[Mapping[str, float]],
) -> dict[str, Difference]:
    return {
        metric: scoring.difference(
            [row[metric] for row in first], [row[metric] for row in second]
        )
        for metric in COMPARED[group.by_session]
    }


def _figures(
    group: Group,
    system: str,
    judged: Sequence[_Judged],
    differences: Mapping[str, Difference],
) -> Figures:
    rows = _answered(judged)
    named = [query.forbidden for query in judged if query.forbidden is not None]
    answerable = [query.top for query in judged if query.scores is not None]
    unanswerable = [query.top for query in judged if query.scores is None]
    return Figures(
        group=group.name,
        by_session=group.by_session,
        system=system,
        documents=sum(_size(outcome, group) for outcome in group.outcomes),
        queries=len(rows),
        abstentions=len(unanswerable),
        means=scoring.mean(rows),
        kinds=scoring.by_kind([q.kind for q in judged if q.scores is not None], rows),
        forbidden=(len(named), sum(named) / len(named)) if named else None,
        answerable=scoring.spread(answerable),
        unanswerable=scoring.spread(unanswerable),
        auc=scoring.auc(answerable, unanswerable),
        differences=differences,
    )


def _size(outcome: Outcome, group: Group) -> int:
    evaluation = outcome.evaluation
    if group.by_session:
        return len(set(evaluation.sessions().values()))
    return len(evaluation.corpus)


def _answered(judged: Sequence[_Judged]) -> list[Mapping[str, float]]:
    return [query.scores for query in judged if query.scores is not None]


def _judge_all(group: Group, system: str) -> list[_Judged]:
    judged = []
    for outcome in group.outcomes:
        sessions = outcome.evaluation.sessions() if group.by_session else None
        pairs = zip(outcome.evaluation.queries, outcome.found[system], strict=True)
        judged += [_judge(query, found, sessions) for query, found in pairs]
    return judged


def _judge(query: Query, found: Found, sessions: Mapping[str, str] | None) -> _Judged:
    ranking, relevant, forbidden = found.ranking, query.relevant, query.forbidden
    if sessions is not None:
        ranking = scoring.session_ranking(ranking, sessions)
        relevant, forbidden = tuple(sessions[key] for key in relevant), ()
    return _Judged(
        kind=query.kind,
        scores=scoring.score(ranking, relevant) if relevant else None,
        forbidden=scoring.has_forbidden(ranking, forbidden) if forbidden else None,
        top=found.score,
    )

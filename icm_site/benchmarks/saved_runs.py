"""Rankings written by `--run`, read again to compare two of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from icm_site.benchmarks.data import Evaluation
from icm_site.benchmarks.systems import Found, Outcome, System
from icm_site.errors import InvalidInput
from icm_site.operation import sentence


class Line(BaseModel):
    """One answer of a run."""

    corpus: str
    query: str
    ranking: tuple[str, ...]
    score: float = 0.0
    relevance: float = 0.0


def lines(outcomes: Iterable[Outcome], system: System) -> Iterator[str]:
    """A line of JSON for each query: what the system found, best first."""
    for outcome in outcomes:
        evaluation = outcome.evaluation
        found = outcome.found[system.name]
        for query, answer in zip(evaluation.queries, found, strict=True):
            row = {
                "corpus": evaluation.key,
                "query": query.id,
                "ranking": answer.ranking,
                "score": round(answer.score, 4),
                "relevance": round(answer.relevance, 4),
            }
            yield json.dumps(row, ensure_ascii=False) + "\n"


def compared(evaluations: Sequence[Evaluation], files: Sequence[Path]) -> list[Outcome]:
    """The evaluations that all runs answered, with their answers, by file name.

    Raises InvalidInput for a file that is no run, or answers only part of one.
    """
    runs = {_name(file, files): _read(file) for file in files}
    shared = [each for each in evaluations if all(each.key in r for r in runs.values())]
    if not shared:
        raise InvalidInput("the runs have no evaluation of this path in common")
    return [
        Outcome(
            evaluation=evaluation,
            found={
                name: _answers(name, evaluation, run[evaluation.key])
                for name, run in runs.items()
            },
        )
        for evaluation in shared
    ]


def _name(file: Path, files: Sequence[Path]) -> str:
    alike = [other for other in files if other.stem == file.stem]
    return file.stem if len(alike) == 1 else str(file)


def _read(file: Path) -> dict[str, dict[str, Found]]:
    run: dict[str, dict[str, Found]] = {}
    try:
        written = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from None
    for number, text in enumerate(written, 1):
        try:
            line = Line.model_validate_json(text)
        except ValidationError as error:
            raise InvalidInput(f"{file}, line {number}: {sentence(error)}") from None
        run.setdefault(line.corpus, {})[line.query] = Found(
            ranking=line.ranking, score=line.score, relevance=line.relevance
        )
    return run


def _answers(
    name: str, evaluation: Evaluation, run: Mapping[str, Found]
) -> tuple[Found, ...]:
    for query in evaluation.queries:
        if query.id not in run:
            raise InvalidInput(
                f"the run {name} has no answer to {query.id!r} of {evaluation.key}"
            )
    return tuple(run[query.id] for query in evaluation.queries)

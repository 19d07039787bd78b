"""The constants of memories/relevance.py, fitted anew to questions on other texts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.table import Table

from icm_site.benchmarks import quality_run, vector_cache
from icm_site.benchmarks.abstention import TRAPS
from icm_site.benchmarks.data import Evaluation
from icm_site.benchmarks.scoring import DEPTH
from icm_site.errors import InvalidInput
from memories import driver, embedder, matrices, recall, relevance, search
from memories.rank import HOOK_FLOOR

Floats = npt.NDArray[np.float64]

# Newton's method is there after five or six steps.
STEPS = 25
# Of the slopes, not of the constant: the usual strength, and else they run away where a
# line parts the two sides nearly (le Cessie and van Houwelingen 1992).
RIDGE = 1.0
# A store of many memories knows each word of a question on other matters. So much of
# each foreign question is counted as if this one did.
ALL_KNOWN = 0.05
# Of questions on other texts, so many are nearer than NEAR_MIDDLE.
FOREIGN_NEAR = 0.015


@dataclass(frozen=True)
class Observation:
    """The best answer to one question; `own`: asked of its own texts.

    `score`, `nearness`: the highest; `known`, `weight`: see relevance.Question.
    """

    own: bool
    score: float
    nearness: float | None
    known: float
    weight: float


@dataclass(frozen=True)
class Fit:
    """Constants, and the shares of both sides that they answer.

    `near`: the nearness that FOREIGN_NEAR of the foreign questions reach; None
    without a model.
    """

    constants: tuple[float, float, float]
    near: float | None
    own: float
    foreign: float


def table(evaluations: Sequence[Evaluation], *, no_model: bool) -> Table:
    """Fits to all evaluations and to each half of them, by words and with the model.

    They have foreign questions (data.with_foreign). Raises InvalidInput where one side
    is empty.
    """
    found = [list(observations(each, no_model=no_model)) for each in evaluations]
    result = Table(
        "questions of",
        "system",
        "a",
        "b (score)",
        "c (known)",
        "near",
        "own",
        "foreign",
    )
    halves = {"all": found}
    if len(found) > 3:  # Each half has own and foreign questions.
        halves |= {"1st half": found[::2], "2nd half": found[1::2]}
    for name, files in halves.items():
        seen = [one for each in files for one in each]
        for system in ("words", "model"):
            mine = [o for o in seen if (o.nearness is None) == (system == "words")]
            if mine:
                result.add_row(name, system, *_cells(fitted(mine)))
    return result


def _cells(fit: Fit) -> Iterator[str]:
    yield from (f"{value:.2f}" for value in fit.constants)
    yield "" if fit.near is None else f"{fit.near:.3f}"
    yield f"{fit.own:.3f}"
    yield f"{fit.foreign:.3f}"


def fitted(seen: Sequence[Observation]) -> Fit:
    """Logistic regression of own against foreign on score and known part.

    Raises InvalidInput where one side is empty.
    """
    own = np.array([o.own for o in seen])
    if own.all() or not own.any():
        raise InvalidInput(
            "relevance is fitted to questions asked of their own texts and of others: "
            "give a folder with two files of one set or more"
        )
    a, b, c = regression(*_rows(seen)).tolist()
    near = None
    if seen[0].nearness is not None:
        foreign = [o.nearness or 0.0 for o in seen if not o.own]
        near = float(np.quantile(foreign, 1 - FOREIGN_NEAR))
    sure = np.array([_relevance(o, (a, b, c), near) for o in seen])
    shown = sure >= HOOK_FLOOR
    share = (float(shown[side].mean()) for side in (own, ~own))
    return Fit((a, b, c), near, *share)


def _relevance(
    seen: Observation, constants: tuple[float, float, float], near: float | None
) -> float:
    a, b, c = constants
    line = a + b * seen.score + c * seen.known
    if near is not None and seen.nearness is not None:
        line = max(line, relevance.NEAR_SLOPE * (seen.nearness - near))
    sure = 1 / (1 + np.exp(-line))
    return float(sure * min(1.0, seen.weight / relevance.FULL_WEIGHT))


def _rows(seen: Sequence[Observation]) -> tuple[Floats, Floats, Floats]:
    """Rows, labels and counts of a regression; both sides count alike."""
    foreign = [o for o in seen if not o.own]
    each = len(seen) / 2
    of_own, of_foreign = each / (len(seen) - len(foreign)), each / len(foreign)
    rows = [(1.0, o.score, o.known) for o in seen]
    counts = [of_own if o.own else of_foreign * (1 - ALL_KNOWN) for o in seen]
    rows += [(1.0, o.score, 1.0) for o in foreign]
    counts += [of_foreign * ALL_KNOWN] * len(foreign)
    labels = [float(o.own) for o in seen] + [0.0] * len(foreign)
    return np.array(rows), np.array(labels), np.array(counts)


def regression(rows: Floats, labels: Floats, counts: Floats) -> Floats:
    """Weights of a logistic regression with a ridge, by Newton's method.

    `rows` (n, k) begin with 1, `labels` are 0 or 1, `counts` how often each row counts.
    """
    size = rows.shape[1]
    weights, ridge = np.zeros(size), RIDGE * np.eye(size)
    ridge[0, 0] = 0.0
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (labels - chance)) - ridge @ weights
        curve = (rows.T * (counts * chance * (1 - chance))) @ rows + ridge
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def observations(evaluation: Evaluation, *, no_model: bool) -> Iterator[Observation]:
    """What is found for own and foreign questions, by words and with the model."""
    sessions = evaluation.sessions()
    with (
        tempfile.TemporaryDirectory(prefix="icm-bench-") as folder,
        quality_run.own_database(Path(folder) / "fit.sqlite3"),
        vector_cache.cached_models(vector_cache.usual_file()),
    ):
        quality_run.store_all(evaluation, sessions, _ignored)
        for model in (False, True):
            if model and (no_model or not _has_model()):
                continue
            with quality_run.model_switched(on=model):
                if model:
                    quality_run.embed_all(_ignored)
                yield from _asked(evaluation, model=model)


def _ignored(step: str, done: int) -> None:
    del step, done


def _has_model() -> bool:
    return embedder.status(embedder.configured()).available


def _asked(evaluation: Evaluation, *, model: bool) -> Iterator[Observation]:
    for own, queries in ((True, evaluation.queries), (False, evaluation.foreign)):
        for query in queries:
            if query.relevant and query.kind != TRAPS:
                yield _observation(query.text, own=own, model=model)


def _observation(query: str, *, own: bool, model: bool) -> Observation:
    raw = driver.raw_connection()
    vector, vectors = recall.by_meaning(query)
    hits = search.find(
        raw,
        query,
        limit=DEPTH,
        query_vector=vector,
        vectors=vectors,
        words=matrices.words(),
    )
    about = relevance.question(query, search.INDEX.ask(raw, query, depth=1).words)
    score = max((hit.score for hit in hits), default=0.0)
    near = max((hit.values.get("nearness", 0.0) for hit in hits), default=0.0)
    return Observation(own, score, near if model else None, about.known, about.weight)

"""Pure figures of retrieval quality: metrics of one ranking, means, intervals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DEPTH = 100
CUTS = (1, 5, 10)
FORBIDDEN_CUT = 5
METRICS = (
    *(f"R@{k}" for k in CUTS),
    *(f"any@{k}" for k in CUTS),
    "MRR",
    "nDCG@10",
)

RESAMPLES = 10_000
SEED = 1729
_CHUNK = 250


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Spread:
    """How values are distributed: their number, 10 %, 50 % and 90 % points."""

    count: int
    p10: float
    median: float
    p90: float


def score(ranking: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """Metrics of one ranking (best first, distinct ids) for a query with an answer.

    R@k: share of the relevant documents in the first k. any@k: 1 if one of them is
    there. MRR: 1 / rank of the first relevant one within the first 100, else 0.
    nDCG@10: binary gains, discount log2(rank + 1), over that of an ideal ranking
    (Järvelin and Kekäläinen 2002). `relevant` must not be empty.
    """
    wanted = frozenset(relevant)
    places = [i for i, key in enumerate(ranking[:DEPTH], 1) if key in wanted]
    found = {k: sum(place <= k for place in places) for k in CUTS}
    ideal = sum(_gain(place) for place in range(1, min(10, len(wanted)) + 1))
    return {
        **{f"R@{k}": found[k] / len(wanted) for k in CUTS},
        **{f"any@{k}": float(found[k] > 0) for k in CUTS},
        "MRR": 1 / places[0] if places else 0.0,
        "nDCG@10": sum(_gain(place) for place in places if place <= 10) / ideal,
    }


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)


def has_forbidden(ranking: Sequence[str], forbidden: Collection[str]) -> bool:
    """Whether a document that must not come back is among the first 5."""
    return not frozenset(forbidden).isdisjoint(ranking[:FORBIDDEN_CUT])


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of each metric over queries; NaN without any."""
    if not rows:
        return dict.fromkeys(METRICS, math.nan)
    return {name: sum(row[name] for row in rows) / len(rows) for name in METRICS}


def by_kind(
    kinds: Sequence[str], rows: Sequence[Mapping[str, float]]
) -> dict[str, tuple[int, dict[str, float]]]:
    """For each kind of query, by name: how many there are and their means."""
    groups: dict[str, list[Mapping[str, float]]] = {}
    for kind, row in zip(kinds, rows, strict=True):
        groups.setdefault(kind, []).append(row)
    return {kind: (len(groups[kind]), mean(groups[kind])) for kind in sorted(groups)}


def session_ranking(
    ranking: Iterable[str], session_of: Mapping[str, str]
) -> tuple[str, ...]:
    """The distinct sessions of the documents, in the order of the document ranking."""
    return tuple(dict.fromkeys(session_of[key] for key in ranking))


def difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Difference:
    """Mean of `second - first` over the same queries, with its 95 % interval.

    Paired percentile bootstrap over queries (Efron and Tibshirani 1993, ch. 13);
    the seed makes it repeatable. Raises ValueError for unequal lengths.
    """
    if len(first) != len(second):
        raise ValueError("paired values must be as many on both sides")
    deltas = np.subtract(second, first, dtype=np.float64)
    if not len(deltas):
        return Difference(math.nan, math.nan, math.nan)
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            deltas[random.integers(0, len(deltas), (size, len(deltas)))].mean(axis=1)
            for size in _chunks(resamples)
        ]
    )
    low, high = np.percentile(means, (2.5, 97.5))
    return Difference(float(deltas.mean()), float(low), float(high))


def _chunks(total: int) -> list[int]:
    # The resamples of thousands of queries would not fit into memory at once.
    sizes = [_CHUNK] * (total // _CHUNK)
    return [*sizes, total % _CHUNK] if total % _CHUNK else sizes


def spread(values: Sequence[float]) -> Spread:
    """Number and quantiles (linear interpolation) of values; NaN without any."""
    if not values:
        return Spread(0, math.nan, math.nan, math.nan)
    p10, median, p90 = (float(v) for v in np.percentile(values, (10, 50, 90)))
    return Spread(len(values), p10, median, p90)


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a value of `positive` is above one of `negative`; ties count half.

    The area under the ROC curve (Mann and Whitney 1947); NaN if a side is empty.
    """
    if not positive or not negative:
        return math.nan
    ordered = np.sort(np.asarray(negative, np.float64))
    below = np.searchsorted(ordered, positive, side="left")
    up_to = np.searchsorted(ordered, positive, side="right")
    return float((below + up_to).mean() / 2 / len(ordered))

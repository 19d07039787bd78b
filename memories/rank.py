"""Pure ranking: strengths, fusion, order, budget."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import Any, NamedTuple

from icm_site import text

ENGINES = ("default", "blend", "additive")

MIN_DEPTH, DEPTH_PER_HIT, MAX_DEPTH = 100, 4, 2000
MIN_LIMIT, MAX_LIMIT = 1, 500
UNRANKED = MAX_DEPTH + 1


# The relevance from which a memory is shown to somebody who did not ask for it.
HOOK_FLOOR = 0.5
# What an agent sees of one memory: a thousand tokens, as clients refuse answers of some
# tens of thousands.
SHOWN_CHARS = 4000


@dataclass(frozen=True)
class WordHits:
    """One query word in the index: rows that hold it, and which candidates do."""

    document_count: int
    memory_ids: frozenset[int]


@dataclass(frozen=True)
class Neighbours:
    """The vector arm's answer.

    `order`: memory ids, nearest first. `nearness` and `cosines`: by memory id, for
    `order` and for every candidate asked about that has a vector. `cosines` are
    plain; `nearness` is the cosine seen from the centre of the stored vectors, which
    is about 0 for unrelated texts whatever the model (see centre.asked_from too).
    `floor`: the plain cosine of the query with that centre.
    """

    order: tuple[int, ...] = ()
    nearness: Mapping[int, float] = field(default_factory=dict)
    cosines: Mapping[int, float] = field(default_factory=dict)
    floor: float = 0.0


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Hit(NamedTuple):
    """One memory found.

    `score` lies in (0, 1] and orders the hits; 0 marks the substring fallback.
    `relevance`, 0-1, says how sure it is that the memory has to do with the query (see
    memories/relevance.py). `ranks`: the rank in each arm, from 1. `values`: `bm25` and
    `text` (strength) of the text arm, `cosine` and `nearness` of the vector arm,
    `session` and `period` (what these add). `decided` names what gave the largest part
    of the score: text, vector, session, period or substring. `replaces`: superseded
    memories that led here. `collapsed`: near-duplicates left out in favour of this one.
    """

    memory_id: int
    score: float
    ranks: Mapping[str, int] = _NOTHING
    values: Mapping[str, float] = _NOTHING
    decided: str = ""
    replaces: tuple[int, ...] = ()
    collapsed: tuple[int, ...] = ()
    relevance: float = 0.0


@dataclass(frozen=True)
class Arms:
    """What the arms found, by memory id.

    `bm25`: the text arm's rows, best first. `strengths`: 0-1, of the rows of any arm
    that hold a word. `substring`: the fallback's rows, if asked. `dated`: those of the
    periods that the query names, the newest first. `known`: the part, 0-1, of what is
    asked for that some memory holds.
    """

    bm25: Mapping[int, float]
    strengths: Mapping[int, float]
    neighbours: Neighbours | None = None
    substring: tuple[int, ...] = ()
    dated: tuple[int, ...] = ()
    known: float = 1.0

    @cached_property
    def ranks(self) -> dict[str, dict[int, int]]:
        """By arm, the rank of each memory id, from 1."""
        near = self.neighbours.order if self.neighbours else ()
        orders = {
            "text": self.bm25,
            "vector": near,
            "substring": self.substring,
            "period": self.dated,
        }
        return {
            arm: dict(zip(of, range(1, len(of) + 1), strict=True))
            for arm, of in orders.items()
        }

    @cached_property
    def best_ranks(self) -> dict[int, int]:
        """The best single rank of each memory in any arm."""
        best: dict[int, int] = {}
        for places in self.ranks.values():
            both = best.keys() & places.keys()
            better = {i: min(best[i], places[i]) for i in both}
            best |= places | better
        return best


def clamp_limit(limit: int) -> int:
    """The number of hits asked for, within 1-500."""
    return max(MIN_LIMIT, min(limit, MAX_LIMIT))


def arm_depth(limit: int, override: int | None = None) -> int:
    """Candidates each arm returns: 4 x limit within 100-2000; an override 20-2000."""
    if override is not None:
        return max(20, min(override, MAX_DEPTH))
    return max(MIN_DEPTH, min(DEPTH_PER_HIT * limit, MAX_DEPTH))


def word_weight(document_count: int, total: int) -> float:
    """Inverse document frequency that stays positive: ln(1 + (N-n+0.5)/(n+0.5))."""
    return math.log1p((total - document_count + 0.5) / (document_count + 0.5))


def _fts5_weight(document_count: int, total: int) -> float:
    # What bm25() of FTS5 uses: the classic formula with a floor of 1e-6.
    ratio = (total - document_count + 0.5) / (document_count + 0.5)
    return max(math.log(ratio) if ratio > 0 else 0.0, 1e-6)


# Half of the strength is which words matched, half how densely they occur:
# coverage alone favours long texts, BM25 alone favours very short ones.
COVERAGE_SHARE = 0.5
# Density at which a text could hardly be more to the point: short, or repeating it.
FULL_DENSITY = 1.5


def text_strengths(
    bm25: Mapping[int, float], words: Sequence[WordHits], total: int
) -> dict[int, float]:
    """How well each candidate answers the words: 0-1, comparable between queries.

    `bm25`: positive FTS5 scores by memory id. `total`: rows in the index. Strength =
    coverage x (share + (1 - share) x density): coverage is the part of the query's
    summed word weights that the row holds, density its BM25 over that of a text of
    average length with each matched word once (full at 1.5).
    """
    whole = sum(word_weight(w.document_count, total) for w in words)
    held = dict.fromkeys(bm25, 0.0)
    plain = dict.fromkeys(bm25, 0.0)
    for word in words:
        weight = word_weight(word.document_count, total)
        fts5_weight = _fts5_weight(word.document_count, total)
        for memory_id in word.memory_ids:
            held[memory_id] += weight
            plain[memory_id] += fts5_weight
    return {
        i: held[i] / whole * _denseness(score / plain[i])
        for i, score in bm25.items()
        if plain[i] > 0
    }


def _denseness(density: float) -> float:
    share = min(1.0, density / FULL_DENSITY)
    return COVERAGE_SHARE + (1 - COVERAGE_SHARE) * share


VECTOR_SHARE = 0.5
# Nearness that counts as full strength: a text that answers the question. What is
# nearer gains by a smaller slope, so that the order of several such texts is kept.
FULL_NEARNESS, SLOPE_BEYOND = 0.5, 0.5


def vector_strength(nearness: float) -> float:
    """A nearness as strength 0-1; what is not a number counts as 0."""
    return min(nearness / FULL_NEARNESS, 1.0) if nearness > 0 else 0.0


def _near_strengths(values: Mapping[int, float]) -> dict[int, float]:
    """Strengths of the default fusion: up to 1.5, of a nearness of 1."""
    least = 1.0 - SLOPE_BEYOND
    return {
        i: (
            value / FULL_NEARNESS
            if value < FULL_NEARNESS
            else least + SLOPE_BEYOND * value / FULL_NEARNESS
        )
        if value > 0
        else 0.0
        for i, value in values.items()
    }


def _within_1(values: Mapping[int, float]) -> dict[int, float]:
    return {i: min(value, 1.0) if value > 0 else 0.0 for i, value in values.items()}


def fuse(arms: Arms, engine: str = "default") -> dict[int, float]:
    """One score in 0-1 by memory id, over the rows of both arms.

    Without a vector arm the score is the text strength. `blend` is 0.3 x strength +
    0.7 x cosine, `additive` min(1, cosine + 0.25 x strength).
    """
    strengths, neighbours = arms.strengths, arms.neighbours
    if neighbours is None:
        return dict(strengths)
    near = _plain_cosines
    if engine == "default":
        strengths, near = _of_the_known(arms), _default_values
    values = near(strengths, neighbours)
    by_words, by_vector = FUSIONS[engine]
    of_words = strengths.get
    scores = {
        i: by_words * of_words(i, 0.0) + by_vector * near for i, near in values.items()
    }
    if max(scores.values(), default=0.0) <= 1:
        return scores
    return {i: min(1.0, score) for i, score in scores.items()}


# Words that no memory holds tell no candidates apart, so the others weigh more against
# the vectors: by the root of their part, taken as this much at least.
LEAST_KNOWN = 0.15


def _known_scale(known: float) -> float:
    return float(max(known, LEAST_KNOWN) ** -0.5)


def _of_the_known(arms: Arms) -> Mapping[int, float]:
    """Strengths that vectors are weighed against."""
    if arms.known >= 1:
        return arms.strengths
    scale = _known_scale(arms.known)
    return {i: min(1.0, scale * strength) for i, strength in arms.strengths.items()}


# The shares of words and vector.
FUSIONS = {
    "default": (1 - VECTOR_SHARE, VECTOR_SHARE),
    "blend": (0.3, 0.7),
    "additive": (0.25, 1.0),
}


def _default_values(
    strengths: Mapping[int, float], neighbours: Neighbours
) -> dict[int, float]:
    known = _near_strengths(neighbours.nearness)
    return _with_missing(known, strengths, ceiling=0.5, floor=0.0)


def _plain_cosines(
    strengths: Mapping[int, float], neighbours: Neighbours
) -> dict[int, float]:
    known = _within_1(neighbours.cosines)
    return _with_missing(known, strengths, ceiling=1.0, floor=neighbours.floor)


def _with_missing(
    known: dict[int, float],
    strengths: Mapping[int, float],
    *,
    ceiling: float,
    floor: float,
) -> dict[int, float]:
    """`known` and a value for each row without a vector: what its words are worth.

    Not below the best row that none of the words led to (up to `ceiling`), so that
    rows whose vectors are still to come do not sink under unrelated ones.
    """
    missing = strengths.keys() - known.keys()
    if not missing:
        return known
    unmatched = (near for i, near in known.items() if i not in strengths)
    least = min(ceiling, max(unmatched, default=0.0))
    worth = {i: max(least, floor + (1 - floor) * strengths[i]) for i in missing}
    return known | worth


# What it adds to be of a period that the query names, and what it is worth alone.
PERIOD_SHARE, PERIOD_ALONE = 0.3, 0.1


def with_period(
    scores: Mapping[int, float], dated: Collection[int]
) -> dict[int, float]:
    """Scores with those of the period raised: 1 - (1 - score)(1 - share)."""
    raised = {
        i: 1 - (1 - scores[i]) * (1 - PERIOD_SHARE)
        if scores.get(i, 0.0) > 0
        else PERIOD_ALONE
        for i in dated
    }
    return {**scores, **raised}


def ordered(scores: Mapping[int, float], arms: Arms) -> list[int]:
    """Ids of the rows that score above 0: by score, best single rank, id."""
    worth = [-score for score in scores.values()]
    places = map(arms.best_ranks.get, scores, repeat(UNRANKED))
    found = sorted(zip(worth, places, scores, strict=False))
    return [memory_id for score, _, memory_id in found if score < 0]


def explained(memory_id: int, score: float, part: float, arms: Arms) -> Hit:
    """The hit of a row: its score and what each arm gave; `part`: by its session."""
    found = [
        ("bm25", arms.bm25.get(memory_id)),
        ("text", arms.strengths.get(memory_id)),
    ]
    if near := arms.neighbours:
        found.append(("cosine", near.cosines.get(memory_id)))
        found.append(("nearness", near.nearness.get(memory_id)))
    values = {name: value for name, value in found if value is not None}
    if part > 0:
        values["session"] = part
    if memory_id in arms.ranks["period"]:
        values["period"] = PERIOD_SHARE
    ranks = {arm: of[memory_id] for arm, of in arms.ranks.items() if memory_id in of}
    decided = _decided(values, _share_of_words(arms))
    return Hit(memory_id, score, ranks, values, decided)


def _share_of_words(arms: Arms) -> float:
    if arms.neighbours is None:
        return 1.0
    return (1 - VECTOR_SHARE) * _known_scale(arms.known)


def _decided(values: Mapping[str, float], by_words: float) -> str:
    """What gave the largest part of a score; `by_words`: what a strength is worth."""
    best, arm = by_words * values.get("text", 0.0), "text"
    if "nearness" in values:
        near = VECTOR_SHARE * vector_strength(values["nearness"])
        best, arm = (near, "vector") if near > best else (best, arm)
    for name in ("session", "period"):
        if values.get(name, 0.0) > best:
            best, arm = values[name], name
    return arm


def fit_budget(rendered: Sequence[str], max_tokens: int) -> list[int]:
    """Indexes of the texts that fit a token budget, in rank order.

    One that does not fit is skipped and a later smaller one may enter; if none fits,
    the first is returned whole.
    """
    chosen, left = [], max_tokens
    for index, body in enumerate(rendered):
        cost = text.token_cost(body)
        if cost <= left:
            chosen.append(index)
            left -= cost
    return chosen or list(range(min(1, len(rendered))))

"""Pure ranking: strengths, fusion, order, collapse of near-duplicates, budget."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from icm_site import text

ENGINES = ("default", "blend", "additive")

MIN_DEPTH, DEPTH_PER_HIT, MAX_DEPTH = 100, 4, 2000
MIN_LIMIT, MAX_LIMIT = 1, 500
DUPLICATE_JACCARD = 0.6


@dataclass(frozen=True)
class WordHits:
    """One query word in the index: rows that hold it, and which candidates do."""

    document_count: int
    memory_ids: frozenset[int]


@dataclass(frozen=True)
class Neighbours:
    """The vector arm's answer.

    `order`: memory ids, nearest first. `cosines`: exact cosine by memory id, for
    `order` and for every candidate asked about that has a vector. `floor`: the
    cosine of this query with an unrelated memory.
    """

    order: tuple[int, ...] = ()
    cosines: Mapping[int, float] = field(default_factory=dict)
    floor: float = 0.0


@dataclass(frozen=True)
class Hit:
    """One memory found.

    `score` lies in (0, 1] and means the same for every query; 0 marks the substring
    fallback. `ranks` and `values` hold, by arm, the rank (from 1) and the raw value
    (text: strength, bm25; vector: cosine). `decided` names the arm that gave the
    larger part of the score. `replaces`: superseded memories that led here.
    `collapsed`: near-duplicates left out in favour of this one.
    """

    memory_id: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    decided: str = ""
    replaces: tuple[int, ...] = ()
    collapsed: tuple[int, ...] = ()

    @property
    def order_key(self) -> tuple[float, int, int]:
        """Total order: score, best single rank, id. A NaN counts as 0."""
        score = 0.0 if math.isnan(self.score) else self.score
        return -score, min(self.ranks.values(), default=MAX_DEPTH + 1), self.memory_id


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


def text_strengths(
    bm25: Mapping[int, float], words: Sequence[WordHits], total: int
) -> dict[int, float]:
    """How well each candidate answers the words: 0-1, comparable between queries.

    `bm25`: positive FTS5 scores by memory id. `total`: rows in the index. Strength =
    coverage x (share + (1 - share) x density): coverage is the part of the query's
    summed word weights that the row holds, density its BM25 over that of a text of
    average length with each matched word once.
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
        memory_id: min(
            1.0,
            held[memory_id]
            / whole
            * (COVERAGE_SHARE + (1 - COVERAGE_SHARE) * score / plain[memory_id]),
        )
        for memory_id, score in bm25.items()
        if plain[memory_id] > 0
    }


VECTOR_SHARE = 0.5
# Cosine above the floor that counts as full strength.
FULL_GAIN = 0.12


def vector_strength(cosine: float, floor: float) -> float:
    """A cosine as strength 0-1: how far it lies above that of unrelated memories."""
    if math.isnan(cosine):
        return 0.0
    return max(0.0, min(1.0, (cosine - floor) / FULL_GAIN))


def _default(strength: float, cosine: float, floor: float) -> float:
    near = vector_strength(cosine, floor)
    return (1 - VECTOR_SHARE) * strength + VECTOR_SHARE * near


def _blend(strength: float, cosine: float, _floor: float) -> float:
    return 0.3 * strength + 0.7 * max(0.0, cosine)


def _additive(strength: float, cosine: float, _floor: float) -> float:
    return min(1.0, max(0.0, cosine) + 0.25 * strength)


FUSIONS: dict[str, Callable[[float, float, float], float]] = {
    "default": _default,
    "blend": _blend,
    "additive": _additive,
}


def fuse(
    strengths: Mapping[int, float],
    neighbours: Neighbours | None,
    engine: str = "default",
) -> dict[int, float]:
    """One score in 0-1 by memory id, over the rows of both arms.

    Without a vector arm the score is the text strength. A row without a vector
    takes the cosine that its text strength would be worth, so it stands where its
    words put it and never below unrelated rows that have a vector.
    """
    if neighbours is None:
        return dict(strengths)
    combine, floor = FUSIONS[engine], neighbours.floor
    scores = {}
    for memory_id in {*strengths, *neighbours.order}:
        strength = strengths.get(memory_id, 0.0)
        cosine = neighbours.cosines.get(memory_id, math.nan)
        if math.isnan(cosine):
            cosine = floor + strength * _imputed_span(engine, floor)
        scores[memory_id] = combine(strength, cosine, floor)
    return scores


def _imputed_span(engine: str, floor: float) -> float:
    return FULL_GAIN if engine == "default" else 1.0 - floor


def decided_by(strength: float, cosine: float | None, floor: float) -> str:
    """The arm that gave the larger part of the score."""
    near = 0.0 if cosine is None else vector_strength(cosine, floor)
    text_part, vector_part = (1 - VECTOR_SHARE) * strength, VECTOR_SHARE * near
    return "text" if text_part >= vector_part else "vector"


_NEGATION_WORDS = """
no not never none nothing neither nor without cannot don doesn didn isn aren wasn
weren won wouldn shouldn couldn hasn haven hadn disabled off false deny denied
ne pas jamais sans aucun nicht kein keine nie ohne non mai senza nunca sin
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())


def is_near_duplicate(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words say the same: Jaccard > 0.6 and no contradiction.

    Texts that differ in a word with a digit (number, version, date) or in a negation
    stay apart.
    """
    small, large = sorted((len(one), len(other)))
    if not small or small <= DUPLICATE_JACCARD * large:
        return False
    if len(one & other) <= DUPLICATE_JACCARD * len(one | other):
        return False
    return not any(_contradicts(word) for word in one ^ other)


def _contradicts(word: str) -> bool:
    return word in _NEGATIONS or any(map(str.isdigit, word))


_WORD = re.compile(r"\w+")


def word_set(summary: str) -> frozenset[str]:
    """The distinct words of a text's first 2 000 characters, as search sees them."""
    return frozenset(_WORD.findall(text.index_text(summary[:2000])))


def collapse(hits: Sequence[Hit], texts: Callable[[int], str], limit: int) -> list[Hit]:
    """The first `limit` hits, near-duplicates of a better one folded into it.

    `texts` gives the summary of a memory id; it is asked only as far as needed.
    """
    kept: list[tuple[Hit, frozenset[str]]] = []
    folded: dict[int, list[int]] = {}
    for hit in hits:
        if len(kept) == limit:
            break
        words = word_set(texts(hit.memory_id))
        twin = next((k for k, seen in kept if is_near_duplicate(words, seen)), None)
        if twin is None:
            kept.append((hit, words))
        else:
            folded.setdefault(twin.memory_id, []).append(hit.memory_id)
    return [_with_collapsed(hit, folded.get(hit.memory_id, ())) for hit, _ in kept]


def _with_collapsed(hit: Hit, twins: Collection[int]) -> Hit:
    if not twins:
        return hit
    return Hit(
        memory_id=hit.memory_id,
        score=hit.score,
        ranks=hit.ranks,
        values=hit.values,
        decided=hit.decided,
        replaces=hit.replaces,
        collapsed=tuple(twins),
    )


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

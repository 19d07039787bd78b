"""Pure ranking: strengths, fusion, order, collapse of near-duplicates, budget."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from icm_site import text

ENGINES = ("default", "blend", "additive")

MIN_DEPTH, DEPTH_PER_HIT, MAX_DEPTH = 100, 4, 2000
MIN_LIMIT, MAX_LIMIT = 1, 500
DUPLICATE_JACCARD = 0.6
COMPARED_CHARS = 2000
UNRANKED = MAX_DEPTH + 1


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
    is about 0 for unrelated texts whatever the model. `floor`: the plain cosine of
    the query with that centre.
    """

    order: tuple[int, ...] = ()
    nearness: Mapping[int, float] = field(default_factory=dict)
    cosines: Mapping[int, float] = field(default_factory=dict)
    floor: float = 0.0


@dataclass(frozen=True)
class Hit:
    """One memory found.

    `score` lies in (0, 1] and means the same for every query; 0 marks the substring
    fallback. `ranks`: the rank in each arm, from 1. `values`: `bm25` and `text`
    (strength) of the text arm, `cosine` and `nearness` of the vector arm, `session`
    (what memories stored beside it add). `decided` names what gave the largest part
    of the score: text, vector, session or substring. `replaces`: superseded memories
    that led here. `collapsed`: near-duplicates left out in favour of this one.
    """

    memory_id: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    decided: str = ""
    replaces: tuple[int, ...] = ()
    collapsed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Arms:
    """What the arms found, by memory id.

    `bm25`: the text arm's `ranked` rows best first, then those of its rows that only
    the vector arm found. `strengths`: 0-1. `substring`: the fallback's rows, if asked.
    """

    bm25: Mapping[int, float]
    strengths: Mapping[int, float]
    neighbours: Neighbours | None = None
    ranked: int = 0
    substring: tuple[int, ...] = ()

    @cached_property
    def ranks(self) -> dict[str, dict[int, int]]:
        """By arm, the rank of each memory id, from 1."""
        near = self.neighbours.order if self.neighbours else ()
        orders = {
            "text": islice(self.bm25, self.ranked),
            "vector": near,
            "substring": self.substring,
        }
        return {arm: {i: n for n, i in enumerate(of, 1)} for arm, of in orders.items()}

    def best_rank(self, memory_id: int) -> int:
        """The best single rank of a memory in any arm."""
        places = (of.get(memory_id, UNRANKED) for of in self.ranks.values())
        return min(places)


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


VECTOR_SHARE = 0.45
# Nearness that counts as full strength: a text that answers the question.
FULL_NEARNESS = 0.5


def vector_strength(nearness: float) -> float:
    """A nearness as strength 0-1; what is not a number counts as 0."""
    return _within_1(nearness / FULL_NEARNESS)


def _within_1(value: float) -> float:
    return min(1.0, value) if value > 0 else 0.0


def fuse(arms: Arms, engine: str = "default") -> dict[int, float]:
    """One score in 0-1 by memory id, over the rows of both arms.

    Without a vector arm the score is the text strength. `blend` is 0.3 x strength +
    0.7 x cosine, `additive` min(1, cosine + 0.25 x strength).
    """
    strengths, neighbours = arms.strengths, arms.neighbours
    if neighbours is None:
        return dict(strengths)
    near = _default_values if engine == "default" else _plain_cosines
    values = near(strengths, neighbours)
    combine = FUSIONS[engine]
    return {i: combine(strengths.get(i, 0.0), value) for i, value in values.items()}


FUSIONS: dict[str, Callable[[float, float], float]] = {
    "default": lambda text, near: (1 - VECTOR_SHARE) * text + VECTOR_SHARE * near,
    "blend": lambda text, near: 0.3 * text + 0.7 * near,
    "additive": lambda text, near: min(1.0, near + 0.25 * text),
}


def _default_values(
    strengths: Mapping[int, float], neighbours: Neighbours
) -> dict[int, float]:
    known = {i: vector_strength(near) for i, near in neighbours.nearness.items()}
    return _with_missing(known, strengths, ceiling=0.5, floor=0.0)


def _plain_cosines(
    strengths: Mapping[int, float], neighbours: Neighbours
) -> dict[int, float]:
    known = {i: _within_1(cosine) for i, cosine in neighbours.cosines.items()}
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
    unmatched = (near for i, near in known.items() if i not in strengths)
    least = min(ceiling, max(unmatched, default=0.0))
    missing = {
        i: max(least, floor + (1 - floor) * strength)
        for i, strength in strengths.items()
        if i not in known
    }
    return known | missing


# What the better of the two memories at distance 1 and 2 in the same session adds.
SESSION_SHARES = (0.4, 0.2)


def session_parts(
    scores: Mapping[int, float], sessions: Mapping[int, str]
) -> dict[int, float]:
    """What the memories stored next to it add to each memory of `sessions`, 0-0.6.

    An answer often stands beside the memory that has the words of the question.
    """
    parts = {}
    for memory_id, session in sessions.items():
        part = 0.0
        for distance, share in enumerate(SESSION_SHARES, 1):
            beside = (memory_id - distance, memory_id + distance)
            near = (scores.get(i, 0.0) for i in beside if sessions.get(i) == session)
            part += share * max(near, default=0.0)
        if part > 0:
            parts[memory_id] = part
    return parts


def beside(memory_ids: Collection[int]) -> set[int]:
    """The ids themselves and those near enough to lend them something."""
    reach = range(-len(SESSION_SHARES), len(SESSION_SHARES) + 1)
    return {i + step for i in memory_ids for step in reach}


def with_parts(
    scores: Mapping[int, float], parts: Mapping[int, float]
) -> dict[int, float]:
    """Scores raised by what the session adds: 1 - (1 - score)(1 - part)."""
    return {
        i: 1 - (1 - scores.get(i, 0.0)) * (1 - parts.get(i, 0.0))
        for i in {*scores, *parts}
    }


def ordered(scores: Mapping[int, float], arms: Arms) -> list[int]:
    """Ids of the rows that score above 0: by score, best single rank, id.

    A score that is not a number counts as 0.
    """
    found = (i for i, score in scores.items() if score > 0)
    return sorted(found, key=lambda i: (-scores[i], arms.best_rank(i), i))


def explained(memory_id: int, score: float, part: float, arms: Arms) -> Hit:
    """The hit of a row: its score and what each arm gave; `part`: by its session."""
    near = arms.neighbours or Neighbours()
    sources = {
        "bm25": arms.bm25,
        "text": arms.strengths,
        "cosine": near.cosines,
        "nearness": near.nearness,
        "session": {memory_id: part} if part > 0 else {},
    }
    values = {name: of[memory_id] for name, of in sources.items() if memory_id in of}
    ranks = {arm: of[memory_id] for arm, of in arms.ranks.items() if memory_id in of}
    decided = _decided(values, alone=arms.neighbours is None)
    return Hit(memory_id, score, ranks, values, decided)


def _decided(values: Mapping[str, float], *, alone: bool) -> str:
    """What gave the largest part of a score; `alone`: there is no vector arm."""
    text_part = values.get("text", 0.0) * (1 if alone else 1 - VECTOR_SHARE)
    parts = {
        "text": text_part,
        "vector": VECTOR_SHARE * vector_strength(values.get("nearness", 0.0)),
        "session": values.get("session", 0.0),
    }
    return max(parts, key=lambda arm: parts[arm])


_NEGATION_WORDS = """
no not never none nothing neither nor without cannot don doesn didn isn aren wasn
weren won wouldn shouldn couldn hasn haven hadn disabled off false deny denied
ne pas jamais sans aucun nicht kein keine nie ohne non mai senza nunca sin
"""
_NEGATIONS = text.word_set(_NEGATION_WORDS)


def is_near_duplicate(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words say the same: Jaccard > 0.6 and no contradiction.

    Texts stay apart that differ in a word with a digit (number, version, date), in a
    negation, or where each has a content word in place of the other's: a changed
    value looks like that.
    """
    small, large = sorted((len(one), len(other)))
    if not small or small <= DUPLICATE_JACCARD * large:
        return False
    if len(one & other) <= DUPLICATE_JACCARD * len(one | other):
        return False
    if any(_decides(word) for word in one ^ other):
        return False
    return not (_own_words(one, other) and _own_words(other, one))


def _decides(word: str) -> bool:
    return word in _NEGATIONS or any(map(str.isdigit, word))


def _own_words(one: frozenset[str], other: frozenset[str]) -> set[str]:
    """Content words of `one` that `other` has in no form (test, tests, tested)."""
    return {
        word
        for word in one - other - text.STOP_WORDS
        if not any(w.startswith(word) or word.startswith(w) for w in other - one)
    }


def collapse(
    hits: Iterable[Hit], texts: Callable[[int], tuple[str, str]], limit: int
) -> list[Hit]:
    """The first `limit` hits, near-duplicates of a better one folded into it.

    `texts` gives topic and summary of a memory id; it is asked only as far as needed.
    In different topics only the same words are a duplicate.
    """
    kept: list[tuple[Hit, str, frozenset[str]]] = []
    folded: dict[int, list[int]] = {}
    for hit in hits:
        if len(kept) == limit:
            break
        topic, summary = texts(hit.memory_id)
        words = text.word_set(summary[:COMPARED_CHARS])
        twin = next(
            (
                other.memory_id
                for other, place, seen in kept
                if words == seen or (place == topic and is_near_duplicate(words, seen))
            ),
            None,
        )
        if twin is None or not words:
            kept.append((hit, topic, words))
        else:
            folded.setdefault(twin, []).append(hit.memory_id)
    return [
        replace(hit, collapsed=tuple(folded[hit.memory_id]))
        if hit.memory_id in folded
        else hit
        for hit, *_ in kept
    ]


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

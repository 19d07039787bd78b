"""Which stored text a new one repeats, changes or contradicts; no database."""

from __future__ import annotations

import heapq
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz, process

from memories import guard_words as table
from memories.guards import (
    Change,
    changes,
    difference,
    negations,
    opposition,
    overlap,
    same_letters,
    same_text,
    unit_case_differs,
)
from memories.reading import Reading, fold, read, readings
from memories.rewording import reworded

# Thresholds of a suggestion, measured: docs/duplicates.md. Likeness and cosine are
# 0..1; overlap is the share of common content words. Vectors of the packaged model
# put unrelated texts at 0.85, in Chinese at 0.94.
NEAR, NEAR_OVERLAP = 0.74, 0.5
FLOOR, NEGATED_OVERLAP = 0.6, 0.6
COSINE, COSINE_OVERLAP = 0.955, 0.35
CONTRADICTION_OVERLAP = 0.5

# Likeness is quadratic in the length: it looks at the beginning of long texts. What
# follows is for the guards, which read the whole.
COMPARED = 4_000
# Up to so many characters words are looked for in another order too: ten times dearer.
SHORT = 200
# Rows ranked exactly for each one asked for.
RANKED = 3


@dataclass(frozen=True)
class Verdict:
    """What a new text is to an old one, and why.

    `same` is merged; `may_update` and `contradiction` are suggested; `different` is
    nothing. `likeness` is lexical, 0..1.
    """

    kind: Literal["same", "may_update", "contradiction", "different"]
    likeness: float
    reason: str


def likeness(first: str, second: str) -> float:
    """Lexical likeness of two texts, 0..1: the better of as written and words sorted.

    Case, blanks, Unicode form do not count, nor what follows `COMPARED` characters.
    """
    one, two = fold(first[:COMPARED]), fold(second[:COMPARED])
    return max(fuzz.ratio(one, two), fuzz.token_sort_ratio(one, two)) / 100


def judge(new: str, old: str, *, cosine: float | None) -> Verdict:
    """What `new` is to `old`; `cosine` is of their vectors, None without them."""
    first, second = readings(new, old)
    alike = likeness(new, old)
    if not (first.tokens and second.tokens):
        same = fold(new) == fold(old)
        return Verdict("same" if same else "different", alike, "no content words")
    found = [] if same_text(first, second) else changes(first, second)
    if unit_case_differs(first, second):
        return Verdict("contradiction", alike, "another unit")
    if not found or same_letters(first, second):
        return Verdict("same", alike, "the same words")
    if reworded(first, second):
        return Verdict("same", alike, "the same words in another order")
    return _refused(first, second, found, alike, cosine)


def _refused(
    new: Reading, old: Reading, found: list[Change], alike: float, cosine: float | None
) -> Verdict:
    """The verdict on two texts that are not one: is there a suggestion to make?"""
    if Counter(new.keys) == Counter(old.keys):
        return Verdict("may_update", alike, "the same words in another order")
    common = overlap(new, old)
    negated = negations(new) != negations(old)
    if not (
        (alike >= NEAR and common >= NEAR_OVERLAP)
        or (negated and alike >= FLOOR and common >= NEGATED_OVERLAP)
        or (cosine is not None and cosine >= COSINE and common >= COSINE_OVERLAP)
    ):
        return Verdict("different", alike, "too little in common")
    reason = "one of them is negated" if negated else opposition(found)
    if reason and common >= CONTRADICTION_OVERLAP:
        return Verdict("contradiction", alike, reason)
    return Verdict("may_update", alike, reason or difference(found[0]))


def candidates(
    new: str, rows: Sequence[tuple[int, str]], *, limit: int
) -> list[tuple[int, float]]:
    """The rows (id, text) of a topic that are worth judging, the likest first.

    At most `limit` pairs (id, likeness 0..1), all of likeness `FLOOR` or more.
    """
    texts = dict(enumerate(_coarse(text[:COMPARED]) for _, text in rows))
    wanted = _coarse(new[:COMPARED])
    found = _scores(wanted, texts, fuzz.ratio)
    if len(wanted) <= SHORT:
        short = {i: text for i, text in texts.items() if len(text) <= SHORT}
        for i, score in _scores(wanted, short, fuzz.token_sort_ratio).items():
            found[i] = max(score, found.get(i, 0.0))
    best = heapq.nlargest(RANKED * limit, found, key=lambda i: found[i])
    exact = ((rows[i][0], likeness(new, rows[i][1])) for i in best)
    return heapq.nlargest(
        limit, (hit for hit in exact if hit[1] >= FLOOR), key=lambda hit: hit[1]
    )


def _coarse(text: str) -> str:
    """`fold` without what costs most over thousands of rows."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def _scores(
    wanted: str, texts: dict[int, str], scorer: Callable[..., float]
) -> dict[int, float]:
    hits = process.extract(
        wanted, texts, scorer=scorer, limit=None, score_cutoff=100 * FLOOR
    )
    return {i: score for _, score, i in hits}


def richer(new: str, old: str) -> str:
    """Which of two texts that say the same stays: the newer, unless it says less.

    Fewer content words say less, and so does a text that has lost its capitals.
    """
    return old if _says(old) > _says(new) else new


def _says(text: str) -> tuple[int, bool]:
    words = sum(token.key not in table.ALL_FILLERS for token in read(text))
    return words, not (text.islower() or text.isupper())

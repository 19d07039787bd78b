"""Which hits say the same as a better one; pure."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from icm_site import text
from memories.rank import Hit

DUPLICATE_JACCARD = 0.6
COMPARED_CHARS = 2000

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
    common = len(one & other)
    if common <= DUPLICATE_JACCARD * (len(one) + len(other) - common):
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
        words = _words(summary[:COMPARED_CHARS])
        for other, place, seen in kept if words else ():
            if words == seen or (place == topic and is_near_duplicate(words, seen)):
                folded.setdefault(other.memory_id, []).append(hit.memory_id)
                break
        else:
            kept.append((hit, topic, words))
    return [
        hit._replace(collapsed=tuple(folded[hit.memory_id]))
        if hit.memory_id in folded
        else hit
        for hit, *_ in kept
    ]


# The same memories come up again and again.
_words = lru_cache(maxsize=2048)(text.word_set)

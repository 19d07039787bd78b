"""Which hits say the same as a better one; pure."""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from icm_site import later, text
from memories.rank import Hit

DUPLICATE_JACCARD = 0.6
COMPARED_CHARS = 2000
# Content words that one of two texts may have more: "the API (server) uses port 8080".
MOST_OWN_WORDS = 1
# Options, what has separators inside, and what changes case inside.
_NAME = later.pattern(
    r"(?<![A-Za-z0-9_-])--?[A-Za-z][A-Za-z0-9_-]*+"
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[._/:@\\]++[A-Za-z0-9]++)++"
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]*?[a-z0-9][A-Z][A-Za-z0-9]*+"
)

# Of letters only Latin ones: a run of Chinese is a sentence.
_NUMBER = later.pattern(r"(?<![a-z\d])[a-z]*+\d[a-z\d]*")
# Beside the negations that the guards of storing know: what is left of "don't", and
# words for what is not so.
_OFF = """
don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn
disabled off false deny denied
"""


class Said(NamedTuple):
    """What is compared of a text; words are cut to their first letters, names not.

    `numbers` are the words with a digit, in their order.
    """

    words: frozenset[str]
    names: frozenset[str]
    numbers: tuple[str, ...]
    plain: str


# The same memories come up again and again.
@lru_cache(maxsize=2048)
def said(summary: str) -> Said:
    """What a text says, as far as it is compared."""
    names = frozenset(name.lower() for name in _NAME.findall(summary))
    numbers = tuple(dict.fromkeys(_NUMBER.findall(text.normalise(summary))))
    return Said(text.word_set(summary), names, numbers, summary.lower())


def is_near_duplicate(one: Said, other: Said) -> bool:
    """Whether two texts say the same: Jaccard > 0.6 of their words, no contradiction.

    Texts stay apart that differ in a word with a digit (number, version, date) or the
    order of these (from 5 to 10), in a negation, in a name (option, path, identifier),
    or where each has a content word in place of the other's: a changed value looks like
    that. So do those of which one has more than one content word more: whoever sees the
    other does not know of it.
    """
    common = len(one.words & other.words)
    if common <= DUPLICATE_JACCARD * (len(one.words) + len(other.words) - common):
        return False
    if one.numbers != other.numbers or not _negations().isdisjoint(
        one.words ^ other.words
    ):
        return False
    if not (_holds(one, other.names) and _holds(other, one.names)):
        return False
    own = _own_words(one.words, other.words), _own_words(other.words, one.words)
    return not all(own) and max(map(len, own)) <= MOST_OWN_WORDS


def _holds(one: Said, names: frozenset[str]) -> bool:
    """Whether a text has all these names, in upper or lower case."""
    return all(name in one.plain for name in names - one.names)


@cache
def _negations() -> frozenset[str]:
    # Few hits of a hook come so far.
    from memories.guard_words import NEGATIONS

    return text.word_set(" ".join((_OFF, *NEGATIONS)))


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
    kept: list[tuple[Hit, str, Said]] = []
    folded: dict[int, list[int]] = {}
    for hit in hits:
        if len(kept) == limit:
            break
        topic, summary = texts(hit.memory_id)
        new = said(summary[:COMPARED_CHARS])
        for other, place, seen in kept if new.words else ():
            if _is_equal(new, seen) or (
                place == topic and is_near_duplicate(new, seen)
            ):
                folded.setdefault(other.memory_id, []).append(hit.memory_id)
                break
        else:
            kept.append((hit, topic, new))
    return [
        hit._replace(collapsed=tuple(folded[hit.memory_id]))
        if hit.memory_id in folded
        else hit
        for hit, *_ in kept
    ]


def _is_equal(one: Said, other: Said) -> bool:
    # Every hit is held against all that are kept, and nearly all differ in their words.
    return one.words == other.words and one[:-1] == other[:-1]

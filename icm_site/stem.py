"""Words cut down to what their forms share, without knowing their language."""

import re
from functools import lru_cache

from icm_site.irregular import BASES

# Words keep their first letters only: the one stemmer that serves every inflected
# language without knowing which it is. Endings of English go before, so that "caching"
# becomes "cache" and not "cachin". Measured (docs/how-search-works.md).
STEM_LATIN, STEM_OTHER = 6, 5
LONGEST = 12
_LONG_WORD = re.compile(r"(?<![^\W_])(?:[^\W\d_]|[\u0900-\u0dff]){6,}")

_HAS_VOWEL = re.compile(".*[aeiouy]")
# Porter's measure: how often vowels are followed by consonants.
_ONCE = re.compile("^[^aeiou]?[^aeiouy]*[aeiouy]+[^aeiouy]")
_TWICE = re.compile("^[^aeiou]?[^aeiouy]*[aeiouy]+[^aeiouy]+[aeiouy]+[^aeiouy]")
_SHORT = re.compile("^[^aeiou]?[^aeiouy]*[aeiouy][^aeiouwxy]$")
_PAST = re.compile("(.*[aeiouy].*)(?:ed|ing)$")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A normalised word in the form that the text index holds.

    Letters of Latin script: an irregular English form becomes its base ("took",
    "take"), endings of English inflection go (steps 1 and 5 of Porter, "An algorithm
    for suffix stripping", 1980), then the first 6 letters stay; 5 of other scripts.
    "caching" and "caches" become "cach", "Häuser" stays "hauser".

    The index columns of every row hold this form: another one needs a migration, as
    memories/migrations/0009_irregular.py is one.
    """
    return _by_ending(BASES.get(word, word))


def irregular_by_ending() -> frozenset[str]:
    """What the irregular forms were in the index before they became their bases."""
    return frozenset(map(_by_ending, BASES))


def _by_ending(word: str) -> str:
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return first_letters(word)
    # The endings of a longer word lie beyond the letters that stay.
    return (word if len(word) > LONGEST else _english(word))[:STEM_LATIN]


def first_letters(text: str) -> str:
    """The text with each of its long words cut to its first letters."""
    return _LONG_WORD.sub(_beginning, text)


def _beginning(match: re.Match[str]) -> str:
    word = match[0]
    return word[: STEM_LATIN if word.isascii() else STEM_OTHER]


def _english(word: str) -> str:
    word = _without_past(_without_plural(word))
    if word[-1] == "y" and _HAS_VOWEL.match(word[:-1]):
        word = f"{word[:-1]}i"
    if word[-1] == "e" and len(word) > 2 and _drops_e(word[:-1]):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _TWICE.match(word[:-1]) else word


def _without_plural(word: str) -> str:
    if word[-1] != "s" or word[-2] == "s":
        return word
    # Unlike Porter, "status" stays itself, which "statuses" becomes.
    if len(word) > 4 and word[-2] == "u":
        return word
    return word[:-2] if word.endswith(("sses", "ies")) else word[:-1]


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _ONCE.match(word[:-3]) else word
    found = _PAST.match(word)
    if not found:
        return word
    rest = found[1]
    if rest.endswith(("at", "bl", "iz")) or _SHORT.match(rest):
        return f"{rest}e"
    # Unlike Porter, "adding" keeps the two letters that "add" has.
    double = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz"
    return rest[:-1] if double else rest


def _drops_e(rest: str) -> bool:
    return bool(_TWICE.match(rest) or (_ONCE.match(rest) and not _SHORT.match(rest)))

"""Text as search sees it: normal form, index words, match expressions, cuts."""

import hashlib
import re
import unicodedata
from collections.abc import Callable

from icm_site import later
from icm_site.stem import first_letters, stem

QUERY_BYTES = 10_000
QUERY_WORDS = 100
COMPOUND_CHARS = 64

# English function words, and what is left of contractions once the apostrophe
# has become a space ("don't" -> don, t). Words that carry a fact in some
# memory ("not", "no", "never", "before", "after") are absent on purpose.
_FUNCTION_WORDS = """
a about am an and any are aren as at be been being both but by can cannot could
couldn d did didn do does doesn doing don each either else etc for from had hadn
has hasn have haven having he her here hers herself hey him himself his how i if
in into is isn it its itself just let ll m may maybe me might mightn mine must my
myself of oh ok on or our ours ourselves please re s shall shan she should
shouldn so some such t than that the their theirs them themselves then there
these they this those through to too us ve very was wasn we were weren what
whatever when where whether which while who whom whose why will with won would
wouldn yes you your yours yourself yourselves
"""

# Scripts written without spaces between words (Han, kana, hangul with its glued
# particles, Thai, Lao, Myanmar, Khmer).
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED_RUN = later.pattern(f"[{_UNSPACED}]+")
# Possessive and anchored at the start of a run: linear on 64 kB without a space.
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[._-][A-Za-z0-9]++)*+")
_PLAIN_WORD = re.compile(r"\w+")
_ASCII_WORD = re.compile("[a-z0-9]+")
# Where an identifier has parts; most texts have none.
_COMPOUND = re.compile("[A-Za-z0-9][._-][A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_SEPARATOR = later.pattern("[._-]")
_CASE_CHANGE = later.pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Accents of Latin, Greek and Cyrillic; Hebrew points, Arabic vowel signs, tatweel.
_ACCENTS = later.pattern("[\u0300-\u036f\u0591-\u05bd\u0640\u064b-\u065f\u0670]+")
_ARABIC_LETTERS = str.maketrans("أإآةى", "اااهي")
_ARABIC_ARTICLE = later.pattern(
    "(?<![\u0620-\u064a])(?:[وبكف]?ال|لل)(?=[\u0620-\u064a]{3})"
)


def normalise(text: str) -> str:
    """One form for all spellings of a text: NFKC, case-folded, NFKC again.

    NFKC and not NFC, so that full-width letters, ligatures and half-width kana
    are found by their plain forms. Folding can break the form ("İ"), hence twice.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def flatten(text: str) -> str:
    """The text on one line: each run of line breaks becomes one space."""
    return re.sub(r"[\r\n\v\f\x85\u2028\u2029]+", " ", text)


def cut(text: str, limit_bytes: int) -> str:
    """The longest beginning of at most `limit_bytes` UTF-8 bytes, whole characters."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit_bytes:
        return text
    return encoded[: max(limit_bytes, 0)].decode("utf-8", "ignore")


def token_cost(text: str) -> int:
    """Tokens a text is charged for: a quarter of its characters, rounded up."""
    return -(-len(text) // 4)


def summary_hash(topic: str, summary: str) -> str:
    """SHA-256 (hex) that is equal for the same fact in the same topic.

    Case, outer and repeated white space and the Unicode form do not count.
    """
    parts = (" ".join(_lower(part).split()) for part in (topic, summary))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _lower(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def index_text(text: str) -> str:
    """What the full-text index stores of a text: its words in index form.

    They are separated by single spaces, so that `split` gives what the index holds:
    normalised, without accents, each cut down by `stem`. Unspaced scripts become
    overlapping pairs ("日本語" -> "日本 本語 語": the last character stands alone so
    that a prefix search for one character finds every place). An identifier gains its
    parts and its form without separators, which a leading "0" saves from being cut
    ("getUser" -> "getuse get user 0getuser", "UTF-8" -> "utf8 utf 8").
    """
    return " ".join(map(stem, _words(_pairs(_fold(text, _with_forms), tail=True))))


def _fold(text: str, identifier: Callable[[re.Match[str]], str]) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    if _COMPOUND.search(plain):
        plain = _IDENTIFIER.sub(identifier, plain)
    folded = normalise(plain)
    if folded.isascii():
        return folded
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    composed = unicodedata.normalize("NFC", bare).translate(_ARABIC_LETTERS)
    return _ARABIC_ARTICLE.sub("", composed)


def _parts(match: re.Match[str]) -> str:
    """The parts of an identifier."""
    return " ".join(_CASE_CHANGE.sub(" ", piece) for piece in _pieces(match[0]))


def _with_forms(match: re.Match[str]) -> str:
    """The parts of an identifier, and its forms as a whole."""
    whole, pieces = match[0], _pieces(match[0])
    parts = _parts(match)
    if parts == whole:
        return whole
    joined = "".join(pieces).lower()
    cut = first_letters(joined) != joined and len(whole) <= COMPOUND_CHARS
    return f"{joined} {parts} 0{joined}" if cut else f"{joined} {parts}"


def _pieces(identifier: str) -> list[str]:
    return _SEPARATOR.split(identifier)


def _pairs(text: str, *, tail: bool) -> str:
    if text.isascii():
        return text

    def split(match: re.Match[str]) -> str:
        run = match[0]
        pairs = [run[i : i + 2] for i in range(len(run) - 1)]
        if tail or not pairs:
            pairs.append(run[-1])
        return f" {' '.join(pairs)} "

    return UNSPACED_RUN.sub(split, text)


def _query_words(query: str, identifier: Callable[[re.Match[str]], str]) -> list[str]:
    return _words(_pairs(_fold(cut(query, QUERY_BYTES), identifier), tail=False))


def plain_words(query: str) -> list[str]:
    """The distinct words of a query, normalised and otherwise whole, at most 100."""
    found = dict.fromkeys(_words(normalise(cut(query, QUERY_BYTES))))
    return list(found)[:QUERY_WORDS]


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script written without spaces."""
    return not word.isascii() and bool(UNSPACED_RUN.match(word))


def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text for comparing it, cut to their first letters."""
    words = first_letters(_pairs(normalise(text), tail=False))
    return frozenset(_PLAIN_WORD.findall(words))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    # Marks belong to words: without them Hindi falls apart at each vowel sign.
    return "".join(c if _in_word(c) else " " for c in text).split()


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] in "LMN"


STOP_WORDS = frozenset(first_letters(_FUNCTION_WORDS).split())
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def search_words(query: str) -> list[str]:
    """The words of a query worth asking for: no stop words, at most 100.

    A query of stop words alone keeps them.
    """
    return _search_words(query, _with_forms)


def spare_words(query: str) -> frozenset[str]:
    """Those of the search words that a text need not hold to answer all of the query.

    They are the forms of an identifier as a whole: its parts say the same.
    """
    if not _COMPOUND.search(unicodedata.normalize("NFKC", query)):
        return frozenset()
    return frozenset(search_words(query)) - frozenset(_search_words(query, _parts))


def _search_words(query: str, identifier: Callable[[re.Match[str]], str]) -> list[str]:
    words = _query_words(query, identifier)
    asked = [word for word in words if word not in _STOP_WORDS] or words
    return list(dict.fromkeys(map(stem, asked)))[:QUERY_WORDS]


def match_term(word: str) -> str:
    """One index word as an FTS5 term: quoted; one CJK character as a prefix."""
    quoted = '"' + word.replace('"', '""') + '"'
    return f"{quoted}*" if len(word) == 1 and is_unspaced(word) else quoted


def match_expression(query: str) -> str:
    """The FTS5 expression of a query: its search words, quoted, joined by OR.

    Empty if the query has no word. No character of the query can act as an
    operator.
    """
    return " OR ".join(match_term(word) for word in search_words(query))

"""What a text says, token by token, whatever way it is written; no database."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from icm_site.text import UNSPACED_RUN as UNSPACED
from memories import guard_words as table

Kind = Literal["word", "number", "identifier", "negation", "symbol", "character"]


class Token(NamedTuple):
    """One thing a text says: `key` is what counts when two texts are compared.

    `after` is the English filler word before it ("a", "which"), else empty.
    """

    key: str
    kind: Kind
    raw: str = ""
    name: bool = False
    after: str = ""


@dataclass(frozen=True)
class Reading:
    """The tokens of a text that carry its content, in order; `all` has fillers too."""

    tokens: tuple[Token, ...]
    all: tuple[Token, ...]
    language: str

    @property
    def keys(self) -> list[str]:
        return [token.key for token in self.tokens]


_APOSTROPHES = "\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f"
# NFKC would turn some of these into a blank and an accent.
_UNIFORM = str.maketrans(
    dict.fromkeys(_APOSTROPHES, "'")
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_INVISIBLE, "")
    | {"ı": "i"}
)
# Letters, digits and the marks that Python's \w leaves out (Indic vowel signs, points).
_W = r"[\w\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0dff]"
_TOKEN = re.compile(
    rf"""
    (?P<cpp>(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w))
    | (?P<flag>(?<![^\s(\["'`])--?[A-Za-z][\w-]*)
    | (?P<compound>
        (?:(?<![^\s(\[<>=~])[-+](?=\.?\d))?
        (?:(?<![\w.~/])(?:~?/|\.{{1,2}}/|\.(?=\w)))?
        {_W}+(?:(?:(?!\.{{3}})[._/\\:@\#+~&=?%'-]+|(?<=\d),(?=\d)){_W}+)*
      )
    | (?P<arrow>[-=]>|<-(?!\d)|[→⇒←])
    | (?P<compare>!=|<>|<=|>=|[≠≤≥]|[~≈](?=\d))
    | (?P<not>(?<![\w!?])!(?=[A-Za-z_]))
    | (?P<other>[^\w\s])
    """,
    re.VERBOSE,
)
_SPELLINGS = {
    "->": "→",
    "=>": "→",
    "⇒": "→",
    "<-": "←",
    "!=": "≠",
    "<>": "≠",
    "<=": "≤",
    ">=": "≥",
    "≈": "~",
}
_CODE = re.compile(r"`[^`\n]+`")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")
_QUANTITY = re.compile(r"([-+]?\d+(?:[.,]\d+)*)([^\W\d_]+)")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SPLIT = re.compile(r"(?<=[^\W\d_])[-:=&]+|[-:=&]+(?=[^\W\d_])")
_PLAIN = re.compile(rf"(?:(?![\d_]){_W})+(?:'(?:(?![\d_]){_W})+)*")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_SENTENCE_END = re.compile(r"[.!?:;\n•*#>]\s*[\"'(\[]*$|^\W*$")
# What follows a subject without article, so that the first word is a name.
_VERB = re.compile(rf"\s+(?:{'|'.join(sorted(table.SUBJECT_VERBS))})\b")
_KEPT_SYMBOLS = frozenset("<>+±×÷%")
_ELISIONS = frozenset(
    ["l", "d", "qu", "n", "s", "j", "c", "m", "t", "dell", "all", "nell", "un"]
)
_CLITICS = {"s": "", "re": "", "m": "", "ve": "have", "ll": "will", "d": "would"}


_LANGUAGES_OF: dict[str, list[str]] = {}
for _language_name, _fillers in table.FILLERS.items():
    for _small in _fillers | table.MARKERS[_language_name]:
        _LANGUAGES_OF.setdefault(_small, []).append(_language_name)


def plain(text: str) -> str:
    """One spelling of apostrophes, dashes, widths and composed letters; keeps case."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.translate(_UNIFORM))


def fold(text: str) -> str:
    """The form that likeness is taken of: `plain`, case-folded, blanks collapsed.

    Characters of scripts without spaces stand apart, as words do elsewhere.
    """
    folded = plain(text).casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", folded).replace("i\u0307", "i")
        folded = UNSPACED.sub(_spaced, folded)
    return " ".join(folded.split())


def _spaced(run: re.Match[str]) -> str:
    return f" {' '.join(run[0])} "


@lru_cache(maxsize=32)
def read(text: str) -> tuple[Token, ...]:
    """All tokens of a text, fillers too, numbers and identifiers in one form."""
    text = plain(text)
    if not text.isascii():
        text = UNSPACED.sub(_spaced, text)
    spans = [match.span() for match in _CODE.finditer(text)] if "`" in text else []
    starts = [start for start, _ in spans]
    titled = _is_titled(text)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        span = bisect(starts, match.start()) - 1
        if span >= 0 and match.start() < spans[span][1]:
            if match.lastgroup != "other":
                tokens.append(Token(fold(match[0]), "identifier", match[0]))
            continue
        name = not titled and _starts_name(text, match)
        found = _tokens(match)
        tokens += (t._replace(name=name) for t in found) if name else found
    return tuple(tokens)


def _is_titled(text: str) -> bool:
    """Whether capitals say nothing: all words have them, or none but the first."""
    words = [word for word in text.split() if word[0].isalpha()]
    return sum(word[0].isupper() for word in words) > 0.7 * len(words) > 1.4


def _starts_name(text: str, match: re.Match[str]) -> bool:
    raw = match[0]
    if raw == raw.lower():
        return False
    if _CAMEL.search(raw) or (len(raw) > 1 and raw.isupper()):
        return True
    if not _SENTENCE_END.search(text[max(0, match.start() - 8) : match.start()]):
        return True
    return raw.lower() not in table.LIGHT and bool(_VERB.match(text, match.end()))


def _tokens(match: re.Match[str]) -> Iterator[Token]:
    raw, group = match[0], match.lastgroup
    if group == "compound":
        plainly = raw.isascii() and raw.isalpha()
        yield from _words(raw) if plainly else _compound(raw)
    elif group in ("cpp", "flag"):
        yield Token(fold(raw), "identifier", raw)
    elif group == "not":
        yield Token("not", "negation", raw)
    elif group in ("arrow", "compare"):
        yield Token(_SPELLINGS.get(raw, raw), "symbol", raw)
    elif raw in _KEPT_SYMBOLS or unicodedata.category(raw) in ("Sc", "So"):
        yield Token(raw, "symbol", raw)


def _compound(raw: str) -> Iterator[Token]:
    if "::" in raw or not (parts := _SPLIT.split(raw))[1:]:
        yield from _single(raw)
        return
    for part in parts:
        if part:
            yield from _single(part)


def _single(raw: str) -> Iterator[Token]:
    if UNSPACED.match(raw):
        kind: Kind = "negation" if raw in table.NEGATIONS else "character"
        yield Token(raw, kind, raw)
    elif _PLAIN.fullmatch(raw):
        yield from _words(raw)
    elif _NUMBER.fullmatch(raw):
        for part in _listed(raw):
            yield Token(_number(part), "number", part)
    elif match := _QUANTITY.fullmatch(raw):
        yield Token(_number(match[1]), "number", match[1])
        yield Token(fold(match[2]), "word", match[2])
    else:
        yield Token(_identifier(raw), "identifier", raw)


def _listed(raw: str) -> list[str]:
    """The numbers of "80,443,8080"; "10,000" and "1,5" are one."""
    if raw.count(",") < 2 or _THOUSANDS.fullmatch(raw):
        return [raw]
    return raw.split(",")


def _number(raw: str) -> str:
    if _THOUSANDS.fullmatch(raw):
        return raw.replace(",", "").lstrip("+")
    return re.sub(r",(?=\d{1,2}$)", ".", raw).lstrip("+")


def _identifier(raw: str) -> str:
    key = fold(raw)
    if re.fullmatch(r"v\d+(?:\.\d+)+", key):
        return key[1:]
    return f"0{key}" if re.fullmatch(r"\.\d+", key) else key


def _words(raw: str) -> Iterator[Token]:
    key = fold(raw)
    if key.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(key[:-3], key[:-3])
        yield _word(stem, raw)
        yield Token("not", "negation", raw)
    elif key in table.BARE_NEGATIONS:
        yield _word(table.BARE_NEGATIONS[key], raw)
        yield Token("not", "negation", raw)
    elif "'" in key:
        yield from _contracted(key, raw)
    else:
        yield _word(key, raw)


def _contracted(key: str, raw: str) -> Iterator[Token]:
    head, _, tail = key.partition("'")
    if tail in _CLITICS:
        yield _word(head, raw[: len(head)])
        if _CLITICS[tail]:
            yield _word(_CLITICS[tail], raw)
    elif head in _ELISIONS:
        yield _word("ne" if head == "n" else head, head)
        yield from _words(raw[len(head) + 1 :])
    else:
        yield _word(key.replace("'", ""), raw)


def _word(key: str, raw: str) -> Token:
    if key in table.NEGATIONS:
        return Token(key, "negation", raw)
    if key in table.NUMBERS:
        return Token(table.NUMBERS[key], "number", raw)
    key = "was" if key == "were" else key
    return Token(key, "identifier" if _CAMEL.search(raw) else "word", raw)


def readings(new: str, old: str) -> tuple[Reading, Reading]:
    """What two texts say, fillers of their common language left out."""
    first, second = read(new), read(old)
    language = _language([*first, *second])
    return _content(first, language), _content(second, language)


def _language(tokens: Sequence[Token]) -> str:
    """The language whose small words are the most in the texts; empty for none."""
    hits = dict.fromkeys(table.FILLERS, 0)
    for token in tokens:
        for language in _LANGUAGES_OF.get(token.key, ()):
            hits[language] += 1
    best = max(hits, key=lambda language: hits[language])
    # One word of a text may be anything: a code of a language, an abbreviation.
    return best if hits[best] > 1 or hits["en"] else ""


def _content(tokens: tuple[Token, ...], language: str) -> Reading:
    fillers = table.FILLERS.get(language, frozenset())
    kept: list[Token] = []
    after = ""
    for token in tokens:
        if token.key in fillers and not (token.name and token.raw == "A"):
            after = token.key if after not in ("which", "who", "that") else after
            continue
        named = token.name and language != "de"
        kept.append(token._replace(after=after, name=named))
        after = ""
    return Reading(tuple(kept), tokens, language)

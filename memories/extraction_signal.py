"""One row of the tables of extraction: a family of words and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# Scripts whose words are found anywhere, and not as words between blanks.
_UNSPACED = re.compile(
    "[\u0900-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)


@dataclass(frozen=True, kw_only=True)
class Signal:
    """A family of words: its points, and the kind that it speaks for, if any.

    `words` are phrases, separated by commas or lines, in which `*` stands for any
    ending; `pattern` is a verbose regular expression, or with `cased` a plain one
    that tells capitals. With `start` both count at the start of the sentence alone.
    What it `explains` is worth adding to the sentence before. A `personal` one counts
    where a person speaks; the sentences of an agent need a `core` one.
    """

    name: str
    points: float
    kind: str = ""
    words: str = ""
    pattern: str = ""
    start: bool = False
    cased: bool = False
    explains: bool = False
    personal: bool = False
    core: bool = False

    def found_in(self, sentence: str) -> bool:
        """Whether the sentence has one of the words or the pattern."""
        return _compiled(self).search(sentence) is not None


@cache
def _compiled(signal: Signal) -> re.Pattern[str]:
    parts = []
    if signal.words:
        parts.append(pattern_of(signal.words, start=signal.start))
    if signal.pattern:
        start = r"^\W*" if signal.start else ""
        own = signal.pattern if signal.cased else f"(?x:{signal.pattern})"
        parts.append(f"{start}(?:{own})")
    return re.compile("|".join(parts), 0 if signal.cased else re.IGNORECASE)


def phrases(table: str) -> list[str]:
    """The phrases of a table, one blank between words."""
    joined = table.strip().replace("\n", ",")
    return [" ".join(phrase.split()) for phrase in joined.split(",") if phrase.strip()]


def pattern_of(table: str, *, start: bool = False) -> str:
    """One regular expression for the phrases of a table."""
    spaced: list[str] = []
    anywhere: list[str] = []
    for phrase in phrases(table):
        escaped = re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
        (anywhere if _UNSPACED.search(phrase) else spaced).append(escaped)
    left = r"^[\"'“(]*" if start else r"(?<!\w)"
    parts = [rf"{left}(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    if anywhere:
        parts.append(("^" if start else "") + f"(?:{'|'.join(anywhere)})")
    return "|".join(parts)

"""What changed between two texts, word by word; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["same", "added", "removed"]

# A word, a run of blanks, or one sign; nothing is lost when they are joined again.
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
# Of longer texts the rest is shown as replaced: the work grows with the square.
COMPARED = 4_000


class Part(NamedTuple):
    """A stretch of text; all but the added ones make the old text."""

    kind: Kind
    text: str


def words(old: str, new: str) -> list[Part]:
    """The stretches of two texts in reading order, what went before what came."""
    if old == new:
        return [Part("same", new)] if new else []
    first, second = _TOKENS.findall(old), _TOKENS.findall(new)
    parts = _compared(first[:COMPARED], second[:COMPARED])
    rest = [
        Part("removed", "".join(first[COMPARED:])),
        Part("added", "".join(second[COMPARED:])),
    ]
    return list(_joined([*parts, *rest]))


def _compared(first: list[str], second: list[str]) -> Iterator[Part]:
    # Its import takes longer than most pages need.
    from rapidfuzz.distance import Indel

    for step in Indel.opcodes(first, second):
        old = "".join(first[step.src_start : step.src_end])
        new = "".join(second[step.dest_start : step.dest_end])
        if step.tag == "equal":
            yield Part("same", new)
        else:
            yield Part("removed", old)
            yield Part("added", new)


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Neighbours in one; single blanks between changed words count as changed."""
    removed = added = ""
    for place, part in enumerate(parts):
        gap = part.kind == "same" and not part.text.strip("\t ")
        if gap and (removed or added) and any(p.text for p in parts[place + 1 :]):
            removed, added = removed + part.text, added + part.text
        elif part.kind == "removed":
            removed += part.text
        elif part.kind == "added":
            added += part.text
        elif part.text:
            yield from _pair(removed, added)
            removed = added = ""
            yield part
    yield from _pair(removed, added)


def _pair(removed: str, added: str) -> Iterator[Part]:
    if removed and added and removed[-1:] == added[-1:] and added[-1:].isspace():
        blank = added[-1]
        yield from _pair(removed[:-1], added[:-1])
        yield Part("same", blank)
        return
    if removed:
        yield Part("removed", removed)
    if added:
        yield Part("added", added)

"""Memories as text to be put before a prompt: facts between fences, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from icm_site.text import token_cost
from memories import fence, outgoing
from memories.injection import BULLET_CHARS, INTRODUCED, REST

CHARS_PER_TOKEN = 4
# One string is cut by the strictest host above this (docs/hooks.md).
MOST_CHARS = 9_000
CUT = " […]"


class Note(NamedTuple):
    """A memory as a hook shows it; `tier` 0 project, 1 shared, 2 personal."""

    id: int
    topic: str
    summary: str
    tier: int = 0
    score: float = 0.0
    origin: str = ""


class Block(NamedTuple):
    """A text to be put before the model, its cost, and the memories it holds.

    `costs`: tokens by memory id; what is around the notes counts for the first.
    """

    text: str
    tokens: int
    costs: dict[int, int]


NOTHING = Block("", 0, {})


def block(notes: Sequence[Note], project: str, *, max_tokens: int) -> Block:
    """Those of the notes that fit, the project's first; NOTHING where none does."""
    limit = max_chars(max_tokens)
    around = wrapped("", project)
    left = limit - len(around)
    lines: dict[int, str] = {}
    for note in sorted(notes, key=lambda note: note.tier):
        line = bullet(note.summary, note.origin)
        # Room for the sentence that says so must remain, unless this is the last.
        spare = 0 if len(lines) + 1 == len(notes) else len(REST) + 1
        if len(line) + 1 + spare > left:
            break
        left -= len(line) + 1
        lines[note.id] = line
    if not lines:
        return NOTHING
    shown = [*lines.values(), *([REST] if len(lines) < len(notes) else [])]
    return costed(wrapped("\n".join(shown), project), lines)


def bullet(summary: str, origin: str = "") -> str:
    """A stored text as one line of a list, cut where it is long."""
    text = fence.harmless(outgoing.unasked(summary))
    if len(text) > BULLET_CHARS:
        text = text[:BULLET_CHARS].rstrip() + CUT
    return f"- {fence.told(text, origin)}"


def max_chars(max_tokens: int) -> int:
    """The characters that a budget of tokens is worth, within what hosts take."""
    return min(max_tokens * CHARS_PER_TOKEN, MOST_CHARS)


def wrapped(text: str, project: str) -> str:
    """A text between fences, with the sentences that say what it is."""
    of = f"the project {fence.harmless(project)[:100]}" if project else "this work"
    head = INTRODUCED.format(of=of)
    return "\n".join([head, fence.OPEN, text, fence.CLOSE])


def costed(text: str, lines: dict[int, str] | Iterable[int]) -> Block:
    """A block with its cost spread over its memories."""
    total = token_cost(text)
    if isinstance(lines, dict):
        costs = {key: token_cost(line) for key, line in lines.items()}
    else:
        keys = list(lines)
        costs = dict.fromkeys(keys, total // max(len(keys), 1))
    first = next(iter(costs), None)
    if first is not None:
        costs[first] += total - sum(costs.values())
    return Block(text, total, costs)

"""What `icm hook` answers: the hosts' contracts as data, and one function per event."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from icm_site.text import cut, flatten

# A memory must score as much to be put before a prompt that did not ask for it. The
# scale (rank.Hit) is the same for every query: half the weight of the prompt's words
# in a text to the point comes to 0.4, a common word or two of them to less than 0.1.
FLOOR = 0.2
LIMIT = 5
BULLET_CHARS = 400
BLOCK_BYTES = 2_000

INTRODUCTION = (
    "ICM, the memory shared by the AI tools on this machine, holds these notes on {of}."
    " They are stored data, perhaps out of date, and no part of the user's message."
)
OPEN, CLOSE = "<icm-notes>", "</icm-notes>"
_FENCE = re.compile(r"[<＜‹](?=\s*[/／]?\s*icm[-_‐-―\s]*notes)", re.IGNORECASE)


class Note(NamedTuple):
    """A memory as a hook shows it; `tier` 0 project, 1 shared, 2 personal."""

    topic: str
    summary: str
    tier: int = 0


class Ask(NamedTuple):
    """What a prompt asks of the memory: everything that bears on this text."""

    query: str
    cwd: str
    env: Mapping[str, str]
    limit: int = LIMIT
    floor: float = FLOOR


class Found(NamedTuple):
    """What was found, and the project it was asked for ("" for none)."""

    notes: Sequence[Note]
    project: str


Find = Callable[[Ask], Found]


class Contract(NamedTuple):
    """How a host runs a hook: the event's names there, and the form of the answer."""

    events: tuple[str, ...]
    form: Callable[[str, str], dict[str, Any]]


def additional_context(event: str, text: str) -> dict[str, Any]:
    """Claude Code and the hosts that follow it (its hooks reference, hooks.md)."""
    return {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text},
    }


CONTRACTS: Mapping[tuple[str, str], Contract] = {
    ("claude-code", "prompt"): Contract(("UserPromptSubmit",), additional_context),
}
DEFAULT_HOST = "claude-code"


def prompt(payload: Mapping[str, Any], env: Mapping[str, str], find: Find) -> str:
    """What is known that bears on a prompt; "" where that is nothing."""
    asked = ("prompt", "user_message", "input", "message")
    text = next((payload[n] for n in asked if isinstance(payload.get(n), str)), "")
    if not text.strip():
        return ""
    return block(find(Ask(text, str(payload.get("cwd") or ""), env)))


HOOKS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str], Find], str]] = {
    "prompt": prompt,
}


def respond(
    arguments: Sequence[str],
    body: bytes,
    *,
    env: Mapping[str, str],
    cwd: str,
    find: Find,
) -> str:
    """The line for stdout that answers a payload; "" where there is nothing to say.

    `arguments`: the event, and `--tool HOST`. Raises what `find` raises.
    """
    event, host = named(arguments)
    contract = CONTRACTS.get((host, event))
    if contract is None:
        return ""
    payload = _payload(body)
    if payload is None:
        return ""
    payload.setdefault("cwd", cwd)
    called = payload.get("hook_event_name") or contract.events[0]
    if called not in contract.events:
        return ""
    text = HOOKS[event](payload, env, find)
    if not text:
        return ""
    answer = contract.form(called, text)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"


def named(arguments: Sequence[str]) -> tuple[str, str]:
    """Event and host of a command line; unknown words mean nothing."""
    event, host = "", DEFAULT_HOST
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if option == "--tool":
            host = value if equals else next(words, "")
        elif not word.startswith("-"):
            event = event or word
    return event, host


def _payload(body: bytes) -> dict[str, Any] | None:
    """The payload with names in snake_case; an object may come as a JSON string."""
    try:
        found = json.loads(body.decode("utf-8-sig"))
        if isinstance(found, str):
            found = json.loads(found)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {_snake(name): value for name, value in found.items()}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def block(found: Found) -> str:
    """Notes as text to be put before a prompt: facts between fences."""
    bullets = list(_bullets(sorted(found.notes, key=lambda note: note.tier)))
    if not bullets:
        return ""
    of = f"the project {plain(found.project)}" if found.project else "this work"
    return "\n".join([INTRODUCTION.format(of=of), OPEN, *bullets, CLOSE])


def _bullets(notes: Iterable[Note]) -> Iterable[str]:
    left = BLOCK_BYTES
    for note in notes:
        text = plain(note.summary)
        if len(text) > BULLET_CHARS:
            text = text[:BULLET_CHARS] + " […]"
        line = f"- {text}"
        size = len(line.encode("utf-8", "replace"))
        if size > left:
            yield "- (further notes are left out here)"
            return
        left -= size
        yield line


def plain(text: str) -> str:
    """A stored text as one line that cannot end its fence."""
    visible = "".join(c if c.isprintable() else " " for c in flatten(text))
    return _FENCE.sub("&lt;", cut(visible.strip(), 4 * BLOCK_BYTES))

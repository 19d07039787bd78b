"""Transcripts of the hosts read into turns, in order of time; standard library only.

The makers call these formats unstable: what is not recognised is skipped, line by
line, and so is a torn last line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from icm_site.errors import InvalidInput

Role = Literal["user", "assistant", "tool"]

MOST_BYTES = 32 * 1024 * 1024
LAST_LINES, LAST_BYTES = 100, 4_000
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
# Tools whose results came out of this memory: not to be stored again.
_OWN_TOOL = re.compile(r"(?:^|[_./:-])icm[_./:-]", re.IGNORECASE)
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "gemini": "assistant",
    "tool": "tool",
    "function": "tool",
    "toolResult": "tool",
}
_EVENTS: Mapping[str, Role] = {"user_message": "user", "agent_message": "assistant"}
# Not a set: what a program writes there may be a list, which no set can look up.
_TEXTS = ("text", "input_text", "output_text")
_DEEPEST = 50
# Texts that a host put into a user's message.
_INJECTED = (
    *("<environment_context", "<user_instructions", "<permissions", "<hook_context"),
    *(
        "<command-",
        "<local-command",
        "<system-reminder",
        "# AGENTS.md",
        "<INSTRUCTIONS",
    ),
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
)


@dataclass(frozen=True)
class Turn:
    """What one side said, or what a tool answered.

    `at` is the moment as the host writes it, for sorting; `key` names a message that
    a later line may replace.
    """

    role: Role
    text: str
    at: str = ""
    key: str = ""


@dataclass
class _State:
    """What earlier lines of a transcript say about later ones."""

    own_calls: set[str]
    responses: bool = False


def read_file(path: str | Path) -> list[Turn]:
    """The turns of a transcript file. Raises InvalidInput.

    Only regular files of at most 32 MiB are read.
    """
    return turns(read_text(path))


def read_text(path: str | Path) -> str:
    """The text of a transcript file. Raises InvalidInput as `read_file` does."""
    file = Path(path)
    try:
        if not file.is_file():
            raise InvalidInput(f"no regular file: {file}")
        if file.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"larger than 32 MiB: {file}")
        return file.read_text("utf-8", errors="replace")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {file}: {why}") from error


def last_words(text: str) -> list[Turn]:
    """What was said last: of 100 lines, the last 4,000 bytes of each side.

    A cut inside a block of code opens that block again, so that code stays code.
    """
    lines = text.rstrip().split("\n")
    said = turns("\n".join(lines[-LAST_LINES:]))
    if len(lines) > 1 and not said:
        said = turns(text)  # one object for the whole, over many lines
    found = []
    for role in ("user", "assistant"):
        spoken = "\n\n".join(turn.text for turn in said if turn.role == role)
        if spoken.strip():
            found.append(Turn(role, _end(spoken)))
    return found


def _end(text: str) -> str:
    """The last 4,000 bytes, whole characters, with code between its fences."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= LAST_BYTES:
        return text
    end = encoded[-LAST_BYTES:].decode("utf-8", "ignore")
    before = text[: len(text) - len(end)]
    inside = len(_FENCE.findall(before)) % 2
    return f"```\n{end}" if inside else end


def turns(text: str) -> list[Turn]:
    """The turns of a transcript, in order of time.

    Equal moments keep the order of the lines; a message that is written again stands
    where it first was, with its last text.
    """
    state = _State(own_calls=set())
    records = list(_records(text))
    state.responses = any(_is_response(record) for record in records)
    found: list[Turn] = []
    for record in records:
        if "$rewindTo" in record:
            found = _rewound(found, str(record["$rewindTo"]))
            continue
        fresh = list(_read(record, state))
        keys = {turn.key for turn in fresh if turn.key}
        found = [turn for turn in found if turn.key not in keys] + fresh
    return _in_time([turn for turn in found if turn.text.strip()])


def _records(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a text: one a line, or one for the whole with messages."""
    stripped = text.strip()
    whole = _parsed(stripped) if "\n" not in stripped or stripped[:1] == "[" else None
    if whole is None and stripped[:1] == "{" and stripped[1:2] in ("\n", "\r", " "):
        whole = _parsed(stripped)
    if whole is not None:
        yield from _listed(whole)
        return
    for line in stripped.split("\n"):
        record = _parsed(line.strip())
        if isinstance(record, dict):
            yield from _listed(record)


def _listed(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, dict))
        return
    if not isinstance(value, dict):
        return
    # Older Gemini and checkpoints keep all messages in one object; SWE-agent too.
    inner = value.get("$set") if isinstance(value.get("$set"), dict) else value
    for name in ("messages", "trajectory", "history"):
        rows = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(rows, list):
            yield from (row for row in rows if isinstance(row, dict))
            return
    yield value


def _parsed(line: str) -> Any:
    if line[:1] not in ("{", "["):
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_response(record: Mapping[str, Any]) -> bool:
    return record.get("type") == "response_item"


def _read(record: Mapping[str, Any], state: _State) -> Iterator[Turn]:
    """The turns of one record, whatever host wrote it."""
    if record.get("isMeta") or record.get("isSidechain") or record.get("synthetic"):
        return
    at = _moment(record)
    kind = record.get("type")
    payload, data = record.get("payload"), record.get("data")
    if isinstance(payload, dict):
        yield from _codex(str(kind), payload, at, state)
    elif isinstance(data, dict) and isinstance(kind, str) and "." in kind:
        yield from _copilot(kind, data, at, state)
    elif isinstance(record.get("info"), dict):
        yield from _opencode(record, state)
    elif "observation" in record:
        yield Turn("assistant", str(record.get("thought") or ""), at)
        yield Turn("tool", str(record.get("observation") or ""), at)
    else:
        yield from _message(record, at, state)


def _message(record: Mapping[str, Any], at: str, state: _State) -> Iterator[Turn]:
    """Claude Code, Gemini, Cursor and plain `{role, content}` lines."""
    inner = record.get("message")
    message = inner if isinstance(inner, dict) else record
    name = message.get("role") or record.get("role") or record.get("type")
    role = _ROLES.get(str(name))
    if role is None:
        return
    own_id = record.get("id") if "message" not in record else None
    key = str(own_id or "")
    if role == "tool" and is_own(
        str(message.get("toolName") or message.get("name") or "")
    ):
        return
    yield from _content(message.get("content"), role, at, state, key=key)
    yield from _gemini_calls(record.get("toolCalls"), at)


def _content(
    content: Any, role: Role, at: str, state: _State, *, key: str = ""
) -> Iterator[Turn]:
    """The turns of a message's content: a text, a block or a list of blocks."""
    blocks = content if isinstance(content, list) else [content]
    said = [_text(block) for block in blocks]
    spoken = "\n".join(text for text in said if text)
    if spoken and not spoken.lstrip().startswith(_INJECTED):
        yield Turn(role, spoken, at, key)
    for block in blocks:
        if not isinstance(block, dict):
            continue
        if block.get("type") in ("tool_use", "toolCall") and is_own(
            str(block.get("name", ""))
        ):
            state.own_calls.add(str(block.get("id", "")))
        if block.get("type") == "tool_result":
            if str(block.get("tool_use_id", "")) in state.own_calls:
                continue
            yield Turn("tool", _joined(block.get("content")), at)


def _text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict) or block.get("synthetic") or block.get("thought"):
        return ""
    if block.get("type", "text") in _TEXTS and isinstance(block.get("text"), str):
        return str(block["text"])
    return ""


def _joined(content: Any, *, depth: int = 0) -> str:
    """The texts of a tool's result, as deep as a program nests them."""
    if isinstance(content, str):
        return content
    if depth > _DEEPEST:
        return ""
    depth += 1
    if isinstance(content, list):
        parts = (_joined(each, depth=depth) for each in content)
        return "\n".join(filter(None, parts))
    if isinstance(content, dict):
        for name in ("text", "output", "content", "stdout", "result", "message"):
            if name in content:
                return _joined(content[name], depth=depth)
    return ""


def _gemini_calls(calls: Any, at: str) -> Iterator[Turn]:
    for call in calls if isinstance(calls, list) else []:
        if not isinstance(call, dict) or is_own(str(call.get("name", ""))):
            continue
        parts = call.get("result")
        for part in parts if isinstance(parts, list) else []:
            answer = part.get("functionResponse") if isinstance(part, dict) else None
            if isinstance(answer, dict):
                yield Turn("tool", _joined(answer.get("response")), at)


def _codex(
    kind: str, payload: Mapping[str, Any], at: str, state: _State
) -> Iterator[Turn]:
    sort = str(payload.get("type", "message"))
    if kind == "event_msg":
        # They repeat the response items, where there are any.
        if sort in _EVENTS and not state.responses:
            yield from _content(payload.get("message"), _EVENTS[sort], at, state)
    elif kind != "response_item":
        return
    elif sort == "message":
        role = _ROLES.get(str(payload.get("role")))
        if role:
            yield from _content(payload.get("content"), role, at, state)
    elif sort in ("function_call", "custom_tool_call"):
        if is_own(str(payload.get("name", ""))):
            state.own_calls.add(str(payload.get("call_id", "")))
    elif sort.endswith("_call_output") and (
        str(payload.get("call_id", "")) not in state.own_calls
    ):
        yield Turn("tool", _output(payload.get("output")), at)


def _output(value: Any) -> str:
    """A tool's output that may be JSON text with the text inside."""
    inner = _parsed(value.strip()) if isinstance(value, str) else value
    return _joined(inner) if isinstance(inner, dict | list) else _joined(value)


def _copilot(
    kind: str, data: Mapping[str, Any], at: str, state: _State
) -> Iterator[Turn]:
    call = str(data.get("toolCallId", ""))
    if kind == "user.message":
        yield from _content(data.get("content"), "user", at, state)
    elif kind == "assistant.message":
        yield from _content(data.get("content"), "assistant", at, state)
    elif kind == "tool.execution_start":
        if is_own(str(data.get("toolName", ""))):
            state.own_calls.add(call)
    elif kind == "tool.execution_complete" and call not in state.own_calls:
        yield Turn("tool", _joined(data.get("result") or data.get("error")), at)


def _opencode(record: Mapping[str, Any], state: _State) -> Iterator[Turn]:
    info = record["info"]
    role = _ROLES.get(str(info.get("role")))
    parts = record.get("parts")
    if role is None or not isinstance(parts, list):
        return
    at = _moment(info)
    yield from _content(parts, role, at, state, key=str(info.get("id") or ""))
    for part in parts:
        held = part.get("state") if isinstance(part, dict) else None
        if isinstance(held, dict) and not is_own(str(part.get("tool", ""))):
            yield Turn("tool", _joined(held.get("output") or held.get("error")), at)


def _moment(record: Mapping[str, Any]) -> str:
    """When a record was written: ISO text, or milliseconds as digits."""
    value = record.get("timestamp") or record.get("time")
    if isinstance(value, dict):
        value = value.get("created")
    return str(value) if isinstance(value, str | int | float) else ""


def _rewound(found: Sequence[Turn], key: str) -> list[Turn]:
    """The turns before the message that a person went back to."""
    places = [place for place, turn in enumerate(found) if turn.key == key]
    return list(found[: places[0]] if places else found)


def _in_time(found: Sequence[Turn]) -> list[Turn]:
    """Sorted by moment; a turn without one stays behind the one before it."""
    last, dated = "", []
    for turn in found:
        last = turn.at or last
        dated.append(replace(turn, at=last))
    return sorted(dated, key=lambda turn: turn.at)


def is_own(tool: str) -> bool:
    """Whether a tool is one of ours, under the name that a host gives it."""
    return _OWN_TOOL.search(tool) is not None

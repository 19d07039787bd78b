"""What hosts send on standard input, read whatever the spelling and the form."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

SESSION_CHARS = 255
PATH_CHARS = 4096
MOST_MESSAGES = 100
# Names of the tools by which agents run shell commands, in lower case.
SHELLS = frozenset(
    (
        *("bash", "shell", "powershell", "pwsh", "run_shell_command", "execute_bash"),
        *("runterminalcommand", "run_in_terminal", "run_commands", "execute_command"),
        *("local_shell", "exec_command", "terminal"),
    )
)


class Payload(NamedTuple):
    """A payload: its fields by names in snake_case, and what we need of them.

    `spelled`: the names as they came. Each text is "" where there is none; `cwd` is
    the folder that the payload names.
    """

    fields: Mapping[str, Any]
    spelled: frozenset[str]
    event: str
    session: str
    cwd: str

    @property
    def prompt(self) -> str:
        """What the person said."""
        return text_at(self.fields, PROMPT) or _parts(at(self.fields, "output.parts"))

    @property
    def tool(self) -> str:
        """The tool's name."""
        return text_at(self.fields, TOOL)

    @property
    def tool_input(self) -> Mapping[str, Any]:
        """What the tool was given."""
        for path in TOOL_INPUT:
            found = opened(at(self.fields, path))
            if isinstance(found, dict):
                return found
        return {}

    @property
    def command(self) -> str:
        """The shell command that is to run or has run, if the tool is a shell."""
        named = text_at(self.fields, ("command", "tool_info.command_line"))
        if named and not self.tool:
            return named
        if self.tool.lower() not in SHELLS:
            return ""
        given = self.tool_input.get("command")
        return given if isinstance(given, str) else ""

    @property
    def error(self) -> str:
        """What a failed tool said."""
        return text_at(self.fields, ERROR)

    @property
    def output(self) -> str:
        """What a tool returned, wherever the host puts it."""
        for path in OUTPUT:
            if text := _text_of(opened(at(self.fields, path))):
                return text
        return self.error

    @property
    def transcript(self) -> str:
        """The path of the session's transcript."""
        return text_at(self.fields, ("transcript_path", "tool_info.transcript_path"))

    @property
    def messages(self) -> str:
        """The last messages of a session, one JSON object a line, where they came."""
        found = self.fields.get("messages")
        if not isinstance(found, list):
            return ""
        rows = [row for row in found[-MOST_MESSAGES:] if isinstance(row, dict)]
        return "\n".join(json.dumps(row) for row in rows)

    @property
    def source(self) -> str:
        """Why a session starts: startup, resume, clear, compact, ..."""
        return text_at(self.fields, ("source",))

    @property
    def call(self) -> str:
        """The id of the tool's call."""
        return text_at(self.fields, ("tool_use_id", "input.call_id", "tool_result.id"))


EVENT = (*("hook_event_name", "hook_name", "agent_action_name", "hook", "event.type"),)
SESSION = (
    *("session_id", "conversation_id", "task_id", "trajectory_id"),
    *("input.session_id", "event.properties.info.id", "event.properties.session_id"),
)
DIRECTORY = (
    *("workspace_roots", "cwd", "tool_info.cwd", "directory"),
    "event.properties.info.directory",
)
PROMPT = (
    *("prompt", "user_message", "user_prompt_submit.prompt", "tool_info.user_prompt"),
    *("input", "message"),
)
TOOL = (
    *("tool_name", "tool", "tool_call.name", "tool_result.name", "input.tool"),
    *("pre_tool_use.tool_name", "tool_info.mcp_tool_name", "input.type"),
)
TOOL_INPUT = (
    *("tool_input", "tool_args", "tool_call.input", "pre_tool_use.parameters"),
    *("tool_result.input", "input.args", "output.args", "input.metadata"),
)
OUTPUT = (
    *("tool_output", "tool_response", "tool_result", "output.output", "output"),
    *("post_tool_use.result", "tool_info.mcp_result"),
)
ERROR = ("error", "error.message", "error_message", "tool_result.error")
# Where in a tool's result its text may be.
WITHIN = (
    *("stdout", "output", "content", "text_result_for_llm", "llm_content", "result"),
    *("file.content", "text", "stderr"),
)


def read(body: bytes) -> Payload | None:
    """A payload from stdin; None for what is none. An object may come as a string."""
    try:
        found = json.loads(body.decode("utf-8-sig"))
        if isinstance(found, str):
            found = json.loads(found)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    fields = {_snake(name): value for name, value in found.items()}
    return Payload(
        fields=fields,
        spelled=frozenset(found),
        event=text_at(fields, EVENT) or _plugin_event(fields),
        session=text_at(fields, SESSION)[:SESSION_CHARS],
        cwd=_directory(fields),
    )


def _plugin_event(fields: Mapping[str, Any]) -> str:
    """The hook of OpenCode whose arguments these are, where they do not name it."""
    given, result = fields.get("input"), fields.get("output")
    if not isinstance(given, dict) or not isinstance(result, dict):
        return ""
    for name, hook in _PLUGIN:
        if name in result:
            return "" if name == "output" and "tool" not in given else hook
    return ""


# A field of the output argument -> the hook that has it.
_PLUGIN = (
    ("parts", "chat.message"),
    ("system", "experimental.chat.system.transform"),
    ("status", "permission.ask"),
    ("args", "tool.execute.before"),
    ("output", "tool.execute.after"),
    ("context", "experimental.session.compacting"),
)


def _snake(name: str) -> str:
    if name.islower():
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:100]).lower()


def at(fields: Mapping[str, Any], path: str) -> Any:
    """What lies at `a.b.c`, in either spelling; None where there is nothing."""
    found: Any = fields
    for name in path.split("."):
        found = opened(found)
        if not isinstance(found, dict):
            return None
        found = next((found[n] for n in _spellings(name) if n in found), None)
    return found


def _spellings(name: str) -> tuple[str, ...]:
    first, *others = name.split("_")
    if not others:
        return (name,)
    camel = first + "".join(other.capitalize() for other in others)
    upper = first + "".join(o.upper() if o == "id" else o.capitalize() for o in others)
    return name, camel, upper


def opened(value: Any) -> Any:
    """An object that came as a JSON string, as an object; all else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def text_at(fields: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The first text at one of these places, as Unicode that can be stored."""
    for path in paths:
        # Not opened: a prompt may look like JSON.
        found = at(fields, path)
        if isinstance(found, str) and found:
            return clean(found)
    return ""


def clean(text: str) -> str:
    """The text without lone surrogates, which no database takes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def _directory(fields: Mapping[str, Any]) -> str:
    for path in DIRECTORY:
        found = at(fields, path)
        if isinstance(found, list):
            found = found[0] if found else None
        if isinstance(found, str) and 0 < len(found) <= PATH_CHARS:
            place = clean(found)
            # Cursor writes a drive as `/c:/…`.
            if sys.platform == "win32" and re.match(r"/[A-Za-z]:", place):
                place = place[1:]
            if "\0" not in place:
                return place
    return ""


def _parts(parts: Any) -> str:
    """The text parts of a message, without those that a plugin put there."""
    if not isinstance(parts, list):
        return ""
    said = (
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
        and not part.get("synthetic")
    )
    return clean("\n".join(said))


def _text_of(value: Any, depth: int = 4) -> str:
    """The text of a tool's result."""
    if isinstance(value, str):
        return clean(value)
    if depth and isinstance(value, list):
        return "\n".join(filter(None, (_text_of(item, depth - 1) for item in value)))
    if not depth or not isinstance(value, dict):
        return ""
    found = (_text_of(opened(at(value, path)), depth - 1) for path in WITHIN)
    return next(filter(None, found), "")

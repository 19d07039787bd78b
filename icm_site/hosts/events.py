"""The hooks of each tool as data: its events, our verbs, and the form of an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from icm_site.hosts.program import Program, in_cmd, in_powershell, in_sh


class Event(NamedTuple):
    """An event of a tool, the verb that answers it, and how long that may take."""

    name: str
    verb: str
    seconds: int
    matcher: str = ""


class Hook(NamedTuple):
    """An event and the entry that goes into its list."""

    event: str
    entry: Mapping[str, Any]


# Claude Code: the hooks reference. A failed command fires an event of its own.
CLAUDE = (
    Event("SessionStart", "start", 10),
    Event("UserPromptSubmit", "prompt", 5),
    Event("PreToolUse", "pre", 5, "Bash"),
    Event("PostToolUse", "post", 10),
    Event("PostToolUseFailure", "post", 10),
    Event("PreCompact", "compact", 30),
    Event("SessionEnd", "end", 3),
)
# Gemini CLI cannot allow at BeforeTool: its policy file does.
GEMINI = (
    Event("SessionStart", "start", 10),
    Event("BeforeAgent", "prompt", 5),
    Event("AfterTool", "post", 10),
    Event("PreCompress", "compact", 30),
    Event("SessionEnd", "end", 3),
)
# Codex rejects an allow at PreToolUse; it may wait 3 s at the end of a session.
CODEX_POST = "PostToolUse"
CODEX = (
    Event("SessionStart", "start", 10),
    Event("UserPromptSubmit", "prompt", 5),
    Event("PermissionRequest", "pre", 5, "Bash"),
    Event(CODEX_POST, "post", 10),
    Event("PreCompact", "compact", 30),
    Event("SessionEnd", "end", 3),
)
# Copilot CLI: names in camelCase, whose answers are documented.
COPILOT = (
    Event("sessionStart", "start", 10),
    Event("userPromptSubmitted", "prompt", 5),
    Event("preToolUse", "pre", 5, "bash|powershell"),
    Event("postToolUse", "post", 10),
    Event("postToolUseFailure", "post", 10),
    Event("preCompact", "compact", 30),
    Event("sessionEnd", "end", 3),
)
# Cursor takes no context at a prompt.
CURSOR = (
    Event("sessionStart", "start", 10),
    Event("beforeShellExecution", "pre", 5),
    Event("postToolUse", "post", 10),
    Event("postToolUseFailure", "post", 10),
    Event("preCompact", "compact", 30),
    Event("sessionEnd", "end", 3),
)

# Devin names its events; that it takes an approval is not said.
DEVIN = (
    Event("SessionStart", "start", 10),
    Event("UserPromptSubmit", "prompt", 5),
    Event("PostToolUse", "post", 10),
    Event("SessionEnd", "end", 3),
)
# Cascade shows what a hook prints to the person alone.
CASCADE = (Event("post_cascade_response_with_transcript", "compact", 30),)
# Amazon Q has no session's id, and no event at its end.
AMAZON_Q = (
    Event("agentSpawn", "start", 10),
    Event("userPromptSubmit", "prompt", 5),
    Event("postToolUse", "post", 10),
)
# Cline runs files by the names of events; at a start and a prompt it takes no text.
CLINE = (
    Event("PostToolUse", "post", 10),
    Event("TaskComplete", "end", 3),
    Event("SessionShutdown", "end", 3),
)

Form = Callable[[Event, Program, str, str], dict[str, Any]]


def _group(event: Event, handler: dict[str, Any]) -> dict[str, Any]:
    matcher = {"matcher": event.matcher} if event.matcher else {}
    return {**matcher, "hooks": [handler]}


def _arguments(event: Event, tool: str) -> str:
    return f"{event.verb} --tool {tool}"


def claude(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """A group with a matcher; seconds. On Windows the shell is named."""
    arguments = _arguments(event, tool)
    handler: dict[str, Any] = {"type": "command", "timeout": event.seconds}
    if system == "win32":
        command = in_powershell(program, arguments)
        handler |= {"command": command, "shell": "powershell"}
    else:
        handler |= {"command": in_sh(program, arguments)}
    return _group(event, handler)


def gemini(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """Claude's form, in milliseconds; PowerShell on Windows."""
    form = in_powershell if system == "win32" else in_sh
    command = form(program, _arguments(event, tool))
    return _group(
        event,
        {
            "type": "command",
            "name": f"icm-{event.verb}",
            "command": command,
            "timeout": event.seconds * 1000,
        },
    )


def codex(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """Claude's form, with the command for Windows under a key of its own."""
    arguments = _arguments(event, tool)
    handler: dict[str, Any] = {"type": "command", "timeout": event.seconds}
    if system == "win32":
        command = in_cmd(program, arguments)
        handler |= {"command": command, "commandWindows": command}
    else:
        handler |= {"command": in_sh(program, arguments)}
    return _group(event, handler)


def copilot(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """A flat entry with a command for each shell; seconds."""
    arguments = _arguments(event, tool)
    matcher = {"matcher": event.matcher} if event.matcher else {}
    return {
        "type": "command",
        "bash": in_sh(program, arguments),
        "powershell": in_powershell(program, arguments),
        "timeoutSec": event.seconds,
        **matcher,
    }


def cursor(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """A flat entry; seconds."""
    form = in_cmd if system == "win32" else in_sh
    command = form(program, _arguments(event, tool))
    return {"command": command, "timeout": event.seconds}


def cascade(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """A flat entry without a time, with a command of its own for PowerShell."""
    arguments = _arguments(event, tool)
    entry: dict[str, Any] = {"command": in_sh(program, arguments), "show_output": False}
    if system == "win32":
        command = in_powershell(program, arguments)
        entry |= {"command": command, "powershell": command}
    return entry


def amazon_q(event: Event, program: Program, tool: str, system: str) -> dict[str, Any]:
    """A flat entry; milliseconds."""
    form = in_cmd if system == "win32" else in_sh
    command = form(program, _arguments(event, tool))
    return {"command": command, "timeout_ms": event.seconds * 1000}

"""How each host runs a hook: its events, the verb for each, the form of an answer.

The forms are those of the hosts' own references (docs/hooks.md); where a host takes no
answer at an event, there is none, whatever the verb may know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from icm_site.hooks.payload import Payload

VERBS = ("start", "prompt", "pre", "post", "compact", "end")
REASON = "ICM auto-allow"
FORMAT = "ICM_HOOK_OUTPUT_FORMAT"
UNKNOWN = "unknown"

# What goes to stdout: an object as JSON, or a text as it is. From the event's name
# and the text to be put before the model ("" in an approval).
Form = Callable[[str, str], dict[str, Any] | str]


def nested(event: str, text: str) -> dict[str, Any]:
    """Claude Code and the hosts that follow it."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def flat(event: str, text: str) -> dict[str, Any]:
    """Copilot CLI."""
    return {"additionalContext": text}


def snake(event: str, text: str) -> dict[str, Any]:
    """Cursor."""
    return {"additional_context": text}


def own(event: str, text: str) -> dict[str, Any]:
    """Our own, for plugins."""
    return {"context": text}


def modified(event: str, text: str) -> dict[str, Any]:
    """Cline."""
    return {"contextModification": text}


def plain(event: str, text: str) -> str:
    """Hosts that put stdout before the model as it is."""
    return text


def nested_allow(event: str, text: str) -> dict[str, Any]:
    """Claude Code, VS Code."""
    decision = {"permissionDecision": "allow", "permissionDecisionReason": REASON}
    return {"hookSpecificOutput": {"hookEventName": event, **decision}}


def behavior_allow(event: str, text: str) -> dict[str, Any]:
    """Codex CLI; any further key would fail the approval."""
    return {
        "hookSpecificOutput": {
            "hookEventName": event,
            "decision": {"behavior": "allow"},
        }
    }


def flat_allow(event: str, text: str) -> dict[str, Any]:
    """Copilot CLI before a tool."""
    return {"permissionDecision": "allow", "permissionDecisionReason": REASON}


def flat_behavior(event: str, text: str) -> dict[str, Any]:
    """Copilot CLI where a permission is asked for."""
    return {"behavior": "allow"}


def permission(event: str, text: str) -> dict[str, Any]:
    """Cursor."""
    return {"permission": "allow"}


def own_allow(event: str, text: str) -> dict[str, Any]:
    """Our own, for plugins."""
    return {"allow": True}


class Contract(NamedTuple):
    """One event of a host: which verb serves it and how it is answered.

    `fresh`: what was said at this event is not kept in the conversation, so that it
    is to be said again whatever the session was shown before.
    """

    verb: str
    form: Form | None = None
    fresh: bool = False


# OpenCode and what is built on it.
_PLUGIN: Mapping[str, Contract] = {
    # The system text is made anew for each request to the model.
    "experimental.chat.system.transform": Contract("start", own, fresh=True),
    "session.created": Contract("start"),
    "chat.message": Contract("prompt", own),
    "permission.ask": Contract("pre", own_allow),
    "tool.execute.before": Contract("pre"),
    "tool.execute.after": Contract("post"),
    "experimental.session.compacting": Contract("compact"),
    "session.compacted": Contract("start"),
    "session.idle": Contract("end"),
    "session.deleted": Contract("end"),
}
# Host -> event -> contract. The first event of a verb is meant where a payload has no
# name of it.
HOSTS: Mapping[str, Mapping[str, Contract]] = {
    "claude-code": {
        "SessionStart": Contract("start", nested),
        "UserPromptSubmit": Contract("prompt", nested),
        "PreToolUse": Contract("pre", nested_allow),
        "PostToolUse": Contract("post"),
        "PostToolUseFailure": Contract("post", nested),
        "PreCompact": Contract("compact"),
        "SessionEnd": Contract("end"),
    },
    "gemini": {
        "SessionStart": Contract("start", nested),
        "BeforeAgent": Contract("prompt", nested),
        # "allow" does nothing at this event: a policy file does it.
        "BeforeTool": Contract("pre"),
        "AfterTool": Contract("post"),
        "PreCompress": Contract("compact"),
        "SessionEnd": Contract("end"),
    },
    "codex": {
        "SessionStart": Contract("start", nested),
        "UserPromptSubmit": Contract("prompt", nested),
        "PermissionRequest": Contract("pre", behavior_allow),
        # "allow" alone is refused at this event and marks the hook as failed.
        "PreToolUse": Contract("pre"),
        "PostToolUse": Contract("post"),
        "PreCompact": Contract("compact"),
        "SessionEnd": Contract("end"),
    },
    "copilot": {
        "sessionStart": Contract("start", flat),
        "SessionStart": Contract("start", flat),
        "userPromptSubmitted": Contract("prompt", flat),
        "UserPromptSubmit": Contract("prompt", flat),
        "preToolUse": Contract("pre", flat_allow),
        "PreToolUse": Contract("pre", flat_allow),
        "permissionRequest": Contract("pre", flat_behavior),
        "PermissionRequest": Contract("pre", flat_behavior),
        "postToolUse": Contract("post"),
        "PostToolUse": Contract("post"),
        # Its reference names no key by which an answer could carry text.
        "postToolUseFailure": Contract("post"),
        "PostToolUseFailure": Contract("post"),
        "preCompact": Contract("compact"),
        "PreCompact": Contract("compact"),
        "sessionEnd": Contract("end"),
        "SessionEnd": Contract("end"),
    },
    "opencode": _PLUGIN,
    "kilo": _PLUGIN,
    "cursor": {
        "sessionStart": Contract("start", snake),
        "beforeSubmitPrompt": Contract("prompt"),
        "preToolUse": Contract("pre", permission),
        "beforeShellExecution": Contract("pre", permission),
        "postToolUse": Contract("post"),
        "postToolUseFailure": Contract("post"),
        "afterShellExecution": Contract("post"),
        "preCompact": Contract("compact"),
        "sessionEnd": Contract("end"),
    },
    "vscode": {
        "SessionStart": Contract("start", nested),
        "UserPromptSubmit": Contract("prompt"),
        "PreToolUse": Contract("pre", nested_allow),
        "PostToolUse": Contract("post"),
        "PreCompact": Contract("compact"),
    },
    "windsurf": {
        "pre_user_prompt": Contract("prompt"),
        "pre_run_command": Contract("pre"),
        "pre_mcp_tool_use": Contract("pre"),
        "post_run_command": Contract("post"),
        "post_mcp_tool_use": Contract("post"),
        "post_cascade_response_with_transcript": Contract("compact"),
    },
    # Claude's way; its reference tells the names of its events alone.
    "devin": {
        "SessionStart": Contract("start", nested),
        "UserPromptSubmit": Contract("prompt", nested),
        "PreToolUse": Contract("pre"),
        "PostToolUse": Contract("post"),
        "PostCompaction": Contract("compact"),
        "SessionEnd": Contract("end"),
    },
    "cline": {
        "agent_start": Contract("start"),
        "agent_resume": Contract("start"),
        "prompt_submit": Contract("prompt"),
        "tool_call": Contract("pre"),
        # Also of a tool that failed, and then it takes a text.
        "tool_result": Contract("post", modified),
        "session_shutdown": Contract("end"),
        "agent_end": Contract("end"),
    },
    "amazon-q": {
        "agentSpawn": Contract("start", plain),
        "userPromptSubmit": Contract("prompt", plain),
        "preToolUse": Contract("pre"),
        "postToolUse": Contract("post"),
    },
}
# Names by which people and older commands call the same program.
ALIASES: Mapping[str, str] = {
    "claude": "claude-code",
    "gemini-cli": "gemini",
    "codex-cli": "codex",
    "copilot-cli": "copilot",
    "github-copilot": "copilot",
    "vs-code": "vscode",
    "windsurf-cascade": "windsurf",
    "kilo-code": "kilo",
    "q": "amazon-q",
    "kiro": "amazon-q",
}
# A host that we do not know reads a text at best.
OTHERS: Mapping[str, Contract] = {
    "start": Contract("start", plain),
    "prompt": Contract("prompt", plain),
}
# What ICM_HOOK_OUTPUT_FORMAT may be: the forms of a text and of an approval.
FORMATS: Mapping[str, tuple[Form, Form | None]] = {
    "plain": (plain, None),
    "claude": (nested, nested_allow),
    "cursor": (snake, permission),
    "json": (own, own_allow),
}


def host_of(named: str, payload: Payload, env: Mapping[str, str]) -> str:
    """The host that calls: as the command names it, corrected by what the payload is.

    Cursor, VS Code and Copilot CLI run hooks that were installed for Claude Code.
    """
    named = ALIASES.get(named.lower(), named.lower())
    told = _by_payload(payload)
    if named in HOSTS and (named not in _LENDERS or told not in _BORROWERS):
        return named
    return told or _by_variables(env) or UNKNOWN


_LENDERS, _BORROWERS = ("claude-code", "copilot"), ("cursor", "vscode", "copilot")


def _by_payload(payload: Payload) -> str:
    """The host that a payload gives away, "" for none."""
    fields = payload.fields
    for field, host in _MARKS:
        if field in fields:
            return host
    event = payload.event
    if event in _OF_ONE:
        return _OF_ONE[event]
    if "hookEventName" in payload.spelled:
        return "vscode"
    if "sessionId" in payload.spelled and not event:
        return "copilot"
    if "session_id" in fields and "timestamp" in fields:
        gemini = event in HOSTS["gemini"] and "transcript_path" in fields
        return "gemini" if gemini else "copilot"
    if "turn_id" in fields:
        return "codex"
    if "session_id" in fields and event in HOSTS["claude-code"]:
        # Codex names its model in each payload, Claude Code at the start at most.
        codex = "model" in fields and event != "SessionStart"
        return "codex" if codex else "claude-code"
    return ""


_MARKS = (
    ("cursor_version", "cursor"),
    ("agent_action_name", "windsurf"),
    ("cline_version", "cline"),
)
# Host -> the file that it keeps of a session, below a root of hosts/places.py. `*` is
# what a payload does not tell (a project, a day), `{first}` the id's first part.
SESSION_FILES: Mapping[str, str] = {
    "claude-code": "{claude}/projects/*/{session}.jsonl",
    "gemini": "{gemini}/tmp/*/chats/session-*-{first}.jsonl",
    "codex": "{codex}/sessions/*/*/*/rollout-*-{session}.jsonl",
    "copilot": "{copilot}/session-state/{session}/events.jsonl",
    "cursor": "{cursor}/projects/*/agent-transcripts/{session}/{session}.jsonl",
    "cline": "{cline}/data/tasks/{session}/api_conversation_history.json",
}
# Events whose name occurs in one host alone, or in one and those built on it.
_KINDS = [host for host in HOSTS if host != "kilo"]
_OF_ONE = {
    event: host
    for host in _KINDS
    for event in HOSTS[host]
    if sum(event in HOSTS[other] for other in _KINDS) == 1
}
# Variables that hosts give to what they start, the most telling first.
_VARIABLES = (
    ("CURSOR_VERSION", "cursor"),
    ("CURSOR_PROJECT_DIR", "cursor"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("GEMINI_CLI", "gemini"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_CLI", "codex"),
    ("COPILOT_CLI", "copilot"),
    ("OPENCODE", "opencode"),
    ("CLAUDECODE", "claude-code"),
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CLAUDE_CLI", "claude-code"),
    ("CLAUDE_PROJECT_DIR", "claude-code"),
)


def _by_variables(env: Mapping[str, str]) -> str:
    return next((h for name, h in _VARIABLES if env.get(name, "") not in ("", "0")), "")


def contract_of(
    host: str, verb: str, payload: Payload, *, event: str = ""
) -> tuple[str, Contract] | None:
    """The event that is to be answered and its contract; None for one not known.

    `event`: its name where the command gives it.
    """
    known = HOSTS.get(host)
    if known is None:
        return _of_others(verb, payload)
    called = payload.event or event
    if not called:
        called = _unnamed(host, verb, payload)
    contract = known.get(called)
    if contract is None or contract.verb != verb:
        return None
    return called, contract


def _of_others(verb: str, payload: Payload) -> tuple[str, Contract] | None:
    """What a host that we do not know asks, if it says anything that we know."""
    found, said = OTHERS.get(verb), (payload.session, payload.cwd, payload.prompt)
    if found is None or not any((payload.event, *said)):
        return None
    if payload.event and not _LIKE[verb].search(payload.event):
        return None
    return payload.event or verb, found


_LIKE = {
    "start": re.compile("start|spawn|begin|open|create", re.IGNORECASE),
    "prompt": re.compile("prompt|message|beforeagent|input", re.IGNORECASE),
}


def _unnamed(host: str, verb: str, payload: Payload) -> str:
    """The event of a payload that does not name it (Copilot CLI's camelCase)."""
    if host == "copilot" and verb == "pre" and "tool_args" not in payload.fields:
        return "permissionRequest"
    if host == "copilot" and verb == "post" and payload.error:
        return "postToolUseFailure"
    events = (name for name, known in HOSTS[host].items() if known.verb == verb)
    return next(events, "")


def form_of(contract: Contract, env: Mapping[str, str]) -> Form | None:
    """How to answer: as the host wants it, or as the variable says."""
    chosen = FORMATS.get(env.get(FORMAT, "").strip().lower())
    if chosen is None or contract.form is None:
        return contract.form
    return chosen[contract.verb == "pre"]

"""What each host sends at an event: a sample by which an installed hook is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

QUESTION = "Which port does the NATS JetStream of the Kettle-9 probe use?"
ERROR = "error[E0277]: the trait bound `Kettle9: Clone` is not satisfied"
# What is stored before hooks are tried, so that they have something to say.
NOTES = (
    ("preferences", "The NATS JetStream of the Kettle-9 probe uses port 4223."),
    ("errors-resolved", f"{ERROR} was solved by deriving Clone for Kettle9."),
)

Fields = dict[str, Any]


class Asked(NamedTuple):
    """One event: its name, our verb, a session of its own, a folder, a command."""

    event: str
    verb: str
    session: str
    cwd: str
    command: str

    @property
    def fails(self) -> bool:
        """Whether the event is that of a tool that failed."""
        return "fail" in self.event.lower()


def payload(host: str, asked: Asked) -> Fields:
    """A payload of a host, in the spelling of that host."""
    return SENDERS.get(host, _claude)(asked)


def _claude(asked: Asked) -> Fields:
    """Claude Code, and with more or fewer fields those that follow it."""
    common = {
        "session_id": asked.session,
        "transcript_path": "",
        "cwd": asked.cwd,
        "hook_event_name": asked.event,
    }
    shell = {"tool_name": "Bash", "tool_input": {"command": asked.command}}
    own: Mapping[str, Fields] = {
        "start": {"source": "startup"},
        "prompt": {"prompt": QUESTION},
        "pre": {**shell, "tool_use_id": "toolu_1"},
        "post": {**shell, "tool_use_id": "toolu_1", **_result(asked)},
        "compact": {"trigger": "auto", "custom_instructions": ""},
        "end": {"reason": "other"},
    }
    return common | own[asked.verb]


def _result(asked: Asked) -> Fields:
    if asked.fails:
        return {"error": f"Exit code 101\n{ERROR}"}
    return {"tool_response": {"stdout": "done", "stderr": "", "interrupted": False}}


def _codex(asked: Asked) -> Fields:
    return _claude(asked) | {"transcript_path": None, "model": "o", "turn_id": "1"}


def _gemini(asked: Asked) -> Fields:
    more = {"timestamp": "2026-11-30T09:00:00.000Z"}
    if asked.verb == "post":
        answer = {"llmContent": "done", "returnDisplay": "done"}
        more |= {"tool_name": "run_shell_command", "tool_response": answer}  # type: ignore[dict-item]
    return _claude(asked) | more


def _copilot(asked: Asked) -> Fields:
    common = {"sessionId": asked.session, "timestamp": 1, "cwd": asked.cwd}
    shell = {"toolName": "bash", "toolArgs": {"command": asked.command}}
    worked = {"resultType": "success", "textResultForLlm": "done"}
    own: Mapping[str, Fields] = {
        "start": {"source": "new"},
        "prompt": {"prompt": QUESTION},
        "pre": shell,
        "post": {
            **shell,
            **({"error": ERROR} if asked.fails else {"toolResult": worked}),
        },
        "compact": {"transcriptPath": "", "trigger": "auto", "customInstructions": ""},
        "end": {"reason": "complete"},
    }
    return common | own[asked.verb]


def _cursor(asked: Asked) -> Fields:
    common = {
        "conversation_id": asked.session,
        "generation_id": "g",
        "hook_event_name": asked.event,
        "cursor_version": "3.0.0",
        "workspace_roots": [asked.cwd],
        "transcript_path": None,
    }
    failed = {"error_message": ERROR, "failure_type": "error"}
    worked = {"tool_output": '{"stdout": "done"}'}
    tool = {"tool_name": "Shell", "tool_input": {"command": asked.command}}
    own: Mapping[str, Fields] = {
        "start": {"session_id": asked.session},
        "prompt": {"prompt": QUESTION},
        "pre": {"command": asked.command, "cwd": asked.cwd, "sandbox": False},
        "post": {**tool, **(failed if asked.fails else worked)},
        "compact": {"trigger": "auto"},
        "end": {"session_id": asked.session, "reason": "completed"},
    }
    return common | own[asked.verb]


def _cascade(asked: Asked) -> Fields:
    return {
        "agent_action_name": asked.event,
        "trajectory_id": asked.session,
        "tool_info": {"cwd": asked.cwd, "transcript_path": ""},
    }


def _amazon_q(asked: Asked) -> Fields:
    own: Mapping[str, Fields] = {
        "prompt": {"prompt": QUESTION},
        "post": {
            "tool_name": "execute_bash",
            "tool_input": {"command": asked.command},
            "tool_response": {"success": True, "result": ["done"]},
        },
    }
    common = {"hook_event_name": asked.event, "cwd": asked.cwd}
    return common | own.get(asked.verb, {})


# The name of a file -> the name that its payload has.
CLINE = {
    "PostToolUse": "tool_result",
    "TaskComplete": "agent_end",
    "SessionShutdown": "session_shutdown",
}


def _cline(asked: Asked) -> Fields:
    common = {
        "clineVersion": "4.0.0",
        "hookName": CLINE.get(asked.event, asked.event),
        "taskId": asked.session,
        "workspaceRoots": [asked.cwd],
    }
    called = {"id": "1", "name": "run_commands", "input": {"command": asked.command}}
    failed = {"tool_result": {**called, "output": None, "error": ERROR}}
    return common | (failed if asked.verb == "post" else {})


def _plugin(asked: Asked) -> Fields:
    """What our plugin for OpenCode and Kilo Code passes on."""
    given = {"sessionID": asked.session}
    shell = {"tool": "bash", "callID": "c", "args": {"command": asked.command}}
    permission = {"type": "bash", "metadata": {"command": asked.command}}
    own: Mapping[str, Fields] = {
        "start": {"input": given, "output": {"system": []}},
        "prompt": {
            "input": given,
            "output": {"parts": [{"type": "text", "text": QUESTION}]},
        },
        "pre": {"input": {**given, **permission}, "output": {"status": "ask"}},
        "post": {"input": {**given, **shell}, "output": {"output": "done"}},
        "compact": {"input": given, "output": {"context": []}, "messages": []},
        "end": {"messages": []},
    }
    common = {
        "hook_event_name": asked.event,
        "cwd": asked.cwd,
        "session_id": asked.session,
    }
    return common | own[asked.verb]


SENDERS: Mapping[str, Callable[[Asked], Fields]] = {
    "gemini": _gemini,
    "codex": _codex,
    "copilot": _copilot,
    "cursor": _cursor,
    "windsurf": _cascade,
    "amazon-q": _amazon_q,
    "cline": _cline,
    "opencode": _plugin,
    "kilo": _plugin,
}

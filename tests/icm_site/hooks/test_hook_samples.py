"""Every sample payload of every host gets that host's documented answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from icm_site.hooks import contracts
from tests.icm_site.hooks.hooking import SAMPLES, TOOLS, Hooks, context, sample

EXPECTED = SAMPLES / "_expected_stdout"
# The verb of a sample, by the beginning of its name in lower case.
VERBS = (
    ("start", "sessionstart agentspawn taskstart event.session.created"),
    ("start", "experimental.chat.system.transform"),
    ("prompt", "userpromptsubmit beforeagent beforesubmitprompt chat.message"),
    ("prompt", "pre_user_prompt"),
    ("compact", "precompact precompress experimental.session.compacting"),
    ("compact", "post_cascade_response_with_transcript"),
    ("pre", "pretooluse permission beforetool beforeshell tool.execute.before"),
    ("pre", "pre_run_command"),
    ("post", "posttooluse aftertool tool.execute.after post_run_command"),
    ("end", "sessionend"),
    ("end", "stop"),
)
# Where a text or an approval is due and no file says so: form -> samples.
ALSO = {
    "copilot-cli.sessionStart": ("copilot-cli/SessionStart.pascal",),
    "copilot-cli.preToolUse": ("copilot-cli/PreToolUse.pascal",),
    "cursor.beforeShellExecution": ("cursor/preToolUse",),
    "claude-code.SessionStart": (
        *("claude-code/SessionStart.compact", "vscode/SessionStart"),
        "codex-cli/SessionStart.compact",
    ),
    "claude-code.PreToolUse": ("vscode/PreToolUse",),
}
OWN = {
    "copilot-cli/userPromptSubmitted": {"additionalContext"},
    "claude-code/PostToolUseFailure": {"hookSpecificOutput"},
    "opencode/experimental.chat.system.transform": {"context"},
    "opencode/chat.message": {"context"},
    "opencode/permission.ask": {"allow"},
}
PLAIN = ("amazon-q/agentSpawn", "amazon-q/userPromptSubmit")
FILES = sorted(SAMPLES.glob("[a-z]*/*.json"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def verb_of(path: Path) -> str:
    event = path.stem.lower()
    return next(verb for verb, names in VERBS if event.startswith(tuple(names.split())))


def expected(name: str) -> dict[str, Any] | None:
    """The file that says what is due, for this sample or one of the same form."""
    also = {other: form for form, others in ALSO.items() for other in others}
    file = EXPECTED / f"{also.get(name, name.replace('/', '.'))}.json"
    found: dict[str, Any] | None = None
    if file.exists():
        found = json.loads(file.read_text("utf-8"))
    return found


def shape(value: Any) -> Any:
    """Keys, and the values that are no stored text."""
    if not isinstance(value, dict):
        return "…"
    kept = {"hookEventName", "permissionDecision", "behavior", "permission"}
    kept |= {"permissionDecisionReason"}
    return {k: v if k in kept else shape(v) for k, v in value.items()}


def test_all_samples_have_a_verb_and_there_are_many() -> None:
    assert len(FILES) == 67
    assert {verb_of(path) for path in FILES} == set(contracts.VERBS)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_sample_gets_the_hosts_contract(path: Path, hooks: Hooks) -> None:
    name, tool = name_of(path), TOOLS[path.parent.name]
    body = path.read_bytes().replace(b"/home/mira/work", bytes(hooks.work.parent))
    line = hooks.run(verb_of(path), body, tool=tool).line
    wanted = expected(name)
    if name in PLAIN:
        assert "<icm-notes>" in line
        assert not line.startswith("{")
    elif name in OWN:
        assert json.loads(line).keys() == OWN[name]
    elif wanted is None:
        assert line == ""
    else:
        assert line.count("\n") == 1
        assert shape(json.loads(line)) == shape(wanted)
    if said := context(line):
        assert re.search("NATS|Clone for Leaf", said)
        assert "RabbitMQ" not in said


# Copilot's camelCase payloads have no event's name, and Amazon Q no session.
def test_cline_is_told_what_solved_the_error_of_a_tool(hooks: Hooks) -> None:
    payload = sample("cline/PostToolUse")
    payload["tool_result"] |= {
        "error": "error[E0277]: the trait bound `Leaf: Clone` is not satisfied",
        "output": None,
    }
    payload["workspaceRoots"] = [str(hooks.work)]
    line = hooks.run("post", payload, tool="cline").line
    assert json.loads(line).keys() == {"contextModification"}
    assert "deriving Clone for Leaf" in line


DEVIN = [("start", "SessionStart"), ("prompt", "UserPromptSubmit")]


@pytest.mark.parametrize(("verb", "event"), DEVIN)
def test_devin_is_answered_as_claude_code_is(
    verb: str, event: str, hooks: Hooks
) -> None:
    payload = sample(f"claude-code/{event}", cwd=str(hooks.work))
    done = hooks.run(verb, payload, tool="devin")
    assert json.loads(done.line)["hookSpecificOutput"]["hookEventName"] == event
    assert done.event.host == "devin"


def test_vs_code_gets_its_own_answer_to_hooks_of_copilot(hooks: Hooks) -> None:
    payload = sample("vscode/PreToolUse")
    line = hooks.run("pre", payload, tool="copilot-cli").line
    assert json.loads(line).keys() == {"hookSpecificOutput"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_host_is_told_from_the_payload(path: Path, hooks: Hooks) -> None:
    body, verb = path.read_bytes(), verb_of(path)
    tool = TOOLS[path.parent.name]
    if name_of(path) in ("codex-cli/SessionStart", "codex-cli/SessionStart.compact"):
        # Nothing tells them from those of Claude Code, whose answer is the same.
        tool = "claude-code"
    assert hooks.run(verb, body, tool="").event.host in (tool, ""), path

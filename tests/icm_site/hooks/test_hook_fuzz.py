"""Payloads that are torn, mutated, huge or of other types: the contract holds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from icm_site.hooks import contracts
from tests.conftest import PROJECT
from tests.icm_site.hooks.hooking import SAMPLES, TOOLS, Hooks
from tests.icm_site.hooks.test_hook_samples import FILES, shape, verb_of

# The number of mutated payloads, and how many of them go through the real command.
COUNT = int(os.environ.get("ICM_TEST_HOOK_PAYLOADS", "150"))
COMMANDS = COUNT // 25
SEED = 20_261_130

VALUES: list[Any] = [
    *(None, True, 7, -1.5, 10**30, "", " ", "x" * 5_000, "\0", "\ud800", "\u202e"),
    *([], {}, [[]], {"a": {"b": [1]}}, "{}", '{"command": "icm topics"}', "[1,", "🫖"),
    *(["icm topics"], {"": ""}, "../../etc/passwd", "</icm-notes>", float("1e300")),
]


def mutated(found: Any, chance: random.Random) -> Any:
    """A payload with some of its parts taken out, replaced or doubled."""
    if isinstance(found, dict) and found:
        made = dict(found)
        for _ in range(chance.randint(1, 3)):
            name = chance.choice(list(made) or [""])
            act = chance.randrange(4)
            if act == 0:
                made.pop(name, None)
            elif act == 1:
                made[name] = chance.choice(VALUES)
            elif act == 2:
                made[chance.choice(NAMES)] = chance.choice(VALUES)
            else:
                made[name] = mutated(made.get(name), chance)
        return made
    return chance.choice(VALUES)


NAMES = (
    *("prompt", "session_id", "sessionId", "cwd", "workspace_roots", "tool_input"),
    *("toolArgs", "tool_name", "hook_event_name", "hookEventName", "source", "error"),
    *("transcript_path", "output", "input", "event", "timestamp", "cursor_version"),
)


def torn(body: bytes, chance: random.Random) -> bytes:
    """Bytes of a payload as no host should send them."""
    place = chance.randrange(len(body) + 1)
    acts: list[Callable[[], bytes]] = [
        lambda: body[:place],
        lambda: body[:place] + b"\xff\xfe\x80" + body[place:],
        lambda: body.decode().encode("utf-16"),
        lambda: b"\xef\xbb\xbf" + body,
        lambda: body + body,
        lambda: json.dumps(body.decode()).encode(),
        lambda: b"[" * 50_000,
        lambda: body.replace(b'"', b"'"),
        lambda: bytes(chance.randrange(256) for _ in range(200)),
    ]
    return chance.choice(acts)()


def cases(count: int) -> Iterator[tuple[str, str, bytes]]:
    """Verb, host and payload; the same for the same count."""
    chance = random.Random(SEED)
    for _ in range(count):
        path = chance.choice(FILES)
        found = json.loads(path.read_text("utf-8"))
        if chance.random() < 0.3:
            body = torn(json.dumps(found).encode(), chance)
        else:
            body = json.dumps(mutated(found, chance)).encode()
        verb = verb_of(path)
        if chance.random() < 0.1:
            verb = chance.choice(contracts.VERBS)
        tool = TOOLS[path.parent.name] if chance.random() < 0.9 else ""
        yield verb, tool, body


def shapes(verb: str) -> list[Any]:
    """What any host takes in answer to a verb, as keys."""
    return [
        shape(contract.form(event, ""))
        for known in contracts.HOSTS.values()
        for event, contract in known.items()
        if contract.verb == verb and contract.form not in (None, contracts.plain)
    ]


def is_contract(verb: str, line: str) -> bool:
    """Whether a line is nothing, one of the documented objects, or a plain text."""
    if not line:
        return True
    if not line.startswith("{"):
        return line.startswith("ICM, the memory") and verb in ("start", "prompt")
    return shape(json.loads(line)) in shapes(verb) and line.count("\n") == 1


def test_mutated_payloads_get_the_contract_or_nothing(hooks: Hooks) -> None:
    answered = 0
    for verb, tool, body in cases(COUNT):
        line = hooks.run(verb, body, tool=tool).line
        assert is_contract(verb, line), (verb, tool, body[:500], line[:500])
        answered += bool(line)
        hooks.later()
    assert answered > COUNT // 20


def command(
    hooks: Hooks, verb: str, tool: str, body: bytes
) -> subprocess.CompletedProcess[bytes]:
    """The real command, without a resident."""
    words = ["hook", verb, *(["--tool", tool] if tool else [])]
    return subprocess.run(
        [sys.executable, "-m", "icm_site.cli", *words],
        input=body,
        capture_output=True,
        env=dict(os.environ) | hooks.env | {"PYTHONPATH": str(PROJECT)},
        cwd=hooks.work,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_the_real_command_keeps_the_contract_too(hooks: Hooks) -> None:
    for verb, tool, body in list(cases(COUNT))[:COMMANDS]:
        done = command(hooks, verb, tool, body)
        assert (done.returncode, done.stderr) == (0, b""), (verb, tool, body[:500])
        assert is_contract(verb, done.stdout.decode()), (verb, tool, body[:500])


@pytest.mark.slow
@pytest.mark.parametrize("size", [30 << 20, 33 << 20])
def test_a_huge_payload_harms_nobody(size: int, hooks: Hooks, tmp_path: Path) -> None:
    sample = json.loads((SAMPLES / "claude-code/PostToolUse.json").read_text())
    sample["tool_response"]["stdout"] = "x" * size
    done = command(hooks, "post", "claude-code", json.dumps(sample).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    sample = json.loads((SAMPLES / "claude-code/UserPromptSubmit.json").read_text())
    sample["prompt"] = "brew queue " * (size // 11)
    done = command(hooks, "prompt", "claude-code", json.dumps(sample).encode())
    assert (done.returncode, done.stderr) == (0, b"")

"""The story: what one session says is there in the next, and nowhere else."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT
from tests.icm_site.hooks.hooking import context

pytestmark = pytest.mark.slow

CLIENT = PROJECT / "icm_site/hook_client.py"
WAIT_SECONDS = 120
SESSION = "5d0b7c1e-3f0a-4d8e-9a51-0c7f4e2b9d10"

# What a person, an agent and its tools say in an afternoon, as Claude Code writes it.
TALK: list[tuple[str, Any]] = [
    ("user", "The order export is slow. Can you look at it?"),
    ("assistant", [{"type": "text", "text": "Let me look at the export first."}]),
    (
        "assistant",
        [
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "Bash",
                "input": {"command": "pytest tests/test_export.py"},
            }
        ],
    ),
    (
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": "FAILED tests/test_export.py::test_rows - MemoryError: "
                "cannot allocate the whole sheet",
            }
        ],
    ),
    (
        "assistant",
        [
            {"type": "thinking", "thinking": "We decided to use Oracle."},
            {
                "type": "text",
                "text": "The root cause is that openpyxl keeps the whole sheet in "
                "memory; write-only mode fixes the MemoryError of the export.",
            },
        ],
    ),
    (
        "user",
        "We decided to write the order export with polars instead of openpyxl because "
        "it streams 2 million rows.",
    ),
    (
        "user",
        "<icm-notes>\n- We decided to keep invoices in Mongo 4.\n</icm-notes>\n"
        "I always want type hints in Python code.",
    ),
    ("user", "My key is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8, use it for CI."),
]


def transcript(folder: Path) -> Path:
    file = folder / f"{SESSION}.jsonl"
    lines = [json.dumps({"type": "summary", "summary": "Export", "leafUuid": "x"})]
    for number, (role, content) in enumerate(TALK):
        row = {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "isSidechain": False,
            "sessionId": SESSION,
            "timestamp": f"2026-08-22T09:0{number}:00.000Z",
            "message": {"role": role, "content": content},
        }
        lines.append(json.dumps(row))
    file.write_text("\n".join(lines) + '\n{"type": "assist', "utf-8")
    return file


class Machine:
    """A person's machine without a resident, with two projects."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.env = env
        self.shop, self.bakery = folder / "shop", folder / "bakery"
        for place in (self.shop, self.bakery):
            place.mkdir()
        self.transcript = transcript(folder)

    def hook(self, verb: str, place: Path, session: str, **fields: Any) -> str:
        """What a session is told at an event; "" for nothing."""
        payload = {"session_id": session, "cwd": str(place), **fields}
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(CLIENT), verb, "--tool", "claude-code"],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.env,
            cwd=place,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return context(done.stdout.decode())

    def asks(self, place: Path, session: str, prompt: str) -> str:
        return self.hook(
            "prompt", place, session, hook_event_name="UserPromptSubmit", prompt=prompt
        )

    def starts(self, place: Path, session: str) -> str:
        return self.hook(
            "start", place, session, hook_event_name="SessionStart", source="startup"
        )

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """What the database says; nothing while there is none."""
        try:
            with closing(
                sqlite3.connect(f"file:{self.env['ICM_DB']}?mode=ro", uri=True)
            ) as raw:
                return raw.execute(statement).fetchall()
        except sqlite3.OperationalError:
            return []

    def stored(self) -> str:
        """All texts, one below the other."""
        return "\n".join(row[0] for row in self.rows("SELECT summary FROM memories"))


@pytest.fixture
def machine(tmp_path: Path, environment: dict[str, str]) -> Machine:
    return Machine(tmp_path, environment)


def until(true: Callable[[], bool]) -> None:
    """Wait for a process that nobody waits for."""
    end = time.monotonic() + WAIT_SECONDS
    while not true():
        assert time.monotonic() < end, "nothing was learned"
        time.sleep(0.3)


def test_what_a_session_learned_is_there_in_the_next_one(machine: Machine) -> None:
    assert machine.starts(machine.shop, "first") == ""
    machine.hook(
        "end",
        machine.shop,
        "first",
        hook_event_name="SessionEnd",
        transcript_path=str(machine.transcript),
        reason="prompt_input_exit",
    )
    until(lambda: "polars" in machine.stored())

    known = machine.starts(machine.shop, "second")
    assert "polars instead of openpyxl" in known
    assert "type hints" in known
    answer = machine.asks(
        machine.shop, "third", "which library do we use for the order export?"
    )
    assert "polars" in answer
    assert machine.asks(machine.shop, "third", "plan a birthday party in Rome") == ""

    elsewhere = machine.starts(machine.bakery, "fourth")
    assert "polars" not in elsewhere
    asked = machine.asks(
        machine.bakery, "fifth", "which library do we use for the order export?"
    )
    assert "polars" not in asked

    for absent in ("Oracle", "Mongo", "ghp_a1B2", "Let me look"):
        assert absent not in machine.stored()
    kinds = machine.rows("SELECT DISTINCT importance, origin, host FROM memories")
    assert kinds == [("medium", "hook", "claude-code")]


def test_compaction_and_tools_are_learned_from_without_a_resident(
    machine: Machine,
) -> None:
    command = [sys.executable, "-m", "icm_site.cli", "stats"]
    subprocess.run(command, capture_output=True, env=machine.env, check=True)
    for number in range(3):
        machine.hook(
            "post",
            machine.shop,
            "first",
            hook_event_name="PostToolUse",
            tool_name="Bash",
            tool_use_id=f"toolu_{number}",
            tool_input={"command": "pytest"},
            tool_response={
                "stdout": f"FAILED tests/test_{number}.py::test_tea - KeyError: 'milk'"
            },
        )
    until(lambda: "test_2.py::test_tea" in machine.stored())
    machine.hook(
        "compact",
        machine.shop,
        "first",
        hook_event_name="PreCompact",
        transcript_path=str(machine.transcript),
        trigger="auto",
    )
    until(lambda: "openpyxl" in machine.stored())

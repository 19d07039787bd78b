"""What hooks learn: from outputs and transcripts of every host, and at what cost."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from icm_site import conf
from icm_site.hooks import answer, bookkeeping, capture, memory
from memories import extraction, pausing, transcripts
from memories.models import Memory, Metadata
from tests.conftest import PROJECT
from tests.icm_site.hooks.hooking import TOOLS, sample

pytestmark = pytest.mark.django_db

TRANSCRIPTS = PROJECT / "tests/memories/transcripts"
FAILED = "FAILED tests/test_tea.py::test_milk - AssertionError: 90 != 85\n"
FACT = "pytest failed: tests/test_tea.py::test_milk"


def run(verb: str, payload: Any, *, tool: str = "claude-code", every: int = 1) -> None:
    """One run as the resident does it, with what comes after the answer."""

    def warm(cwd: str) -> memory.Memory:
        found = memory.warm(cwd, {"HOME": "/nonexistent"}, conf.current())
        found.settings = found.settings._replace(extract_every=every)
        return found

    done = answer.respond(
        [verb, "--tool", tool],
        json.dumps(payload).encode(),
        env={"HOME": "/nonexistent"},
        cwd="/srv/work/teapot-api",
        memory=warm,
        claim=lambda key: True,
    )
    assert done.line == ""
    assert done.error == ""
    bookkeeping.after(done)


def texts() -> list[str]:
    return list(Memory.objects.order_by("id").values_list("summary", flat=True))


def post(output: object, **fields: object) -> dict[str, Any]:
    given = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, **fields}
    return {"hook_event_name": "PostToolUse", "tool_response": output, **given}


@pytest.mark.parametrize(
    "payload",
    [
        post(FAILED),
        post({"stdout": FAILED, "stderr": ""}),
        post({"output": FAILED}),
        post({"content": FAILED}),
        post({"content": [{"type": "text", "text": FAILED}]}),
        post({"file": {"content": FAILED}}),
        post(json.dumps({"output": FAILED})),
        post(None, tool_output=FAILED),
        post(None, toolResult={"textResultForLlm": FAILED}),
        post(None, tool_result={"text_result_for_llm": FAILED}),
    ],
)
def test_the_output_is_found_wherever_a_host_puts_it(payload: dict[str, Any]) -> None:
    run("post", payload)
    (text,) = texts()
    assert text.startswith(FACT)
    row = Memory.objects.get()
    assert (row.topic, row.importance, row.origin) == (
        "context-teapot-api",
        "medium",
        "hook",
    )


def test_a_failed_call_is_read_too() -> None:
    failed = sample("claude-code/PostToolUseFailure", error=f"Exit code 1\n{FAILED}")
    run("post", failed)
    assert texts()[0].startswith(FACT)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("codex-cli", "PostToolUse"),
        ("gemini-cli", "AfterTool"),
        ("copilot-cli", "postToolUse"),
        ("opencode", "tool.execute.after"),
        ("claude-code", "PostToolUse"),
        ("cursor", "postToolUse"),
    ],
)
def test_every_host_is_counted(tool: str, name: str) -> None:
    run("post", sample(f"{tool}/{name}"), tool=TOOLS[tool], every=100)
    assert Metadata.objects.read(capture.COUNTER) == "1"


def test_every_third_call_is_read_whoever_calls() -> None:
    for number in range(7):
        output = FAILED.replace("milk", f"milk_{number}")
        tool = ("claude-code", "codex")[number % 2]
        run("post", post(output), tool=tool, every=3)
    assert [text[len(FACT) : len(FACT) + 2] for text in texts()] == ["_2", "_5"]


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "icm_memory_recall"},
        {"tool_name": "mcp__icm__icm_memory_recall"},
        {"tool_name": "mcp_icm_icm_memory_recall"},
        {"tool_name": "icm-icm_memory_recall"},
        {"tool_input": {"command": "icm recall 'failed tests'"}},
        {"tool_input": {"command": "cd x && /opt/bin/icm recall y"}},
    ],
)
def test_our_own_tools_are_neither_read_nor_counted(fields: dict[str, Any]) -> None:
    run("post", post(FAILED, **fields))
    assert texts() == []
    assert Metadata.objects.read(capture.COUNTER) is None


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("icm recall x", True),
        ("cd a && ./bin/icm store", True),
        ("make;(C:\\bin\\ICM.EXE stats", True),
        ("echo icm is here", False),
        ("micm x", False),
        ("cat icm", False),
        # A file that is written: no bracket of it may cost a look at all the rest.
        ("cat <<E > a.js\n" + "a(b;c);" * 100_000, False),
    ],
)
def test_a_command_of_ours_is_known_by_the_name_it_begins_with(
    command: str, ours: bool
) -> None:
    assert capture.runs_icm(command) is ours


def test_of_a_large_output_the_end_is_read() -> None:
    first = FAILED.replace("milk", "early")
    run("post", post(f"{first}{'x' * 79}\n" + ("é" * 40 + "\n") * 400 + FAILED))
    (text,) = texts()
    assert "test_milk" in text


def test_nothing_is_captured_while_paused_or_switched_off() -> None:
    pausing.pause("teapot-api", duration=None, now=0.0)
    run("post", post(FAILED))
    pausing.resume(None)
    config = conf.current()
    off = dataclasses.replace(config.extraction, enabled=False)
    with conf.within(dataclasses.replace(config, extraction=off)):
        run("post", post(FAILED))
    assert texts() == []


def test_secrets_and_injected_notes_are_not_captured() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    run("post", post(FAILED.replace("90 != 85", f"token={secret}")))
    assert len(texts()) == 1
    assert secret not in texts()[0]
    run("post", post(f"<icm-notes>\n{FAILED.replace('milk', 'cream')}</icm-notes>"))
    assert len(texts()) == 1


COMPACTIONS = {
    "claude-code": "PreCompact",
    "codex-cli": "PreCompact",
    "gemini-cli": "PreCompress",
    "copilot-cli": "preCompact",
    "cursor": "preCompact",
}


@pytest.mark.parametrize(("tool", "event"), COMPACTIONS.items())
def test_the_transcript_of_every_host_is_read(tool: str, event: str) -> None:
    transcript = str(TRANSCRIPTS / f"{tool}.jsonl")
    payload = sample(f"{tool}/{event}")
    name = "transcriptPath" if "transcriptPath" in payload else "transcript_path"
    run("compact", payload | {name: transcript}, tool=TOOLS[tool])
    assert texts()
    said = transcripts.read_text(transcript)
    assert transcripts.last_words(said)


def test_the_messages_that_a_plugin_sends_are_read_as_a_transcript() -> None:
    lines = transcripts.read_text(TRANSCRIPTS / "opencode.jsonl").splitlines()
    rows = [json.loads(line) for line in lines]
    payload = sample("opencode/experimental.session.compacting", messages=rows)
    run("compact", payload, tool="opencode")
    assert any("NATS JetStream" in text for text in texts())
    assert not any("icm notes" in text for text in texts())


@pytest.mark.parametrize("messages", ["", {}, [], [None, 7, "x"], [{}], [{"info": []}]])
def test_what_are_no_messages_is_left_alone(messages: Any) -> None:
    payload = sample("opencode/experimental.session.compacting", messages=messages)
    run("compact", payload, tool="opencode")
    assert texts() == []


def spoken(*turns: tuple[str, str]) -> str:
    return "\n".join(
        json.dumps({"role": role, "content": text}) for role, text in turns
    )


def test_the_last_words_are_those_of_a_hundred_lines_and_four_thousand_bytes() -> None:
    early = ("assistant", "We decided to use Postgres.")
    filler = [("assistant", f"Line {number}.") for number in range(100)]
    (turn,) = transcripts.last_words(spoken(early, *filler) + '\n{"role": "assis')
    assert "Postgres" not in turn.text
    assert turn.text.endswith("Line 99.")
    (turn,) = transcripts.last_words(spoken(("assistant", "é" * 5_000)))
    assert turn.text == "é" * 2_000


def test_code_stays_code_where_the_cut_falls_into_it() -> None:
    code = "```python\n" + "x = 1  # we decided to use Postgres 16\n" * 200 + "```\n"
    said = spoken(("assistant", f"Before.\n{code}We chose NATS because of replays."))
    (turn,) = transcripts.last_words(said)
    assert turn.text.startswith("```\n")
    facts = extraction.extract(turn.text, role="assistant")
    assert [fact.text for fact in facts] == ["We chose NATS because of replays."]


def test_without_a_fact_the_end_is_kept_once(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(
        spoken(("assistant", "nothing of note was said in here at all " * 3))
    )
    payload = sample("claude-code/PreCompact", transcript_path=str(file))
    run("compact", payload)
    row = Memory.objects.get()
    assert (row.topic, row.importance, row.keywords) == (
        "context-teapot-api",
        "low",
        ["kind:raw"],
    )


@pytest.mark.parametrize(
    "path", ["", None, "/nonexistent", "/dev/zero", "/tmp", "a\0b"]
)
def test_what_is_no_transcript_is_left_alone(path: str | None) -> None:
    payload = sample("claude-code/PreCompact", transcript_path=path)
    run("compact", payload)
    assert texts() == []

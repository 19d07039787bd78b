"""Sessions whose payload names no transcript: found by their id, and learned from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from icm_site.hooks import (
    answer,
    bookkeeping,
    contracts,
    learning,
    memory,
    session_files,
)
from memories.models import Memory
from tests.conftest import PROJECT
from tests.icm_site.hooks.hooking import TOOLS, sample

TRANSCRIPTS = PROJECT / "tests/memories/transcripts"
SESSION = "b3f0a9d2-4c55-4f60-9be7-6f6f0d7b1c22"
# Where each host keeps a session, as its reference says.
PLACES = {
    "claude-code": f".claude/projects/-home-mira-work-teapot-api/{SESSION}.jsonl",
    "codex-cli": ".codex/sessions/2026/08/22/rollout-2026-08-22T09-01-00-"
    f"{SESSION}.jsonl",
    "copilot-cli": f".copilot/session-state/{SESSION}/events.jsonl",
    "cursor": f".cursor/projects/home-mira/agent-transcripts/{SESSION}/{SESSION}.jsonl",
    "gemini-cli": ".gemini/tmp/teapot/chats/session-2026-08-22T09-01-b3f0a9d2.jsonl",
}


def kept(home: Path, tool: str) -> Path:
    """A session of a host in its place, beside sessions of others."""
    path = home / PLACES[tool]
    path.parent.mkdir(parents=True)
    shutil.copy(TRANSCRIPTS / f"{tool}.jsonl", path)
    path.with_name(f"0{path.name}").write_text('{"role": "assistant", "content": "x"}')
    return path


def found(home: Path, tool: str, session: str = SESSION, **env: str) -> Path | None:
    variables = {"HOME": str(home), **env}
    return session_files.find(TOOLS[tool], session, env=variables, system="linux")


@pytest.mark.parametrize("tool", PLACES)
def test_the_file_of_a_session_is_found_by_its_id(tool: str, tmp_path: Path) -> None:
    assert found(tmp_path, tool) is None
    assert found(tmp_path, tool, SESSION) is None
    path = kept(tmp_path, tool)
    assert found(tmp_path, tool) == path
    assert found(tmp_path, tool, "019a7d42-0000-4000-8000-000000000000") is None


def test_a_folder_that_a_variable_moves_is_looked_into(tmp_path: Path) -> None:
    kept(tmp_path, "copilot-cli")
    moved = tmp_path / "moved"
    (tmp_path / ".copilot").rename(moved)
    assert found(tmp_path, "copilot-cli") is None
    assert found(tmp_path, "copilot-cli", COPILOT_HOME=str(moved))


HOSTILE = [
    *("", "..", "../../etc/passwd", "*", "a*", "/etc/passwd", "x" * 200, "a\0bcd"),
    *(".ssh", "abc/def", "{session}", "a\nbcd", "-rf x", "ab"),
]


@pytest.mark.parametrize("session", HOSTILE)
def test_an_id_that_leads_elsewhere_finds_nothing(session: str, tmp_path: Path) -> None:
    for tool in PLACES:
        kept(tmp_path, tool)
        assert found(tmp_path, tool, session) is None


def test_a_link_out_of_the_hosts_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "secret.jsonl"
    outside.write_text("{}")
    path = tmp_path / PLACES["copilot-cli"]
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    assert found(tmp_path, "copilot-cli") is None


def test_a_folder_with_more_sessions_than_anybody_has_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept(tmp_path, "codex-cli")
    for day in range(1, 20):
        (path.parents[1] / f"{day:02}").mkdir(exist_ok=True)
    assert found(tmp_path, "codex-cli") == path
    monkeypatch.setattr(session_files, "MOST_ENTRIES", 3)
    assert found(tmp_path, "codex-cli") is None


# From the payload of the host to the memories, with the process that does it in place


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What would be handed to a process of its own."""
    found: list[dict[str, Any]] = []

    def spawned(command: list[str], env: dict[str, str], *, stdin: int) -> None:
        with open(stdin, "rb", closefd=False) as stream:
            found.append({**json.load(stream), "env": env})

    monkeypatch.setattr("icm_site.resident.start.spawn", spawned)
    return found


def ends(payload: Any, tool: str, verb: str = "end", **env: str) -> None:
    from icm_site import conf

    done = answer.respond(
        [verb, "--tool", tool],
        json.dumps(payload).encode(),
        env=env,
        cwd="/srv/work/teapot-api",
        memory=lambda cwd: memory.warm(cwd, env, conf.current()),
        claim=lambda key: True,
    )
    assert (done.line, done.error) == ("", "")
    bookkeeping.after(done)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tool", "verb", "payload"),
    [
        ("copilot-cli", "end", "sessionEnd"),
        ("codex-cli", "compact", "PreCompact"),
        ("gemini-cli", "compact", "PreCompress"),
        ("gemini-cli", "end", "SessionEnd"),
        ("cursor", "compact", "preCompact"),
    ],
)
def test_a_session_without_a_transcript_in_its_payload_is_learned_from(
    tool: str,
    verb: str,
    payload: str,
    tmp_path: Path,
    jobs: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept(tmp_path, tool)
    given = sample(f"{tool}/{payload}")
    for name in ("session_id", "sessionId", "conversation_id"):
        if name in given:
            given[name] = SESSION
    given.pop("transcriptPath", None)
    ends(given | {"transcript_path": ""}, TOOLS[tool], verb, HOME=str(tmp_path))
    (job,) = jobs
    for name, value in job.pop("env").items():
        monkeypatch.setenv(name, value)
    learning.learn(job)
    texts = list(Memory.objects.values_list("summary", flat=True))
    assert any("NATS" in text for text in texts), texts
    assert set(Memory.objects.values_list("host", flat=True)) == {TOOLS[tool]}


@pytest.mark.django_db
def test_a_session_of_which_there_is_no_file_is_left_alone(
    tmp_path: Path, jobs: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ends(sample("copilot-cli/sessionEnd"), "copilot", HOME=str(tmp_path))
    assert jobs
    learning.learn(jobs[0])
    assert not Memory.objects.exists()


@pytest.mark.django_db
def test_a_host_that_keeps_no_file_starts_no_process(
    jobs: list[dict[str, Any]],
) -> None:
    deleted = {
        "event": {"type": "session.deleted", "properties": {"info": {"id": "s"}}}
    }
    ends(deleted, "opencode", HOME="/nonexistent")
    assert jobs == []


@pytest.mark.django_db
def test_the_messages_of_a_plugin_are_learned_from_at_the_end(
    jobs: list[dict[str, Any]],
) -> None:
    lines = (TRANSCRIPTS / "opencode.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    idle = {"hook_event_name": "session.idle", "session_id": "ses_1", "messages": rows}
    ends(idle, "opencode", HOME="/nonexistent")
    learning.learn(jobs[0])
    assert any(
        "NATS" in text for text in Memory.objects.values_list("summary", flat=True)
    )


def test_the_places_are_those_of_hosts_that_there_are() -> None:
    assert contracts.SESSION_FILES.keys() <= contracts.HOSTS.keys()
    assert sys.platform == "win32" or {TOOLS[t] for t in PLACES} <= (
        contracts.SESSION_FILES.keys()
    )


@pytest.mark.slow
def test_a_process_without_a_session_to_read_opens_nothing(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    file = PROJECT / "icm_site" / "hooks" / "launch_learning.py"
    jobs = ({"transcript": str(tmp_path / "gone")}, {"by_id": "5d0b7c1e-gone"})
    for job in jobs:
        given = {"verb": "end", "host": "claude-code", "cwd": str(tmp_path), **job}
        done = subprocess.run(
            [sys.executable, "-P", str(file)],
            input=json.dumps(given).encode(),
            env=environment,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not Path(environment["ICM_DB"]).exists()

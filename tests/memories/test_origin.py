import subprocess
from pathlib import Path

import pytest

from memories.origin import detect

PERSON = {"HOME": "/nonexistent", "CODEX_HOME": "/x", "TERM_PROGRAM": "vscode"}


@pytest.mark.parametrize(
    ("env", "host", "session"),
    [
        ({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}, "claude-code", "s1"),
        ({"CLAUDE_PROJECT_DIR": "/p"}, "claude-code", ""),
        ({"CODEX_THREAD_ID": "t1"}, "codex", "t1"),
        ({"CODEX_SANDBOX": "seatbelt"}, "codex", ""),
        (
            {"GEMINI_SESSION_ID": "g1", "CLAUDE_PROJECT_DIR": "/p"},
            "gemini",
            "g1",
        ),
        ({"CURSOR_VERSION": "2.0", "CLAUDE_PROJECT_DIR": "/p"}, "cursor", ""),
        ({"AGENT": "amp", "CLAUDECODE": "1"}, "amp", ""),
        ({"OPENCODE": "1"}, "opencode", ""),
        ({"COPILOT_CLI": "1"}, "copilot", ""),
    ],
)
def test_a_command_run_by_an_agent_is_the_agents(
    env: dict[str, str], host: str, session: str, tmp_path: Path
) -> None:
    caller = detect(PERSON | env, surface="cli", cwd=tmp_path)
    assert (caller.origin, caller.host, caller.agent_session) == (
        "agent",
        host,
        session,
    )


@pytest.mark.parametrize(
    ("surface", "origin"),
    [
        ("cli", "user"),
        ("mcp", "agent"),
        ("hook", "hook"),
        ("http", "user"),
        ("admin", "user"),
    ],
)
def test_without_a_host_the_surface_tells(
    surface: str, origin: str, tmp_path: Path
) -> None:
    caller = detect(PERSON | {"CLAUDECODE": "0"}, surface=surface, cwd=tmp_path)
    assert (caller.surface, caller.origin, caller.host) == (surface, origin, "")


def test_the_caller_knows_its_project_and_commit(tmp_path: Path) -> None:
    root = tmp_path / "rocket"
    root.mkdir()
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init"], ["commit", "--allow-empty", "-m", "first"]):
        subprocess.run(
            ["git", *who, *command], cwd=root, check=True, capture_output=True
        )
    caller = detect(PERSON, surface="cli", cwd=root)
    assert caller.project == "rocket"
    assert len(caller.details["git_commit"]) == 40
    assert detect(PERSON, surface="cli", cwd=root, project="").project == ""
    assert detect(PERSON, surface="cli", cwd=root, name="Other").project == "other"
    assert detect(PERSON, surface="cli", cwd=tmp_path).details == {}


@pytest.mark.parametrize(
    ("name", "kept"), [("a\udcff\udcfe", "a??"), ("x" * 300, "x" * 255)]
)
def test_a_session_of_any_bytes_and_length_fits_its_column(
    name: str, kept: str, tmp_path: Path
) -> None:
    env = PERSON | {"CLAUDE_CODE_SESSION_ID": name}
    assert detect(env, surface="cli", cwd=tmp_path).agent_session == kept

"""`icm init`, `icm uninstall` and `icm hook disable` as a person runs them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from icm_site.hosts import jsonc
from tests.conftest import Icm

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    """A home with two tools, one of them with settings of the person."""
    place = Path(environment["HOME"])
    (place / ".claude").mkdir(parents=True)
    (place / ".claude/settings.json").write_text('{\n  "theme": "dark" // mine\n}\n')
    (place / ".codex").mkdir()
    return place


@pytest.fixture
def run(icm: Icm, home: Path) -> Run:
    """Run `icm ARGUMENTS` where no program of a tool is on PATH."""

    def call(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        done = icm(*arguments, PATH="/usr/bin:/bin", **env)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return call


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file()
    }


def test_a_dry_run_shows_the_changes_and_makes_none(run: Run, home: Path) -> None:
    before = files(home)
    done = run("init", "--dry-run")
    assert done.returncode == 0 and files(home) == before
    assert '+    "icm": {' in done.stdout
    assert '-  "theme": "dark" // mine' in done.stdout
    assert "[hook]  Claude Code      configured" in done.stdout


def test_each_tool_and_file_gets_a_line(run: Run, home: Path) -> None:
    done = run("init")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "[mcp]   Claude Code      configured         ~/.claude.json" in lines
    assert "[mcp]   Zed              skipped            (not detected)" in lines
    assert [line for line in lines if line.startswith("Codex CLI: type /hooks")]
    again = run("init").stdout.splitlines()
    assert "[mcp]   Claude Code      already configured ~/.claude.json" in again
    assert not [line for line in again if line.startswith("Codex CLI:")]


@pytest.mark.parametrize(
    ("mode", "made"),
    [
        ("mcp", {".claude.json", ".codex/config.toml"}),
        ("cli", {".claude/CLAUDE.md", ".codex/AGENTS.md"}),
        ("hook", {".codex/hooks.json"}),
    ],
)
def test_a_mode_writes_its_files_alone(
    run: Run, home: Path, mode: str, made: set[str]
) -> None:
    before = files(home)
    assert run("init", "--mode", mode).returncode == 0
    new = {path for path in files(home) if ".icm-bak-" not in path}
    assert new - before.keys() == made


def test_a_file_of_a_wrong_shape_makes_the_exit_code_one(run: Run, home: Path) -> None:
    (home / ".claude.json").write_text("[1]")
    done = run("init")
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "not touched" in line]
    assert "~/.claude.json: the whole file is not an object" in line
    assert (home / ".claude.json").read_text() == "[1]"
    assert (home / ".codex/config.toml").is_file()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_cannot_be_written_is_named(run: Run, home: Path) -> None:
    (home / ".codex").chmod(0o500)
    done = run("init")
    (home / ".codex").chmod(0o700)
    assert done.returncode == 1 and "cannot be written" in done.stdout


def test_nothing_found_is_said(run: Run, home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = run("init", HOME=str(empty))
    assert done.returncode == 0 and "No AI tool was found" in done.stdout
    assert list(empty.iterdir()) == []


def test_uninstall_says_what_it_did_and_leaves_the_memories(
    run: Run, home: Path, environment: dict[str, str]
) -> None:
    before = files(home)
    run("init")
    run("store", "-t", "a", "-c", "kept")
    shown = run("uninstall", "--dry-run")
    assert "would be: restored     ~/.claude/settings.json" in shown.stdout
    assert files(home) != before
    done = run("uninstall")
    assert done.returncode == 0 and files(home) == before
    assert "restored               ~/.claude/settings.json" in done.stdout
    assert environment["ICM_DB"] in done.stdout
    assert "kept" in run("list", "-a").stdout
    assert "Nothing of ICM is set up" in run("uninstall").stdout


def test_a_check_tells_by_its_exit_code_and_does_nothing(run: Run, home: Path) -> None:
    assert run("uninstall", "--check").returncode == 0
    run("init", "--mode", "mcp")
    before = files(home)
    done = run("uninstall", "--check")
    assert done.returncode == 1 and "would be: deleted" in done.stdout
    assert files(home) == before
    assert run("uninstall").returncode == 0


def test_a_file_that_its_own_tool_cannot_read_is_no_part_of_ours(
    run: Run, home: Path
) -> None:
    (home / ".codex/config.toml").write_text("oops")
    done = run("uninstall")
    assert (done.returncode, "config.toml" in done.stdout) == (0, False)
    (home / ".codex/config.toml").write_text("oops [mcp_servers.icm]")
    done = run("uninstall")
    assert done.returncode == 3 and "not touched" in done.stdout


def test_data_is_erased_only_after_a_confirmation_and_only_our_own(
    run: Run, home: Path, environment: dict[str, str]
) -> None:
    database = Path(environment["ICM_DB"])
    run("store", "-t", "a", "-c", "gone")
    run("backup")
    mine = Path(environment["XDG_DATA_HOME"]) / "icm-memory/mine.txt"
    mine.write_text("mine")
    asked = run("uninstall", "--purge-data")
    assert database.exists() and "Add --yes" in asked.stdout
    assert str(database) in asked.stdout and "mine.txt" not in asked.stdout
    done = run("uninstall", "--purge-data", "--yes")
    assert done.returncode == 0
    assert list(database.parent.glob("icm.sqlite3*")) == []
    assert mine.exists() and str(mine.parent) in done.stdout


def test_disabling_hooks_keeps_a_copy_and_the_server(run: Run, home: Path) -> None:
    run("init")
    settings = home / ".claude/settings.json"
    with_hooks = settings.read_bytes()
    assert "would be: our entries removed" in run("hook", "disable", "--dry-run").stdout
    assert settings.read_bytes() == with_hooks
    done = run("hook", "disable")
    assert done.returncode == 0 and "backup:" in done.stdout
    assert settings.read_text() == '{\n  "theme": "dark" // mine\n}\n'
    copies = [copy.read_bytes() for copy in settings.parent.glob("*.icm-bak-*")]
    assert with_hooks in copies
    assert jsonc.walk((home / ".claude.json").read_text(), ["mcpServers", "icm"])
    assert "No hook of ICM" in run("hook", "disable").stdout
    assert "already" not in run("init", "--mode", "hook").stdout


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_a_process_that_is_killed_leaves_whole_files(
    home: Path, environment: dict[str, str], run: Run, number: int
) -> None:
    before = files(home)
    process = subprocess.Popen(
        [sys.executable, "-m", "icm_site.cli", "init", "--force"],
        env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    data = Path(environment["XDG_DATA_HOME"]) / "icm-memory"
    while process.poll() is None and not data.exists():
        time.sleep(0.001)
    time.sleep(number * 0.015)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for path, content in files(home).items():
        if path in before and content != before[path]:
            assert jsonc.read(content.decode())["theme"] == "dark"
    assert run("uninstall").returncode == 0
    left = files(home)
    assert {path: left[path] for path in before} == before
    # At most the new content that was being written beside its file.
    more = [Path(path).name for path in left.keys() - before.keys()]
    assert [name for name in more if not re.fullmatch(r"\..+-[a-z0-9_]{8}", name)] == []
    assert len(more) <= 1


def test_a_database_that_tools_may_not_see_is_told(
    run: Run, environment: dict[str, str]
) -> None:
    usual = Path(environment["XDG_DATA_HOME"]) / "icm-memory" / "icm.sqlite3"
    config = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
    flag = ("--db", "my.sqlite3", "init", "--mode", "mcp")
    for line, named in (flag, "--db"), (flag[2:], "ICM_DB"):
        said = run(*line).stdout
        assert f"by {named}, which a tool may not see: it then uses {usual};" in said
        assert f"store.path in {config} names one for all" in said
    for named in "", str(usual):
        assert "may not see" not in run("init", ICM_DB=named).stdout

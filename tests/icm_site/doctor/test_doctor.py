"""`icm doctor` as a person runs it: on a sound installation, and on broken ones."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from icm_site.doctor import disks, payloads, round_trips, trials
from icm_site.hooks import contracts, payload
from icm_site.hosts.catalog import TOOLS
from tests.conftest import PROJECT, Icm
from tests.icm_site.hosts import homes

Doctor = Callable[..., tuple[int, list[dict[str, str]]]]


@pytest.fixture
def doctor(icm: Icm, environment: dict[str, str]) -> Doctor:
    """Run it; returns the exit code and the findings that are not ok."""

    def run(*arguments: str, **env: str) -> tuple[int, list[dict[str, str]]]:
        done = icm("doctor", "--json", *arguments, PATH="/usr/bin:/bin", **env)
        assert "Traceback" not in done.stderr, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["ok"] == (done.returncode == 0)
        return done.returncode, [f for f in found["findings"] if f["level"] != "ok"]

    return run


def wrong(found: tuple[int, list[dict[str, str]]]) -> list[dict[str, str]]:
    code, rows = found
    bad = [row for row in rows if row["level"] == "wrong"]
    assert code == (1 if bad else 0)
    return bad


@pytest.fixture
def database(icm: Icm, environment: dict[str, str]) -> Path:
    """A database with a few memories."""
    for number in range(3):
        assert icm("store", "-t", "a-b", "-c", f"fact {number} stands").returncode == 0
    return Path(environment["ICM_DB"])


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_new_machine_has_nothing_wrong(doctor: Doctor) -> None:
    assert wrong(doctor()) == []


def test_a_sound_database_has_nothing_wrong(doctor: Doctor, database: Path) -> None:
    before = database.read_bytes()
    assert wrong(doctor()) == []
    assert database.read_bytes() == before


def test_a_damaged_database_is_told_with_its_newest_copy(
    doctor: Doctor, icm: Icm, database: Path
) -> None:
    assert icm("backup").returncode == 0
    (copy,) = database.parent.glob("icm.sqlite3.backup-*")
    edit(database, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(database.read_bytes())
    data[4096 * 2 : 4096 * 12] = b"\xff" * 4096 * 10
    database.write_bytes(data)
    (bad,) = wrong(doctor())
    assert bad["subject"] == "database" and "damaged" in bad["text"]
    assert f"restore latest takes {copy.name}" in bad["remedy"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a database at all, but long enough " * 9, "no database"),
        (b"SQL", "no data"),
    ],
)
def test_a_file_that_is_no_database_is_told(
    doctor: Doctor, environment: dict[str, str], content: bytes, words: str
) -> None:
    path = Path(environment["ICM_DB"])
    path.write_bytes(content)
    (bad,) = wrong(doctor())
    assert words in bad["text"] and path.read_bytes() == content


def test_an_index_out_of_step_is_told_and_mended_by_the_command_it_names(
    doctor: Doctor, icm: Icm, database: Path
) -> None:
    edit(
        database,
        "DELETE FROM memories_fts_docsize WHERE id = (SELECT min(id) FROM memories)",
        "INSERT INTO memories_fts_docsize(id, sz) VALUES (999, x'00')",
    )
    (bad,) = wrong(doctor())
    assert (bad["subject"], bad["remedy"]) == (
        "text index", "icm doctor --rebuild-indexes"
    )  # fmt: skip
    assert "1 rows are not in it, 1 are gone" in bad["text"]
    assert wrong(doctor("--rebuild-indexes")) == []
    assert "fact 1" in icm("recall", "fact 1").stdout


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_database_that_others_may_read_is_told(
    doctor: Doctor, database: Path
) -> None:
    database.chmod(0o644)
    (bad,) = wrong(doctor())
    assert "mode 644" in bad["text"] and bad["remedy"] == f"chmod 600 '{database}'"


def test_a_configuration_that_cannot_be_read_is_a_finding(
    doctor: Doctor, environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("oops")
    (bad,) = wrong(doctor(ICM_CONFIG=str(file)))
    assert bad["subject"] == "config" and str(file) in bad["text"]


def test_vectors_of_another_model_are_told_with_what_replaces_them(
    doctor: Doctor, database: Path, tmp_path: Path
) -> None:
    name = (
        "INSERT INTO icm_metadata(key, value) VALUES ('embedding_model', 'one/model')"
    )
    edit(database, name)
    file = tmp_path / "config.toml"
    file.write_text('[embeddings]\nmodel = "other/model"\n')
    bad = wrong(doctor(ICM_CONFIG=str(file), ICM_NO_EMBEDDINGS="0"))
    (told,) = [row for row in bad if "vectors are of one/model" in row["text"]]
    # `embed --force` would make them anew with the model that they have.
    assert told["remedy"] == "icm embed --migrate"


def test_data_of_the_other_program_and_a_pause_are_mentioned(
    doctor: Doctor, environment: dict[str, str], database: Path
) -> None:
    (Path(environment["XDG_DATA_HOME"]) / "dev.icm.icm").mkdir(parents=True)
    edit(database, "INSERT INTO icm_metadata(key, value) VALUES ('paused:shop', '')")
    code, rows = doctor()
    assert code == 0
    subjects = {row["subject"]: row for row in rows}
    assert "dev.icm.icm" in subjects["other data"]["text"]
    assert subjects["pause"]["remedy"] == "icm resume --project shop"


# The tools


@pytest.fixture
def tools(icm: Icm, environment: dict[str, str]) -> homes.Home:
    """All 17 tools, set up by the command."""
    home = Path(environment["HOME"])
    home.mkdir()
    made = homes.with_all_tools(home.parent)
    made = made._replace(
        machine=made.machine._replace(env={**environment, "PATH": ""}, cwd=home)
    )
    for tool in TOOLS:
        for folder in tool.folders:
            if not folder.endswith(".yml"):
                made.machine.path(folder).mkdir(parents=True, exist_ok=True)
    assert icm("init", PATH="/usr/bin:/bin").returncode == 0
    return made


@pytest.mark.slow
def test_all_tools_set_up_have_nothing_wrong_and_every_command_answers(
    icm: Icm, tools: homes.Home
) -> None:
    done = icm("doctor", PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stdout
    said: dict[str, dict[str, str]] = {}
    for line in done.stdout.splitlines():
        if found := re.match(r"✓ (.{16}) hook (\S+): (.*)", line):
            said.setdefault(found[1].strip(), {})[found[2]] = found[3]
    assert {title: len(lines) for title, lines in said.items()} == {
        "Claude Code": 7, "Gemini CLI": 5, "Codex CLI": 6, "Copilot CLI": 7,
        "Cursor": 6, "Windsurf / Devin": 5, "Amazon Q / Kiro": 3, "Cline": 3,
        "OpenCode": 6, "Kilo Code": 6,
    }  # fmt: skip
    assert said["Claude Code"]["UserPromptSubmit"] == "answers with notes"
    assert said["Claude Code"]["PreToolUse"] == "approves icm"
    assert said["Amazon Q / Kiro"]["agentSpawn"] == "answers with notes"
    assert said["Cline"]["PostToolUse"] == "answers with notes"
    assert said["Codex CLI"]["PostToolUse"].startswith("runs and is silent")
    assert "✓ Zed              hook: it has no hooks; what works" in done.stdout
    assert done.stdout.count("the server answers") == len(TOOLS) - 1  # Aider has none
    assert icm("uninstall", PATH="/usr/bin:/bin").returncode == 0
    assert "not set up" in icm("doctor", PATH="/usr/bin:/bin").stdout


@pytest.mark.slow
def test_what_was_broken_in_a_tool_is_told_with_what_mends_it(
    doctor: Doctor, icm: Icm, tools: homes.Home
) -> None:
    path = tools.machine.path
    cursor, zed = path("{cursor}/mcp.json"), path("{zed}/settings.json")
    claude, codex = path("{claude}/settings.json"), path("{codex}/config.toml")
    path("{cline}/hooks/TaskComplete").unlink()
    cursor.write_text("[]")
    zed.write_text("{}")
    text = claude.read_text()
    claude.write_text(text.replace("hook_client.py", "x/icm_site/hook_client.py"))
    codex.write_text('[mcp_servers.icm]\ncommand = "/gone/icm"\nargs = ["serve"]\n')
    bad = {row["subject"]: row for row in wrong(doctor())}
    assert bad.keys() == {"Cursor", "Zed", "Claude Code", "Codex CLI", "Cline"}
    assert "mcp.json" in bad["Cursor"]["text"] and cursor.read_text() == "[]"
    assert bad["Zed"]["remedy"] == bad["Codex CLI"]["remedy"] == "icm init"
    assert "not there" in bad["Claude Code"]["text"]
    cursor.unlink()
    assert icm("init", PATH="/usr/bin:/bin").returncode == 0
    assert wrong(doctor()) == []


ALLOWED = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":'
NOTES = (
    '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x"}}'
)


@pytest.mark.parametrize(
    ("event", "verb", "script", "fault"),
    [
        ("SessionStart", "start", "exit 3", "exit code 3"),
        ("SessionStart", "start", "echo oops >&2", "it says"),
        ("SessionStart", "start", "echo hello", "no JSON"),
        ("SessionStart", "start", "cat > /dev/null; echo '{}'", "another form"),
        ("SessionStart", "start", "cat > /dev/null", "nothing, though"),
        ("SessionStart", "start", f"cat > /dev/null; echo '{NOTES}'", ""),
        ("SessionStart", "prompt", f"cat > /dev/null; echo '{NOTES}'", "no event"),
        ("PostToolUse", "post", "cat > /dev/null", ""),
        ("PostToolUse", "post", "cat > /dev/null; echo '{}'", "it prints"),
        ("PreToolUse", "pre", "cat > /dev/null", ""),
        ("PreToolUse", "pre", f"echo '{ALLOWED}\"deny\"}}}}'", "another form"),
        ("Heard", "start", "cat > /dev/null", "no event"),
    ],
)
def test_a_hook_that_does_not_keep_its_contract_is_told(
    event: str, verb: str, script: str, fault: str, tmp_path: Path
) -> None:
    command = f"{script}; : {verb} --tool claude-code"
    if script.startswith("exit"):
        command = f": {verb} --tool claude-code; {script}"
    one = trials.hook(event, ("sh", "-c", command))
    assert one is not None
    bench = trials.Bench(tmp_path)
    line, told = bench.answer(one, "icm")
    if not told:
        _, told = trials.checked(one, line)
    assert fault in told if fault else told == ""


@pytest.mark.slow
def test_what_is_tried_is_not_learned_from(tmp_path: Path) -> None:
    bench = trials.Bench(tmp_path)
    assert bench.fill() == ""
    file = PROJECT / "icm_site/hook_client.py"
    for event, verb in (("SessionEnd", "end"), ("PreCompact", "compact")):
        words = ("-I", "-S", str(file), verb, "--tool", "claude-code")
        one = trials.Hook(event, (sys.executable, *words), verb, "claude-code")
        assert bench.answer(one, "icm") == ("", "")
    post = ("-I", "-S", str(file), "post", "--tool", "claude-code")
    for _ in range(3):
        one = trials.Hook("PostToolUse", (sys.executable, *post), "post", "claude-code")
        assert bench.answer(one, "icm") == ("", "")
    time.sleep(0.5)
    # What a process that learns makes first.
    assert not list(tmp_path.glob("*.learning.lock"))


def test_a_hook_whose_program_is_gone_is_told(tmp_path: Path) -> None:
    one = trials.Hook("SessionStart", ("/gone/program",), "start", "claude-code")
    assert "No such file" in trials.Bench(tmp_path).answer(one, "icm")[1]


@pytest.mark.parametrize("host", contracts.HOSTS)
def test_there_is_a_sample_of_every_event_that_its_host_is_known_by(host: str) -> None:
    for event, contract in contracts.HOSTS[host].items():
        asked = payloads.Asked(event, contract.verb, "s", "/w", "icm topics")
        read = payload.read(json.dumps(payloads.payload(host, asked)).encode())
        assert read is not None
        assert read.session == ("" if host == "amazon-q" else "s")
        told = contracts.contract_of(host, contract.verb, read, event=event)
        assert told is not None, event


def test_a_server_that_says_nothing_is_told() -> None:
    assert "exit code 4" in round_trips._introduced(("sh", "-c", "exit 4"))
    assert "no message" in round_trips._introduced(("sh", "-c", "echo hello"))


# Disks

LINUX = """\
/dev/vda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/mira/local\\040disk xfs rw 0 0
//nas/x /mnt/nas cifs rw 0 0
C:\\134 /mnt/c 9p rw 0 0
"""
MACOS = """\
/dev/disk3s1 on / (apfs, sealed, local)
//mira@nas/share on /Volumes/My (old) share (smbfs, nodev, nosuid)
"""


@pytest.mark.parametrize(
    ("path", "table", "kind"),
    [
        ("/var/x/icm.sqlite3", disks.of_linux(LINUX), ""),
        ("/home/mira/icm.sqlite3", disks.of_linux(LINUX), "nfs4"),
        ("/home/mira/local disk/icm.sqlite3", disks.of_linux(LINUX), ""),
        ("/homes/x", disks.of_linux(LINUX), ""),
        ("/mnt/nas/icm.sqlite3", disks.of_linux(LINUX), "cifs"),
        ("/mnt/c/icm.sqlite3", disks.of_linux(LINUX), "9p"),
        ("/Users/mira/icm.sqlite3", disks.of_macos(MACOS), ""),
        ("/Volumes/My (old) share/icm.sqlite3", disks.of_macos(MACOS), "smbfs"),
    ],
)
def test_a_database_on_a_network_file_system_is_told(
    path: str, table: list[tuple[str, str]], kind: str
) -> None:
    found = list(disks.over_network(PurePosixPath(path), table))
    assert [f.level for f in found] == (["wrong"] if kind else [])
    assert all(f"({kind} at" in f.text for f in found)


def test_a_database_on_another_windows_machine_is_told() -> None:
    path = PureWindowsPath(r"\\nas\share\icm.sqlite3")
    assert [f.level for f in disks.over_network(path, [])] == ["wrong"]


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("/home/mira/Dropbox/icm.sqlite3", "Dropbox"),
        ("/home/mira/Dropbox (Work)/a/icm.sqlite3", "Dropbox"),
        ("/Users/mira/Library/Mobile Documents/com~apple/icm.sqlite3", "iCloud Drive"),
        ("/Users/mira/Library/CloudStorage/x/icm.sqlite3", "a cloud service"),
        ("/c/Users/mira/OneDrive - Firm/icm.sqlite3", "OneDrive"),
        ("/home/mira/Dropbox", ""),
        ("/home/mira/dropboxes/icm.sqlite3", ""),
    ],
)
def test_a_database_in_a_folder_that_is_copied_is_told(path: str, service: str) -> None:
    found = list(disks.synced(PurePosixPath(path)))
    assert [service in f.text for f in found] == ([True] if service else [])


def test_the_test_of_processes_uses_no_database_of_the_person(tmp_path: Path) -> None:
    done = round_trips.run(("sh", "-c", "echo $ICM_DB $ICM_RESIDENT"), "")
    assert isinstance(done, subprocess.CompletedProcess)
    assert "icm-doctor-" in done.stdout and done.stdout.endswith(" 0\n")

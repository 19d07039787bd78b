"""The command line as processes of their own: options, streams, pipes, zones."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from icm_site.conf_keys import KEYS
from tests.conftest import PROJECT, Icm

pytestmark = pytest.mark.slow

STORE = ("store", "-t", "t", "-c")


def test_global_options_stand_before_or_after_the_command(
    icm: Icm, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.sqlite3", tmp_path / "two.sqlite3"
    assert icm("--db", str(one), *STORE, "In one.").returncode == 0
    assert icm(*STORE, "In two.", f"--db={two}").returncode == 0
    for file, text in ((one, "In one."), (two, "In two.")):
        rows = json.loads(icm("list", "-a", "-f", "json", "--db", str(file)).stdout)
        assert [row["summary"] for row in rows] == [text]
    assert not (tmp_path / "icm.sqlite3").exists()


def test_a_relative_path_is_relative_to_the_working_folder(
    icm: Icm, tmp_path: Path
) -> None:
    assert icm("--db", "sub/x.sqlite3", *STORE, "Here.", cwd=tmp_path).returncode == 0
    assert (tmp_path / "sub" / "x.sqlite3").is_file()
    outcome = icm("list", "-a", ICM_DB="x.sqlite3", cwd=tmp_path / "sub")
    assert "Here." in outcome.stdout
    shown = icm("config", "--db", "sub/x.sqlite3", cwd=tmp_path).stdout
    assert f"Database: {tmp_path}/sub/x.sqlite3 (flag)" in shown


def test_commands_import_nothing_that_they_do_not_need(
    icm: Icm, environment: dict[str, str], tmp_path: Path
) -> None:
    assert icm(*STORE, "The cache is Redis.").returncode == 0
    commands = (
        [*STORE, "The queue is Redis, too."],
        ["--no-embeddings", "recall", "which cache"],
        ["stats"],
        ["topics", "-f", "json"],
    )
    code = f"import sys; from icm_site import cli; [cli.main(c) for c in {commands}]"
    command = [sys.executable, "-c", f"{code}; print(*sys.modules, file=sys.stderr)"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, check=True
    )
    imported = set(done.stderr.decode().split())
    assert b"The cache is Redis." in done.stdout
    assert "memories.models" in imported
    pages_and_vectors = {"ninja", "django.test", "icm_site.urls", "numpy"}
    others = {"rich", "filelock", "tomllib", "memories.extraction", "memoirs.learn"}
    assert not imported & (pages_and_vectors | others)


def test_a_shell_may_name_the_settings_of_another_project(icm: Icm) -> None:
    for command in ([*STORE, "Here."], ["repair"], ["recall", "here"]):
        outcome = icm(*command, DJANGO_SETTINGS_MODULE="their_shop.settings")
        assert (outcome.returncode, outcome.stderr) == (0, "")


def test_two_databases_open_none(icm: Icm, tmp_path: Path) -> None:
    outcome = icm("--db", "a", *STORE, "x", "--db", "b", cwd=tmp_path)
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert outcome.stderr == "Error: --db is given more than once\n"
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


def test_manage_py_passes_everything_on(icm: Icm, environment: dict[str, str]) -> None:
    del environment["PYTHONPATH"]

    def manage(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, str(PROJECT / "manage.py"), "icm", *arguments],
            env=environment | {"TZ": "Asia/Seoul"},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    assert re.fullmatch(r"icm \d+\.\d+\.\d+\n", manage("-V").stdout)
    missing = manage("nonsense", "--traceback")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("Error: unknown command 'nonsense'")
    assert manage("remember", "--", "--settings").returncode == 0
    assert "--settings" in icm_text(environment)


def icm_text(environment: dict[str, str]) -> str:
    with closing(sqlite3.connect(environment["ICM_DB"])) as opened:
        (row,) = opened.execute("SELECT summary FROM memories").fetchall()
    return str(row[0])


def test_config_shows_every_key_with_its_value_and_makes_no_database(
    icm: Icm, environment: dict[str, str], tmp_path: Path
) -> None:
    file = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
    shown = icm("config")
    assert shown.stdout.startswith(f"Config file: {file} (not found")
    for name in KEYS:
        assert f"\n{name} = " in shown.stdout
    assert "embeddings.enabled = false" in shown.stdout
    assert "\nrecall.limit = 5 " in shown.stdout  # what counts is shown whole
    file.parent.mkdir(parents=True)
    file.write_text('[embedings]\nmodel = "x"\n[memory]\ndecay_rate = 0.9\n')
    shown = icm("config", "-f", "json")
    assert "unknown key 'embedings.model', did you mean 'embeddings.model'?" in (
        shown.stderr
    )
    value = json.loads(shown.stdout)
    assert value["settings"]["memory.decay_rate"] == {"value": 0.9, "origin": "file"}
    assert value["loaded"] is True and value["file"] == str(file)
    assert set(value["settings"]) == set(KEYS)
    wrong = icm("config", "extra")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert not (tmp_path / "icm.sqlite3").exists()


def test_the_configured_name_of_a_project_is_used(
    icm: Icm, environment: dict[str, str]
) -> None:
    file = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[projects]\naliases = { shop = "store" }\n')
    assert icm("remember", "A fact.").stderr == "Project: store\n"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["config"], ["list", "-a"], ["stats"], ["store", "--help"]],
    ids=" ".join,
)
def test_a_closed_pipe_ends_the_program_quietly(
    icm: Icm, environment: dict[str, str], tmp_path: Path, arguments: list[str]
) -> None:
    icm(*STORE, "x" * 60_000)
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "icm_site.cli", *arguments],
        env=environment,
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_output_is_utf_8_in_any_locale(icm: Icm) -> None:
    icm(*STORE, "Café \U0001f600 日本")
    for locale in ("C", "de_DE.ISO-8859-1"):
        variables = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        assert "Café \U0001f600 日本" in icm("list", "-a", **variables).stdout


def test_standard_input_that_is_not_text_disturbs_nobody(
    environment: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", "topics"],
        input=b"\xff\xfe\0",
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"No topics yet.\n")


def test_an_argument_that_is_not_utf_8_is_a_sentence(
    environment: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", "recall", b"\xff\xfe"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"Error: query: is not valid Unicode text")
    assert done.stderr.count(b"\n") == 1


def test_times_are_shown_in_the_zone_of_the_user(icm: Icm) -> None:
    icm(*STORE, "A fact.")
    shown = {
        zone: re.search(r"Newest: .* (\d\d):\d\d", icm("stats", TZ=zone).stdout)
        for zone in ("UTC", "Asia/Seoul")
    }
    hours = {zone: int(found[1]) for zone, found in shown.items() if found}
    assert (hours["Asia/Seoul"] - hours["UTC"]) % 24 == 9


def test_a_working_folder_that_is_gone_is_said(
    environment: dict[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD"; exec "$0" -m icm_site.cli "$@"'
    for command in ("stats", "config"):
        done = subprocess.run(
            ["sh", "-c", script, sys.executable, command],
            cwd=gone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "Error: the current folder does not exist any more\n"
        gone.mkdir()


@pytest.mark.slow
def test_the_server_serves_from_a_folder_that_is_gone(
    environment: dict[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD"; exec "$0" -m icm_site.cli serve'
    hello = (
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersi'
        'on": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": '
        '"1"}}}\n{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": '
        '"icm_memory_list_topics", "arguments": {}}}\n'
    )
    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        cwd=gone,
        env=environment,
        input=hello,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1]["id"] == 2 and not answers[-1]["result"].get("isError")


def test_log_messages_go_to_stderr(icm: Icm) -> None:
    icm(*STORE, "A fact about Postgres.")
    outcome = icm("recall", "Postgres", "-f", "json", ICM_LOG="debug")
    assert json.loads(outcome.stdout)[0]["topic"] == "t"


def wait_until_open(process: subprocess.Popen[str], database: str) -> None:
    """Wait for a process to have a database open, and so to be past its start."""
    files = Path(f"/proc/{process.pid}/fd")
    end = time.monotonic() + (60 if files.is_dir() else 3)
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError):
            if Path(database) in [file.readlink() for file in files.iterdir()]:
                return
        time.sleep(0.05)


class TestLocks:
    def test_reading_never_waits_for_a_writer(
        self, icm: Icm, environment: dict[str, str]
    ) -> None:
        icm(*STORE, "A fact about Postgres.")
        with closing(sqlite3.connect(environment["ICM_DB"])) as writer:
            writer.execute("BEGIN IMMEDIATE")
            for line in (["topics"], ["recall", "Postgres"]):
                start = time.monotonic()
                outcome = icm(*line)
                assert (outcome.returncode, outcome.stderr) == (0, "")
                # A writer would wait for 20 s and then fail.
                assert time.monotonic() - start < 15

    def test_a_writer_waits_for_another_one_and_then_writes(
        self, icm: Icm, environment: dict[str, str], tmp_path: Path
    ) -> None:
        icm(*STORE, "First.")
        with closing(sqlite3.connect(environment["ICM_DB"])) as writer:
            writer.execute("BEGIN IMMEDIATE")
            process = subprocess.Popen(
                [sys.executable, "-m", "icm_site.cli", *STORE, "Second."],
                env=environment,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                text=True,
            )
            time.sleep(3)
            assert process.poll() is None
            writer.rollback()
            out, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and out.startswith("Stored: ")

    def test_an_interrupt_leaves_a_whole_database(
        self, icm: Icm, environment: dict[str, str], tmp_path: Path
    ) -> None:
        icm(*STORE, "First.")
        with closing(sqlite3.connect(environment["ICM_DB"])) as writer:
            writer.execute("BEGIN IMMEDIATE")
            process = subprocess.Popen(
                [sys.executable, "-m", "icm_site.cli", *STORE, "Second."],
                env=environment,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            wait_until_open(process, environment["ICM_DB"])
            process.send_signal(signal.SIGINT)
            writer.rollback()
            out, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        assert process.returncode in (0, 130)
        stored = json.loads(icm("list", "-a", "-f", "json").stdout)
        assert len(stored) == (2 if out else 1)


@pytest.mark.parametrize("target", ["closed", "full"])
def test_output_that_cannot_be_written_is_one_sentence_at_most(
    icm: Icm, environment: dict[str, str], target: str
) -> None:
    redirect = {"closed": ">&-", "full": ">/dev/full"}[target]
    command = f'"{sys.executable}" -m icm_site.cli store -t a -c "A fact." {redirect}'
    done = subprocess.run(
        ["bash", "-c", command],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stderr.count("\n")) == {
        "closed": (0, 0),
        "full": (1, 1),
    }[target]
    assert "A fact." in icm("list", "-a").stdout


@pytest.mark.parametrize("words", [("stats",), ("repair",), ("token", "list")])
def test_a_database_whose_name_is_too_long_is_one_sentence(
    icm: Icm, words: tuple[str, ...]
) -> None:
    done = icm("--db", "x" * 300, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "File name too long" in done.stderr

"""The database before the first operation: made, migrated, refused, read only."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from icm_site import database
from icm_site.settings import secret_key
from icm_site.sqlite import identity
from tests.conftest import PROJECT, Icm
from tests.icm_site.unprivileged import shared_folder

# Imports what a command needs, gives its rights away, and runs the command: file
# modes do not bind root, and another user may be unable to read our modules.
UNPRIVILEGED = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "icm_site.settings"
import importlib, pkgutil
import django
django.setup()
import difflib, traceback
for package in ("icm_site", "memories", "memoirs", "feedback"):
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, package + "."):
        if ".migrations" not in module.name and "__main__" not in module.name:
            importlib.import_module(module.name)
from django.db import connection
from icm_site import cli, database
database.fingerprint()
from icm_site.sqlite import vec
connection.vendor, vec.way()
# What is imported with the first use of a command is imported now, elsewhere.
import contextlib, io, pathlib, tempfile
from icm_site.benchmarks.quality_run import own_database
with tempfile.TemporaryDirectory() as folder:
    with own_database(pathlib.Path(folder) / "warm.sqlite3"):
        with contextlib.redirect_stdout(io.StringIO()):
            cli.main(["store", "-t", "t", "-c", "A fact to warm up."])
            cli.main(["recall", "fact"])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(cli.main(sys.argv[1:]))
"""


def marks(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(path)) as opened:
        return (
            opened.execute("PRAGMA application_id").fetchone()[0],
            opened.execute("PRAGMA user_version").fetchone()[0],
        )


def migrations(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as opened:
        rows = opened.execute(
            "SELECT key FROM icm_metadata WHERE key LIKE 'migrations:%'"
        )
        return [row[0] for row in rows]


@pytest.fixture
def path(environment: dict[str, str]) -> Path:
    return Path(environment["ICM_DB"])


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one memory, made by the program itself."""
    folder = tmp_path_factory.mktemp("template")
    file = folder / "icm.sqlite3"
    variables = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(PROJECT),
        "ICM_NO_EMBEDDINGS": "1",
        "ICM_RESIDENT": "0",
        "ICM_DB": str(file),
    }
    line = ["store", "-t", "t", "-c", "The shop runs on Postgres."]
    subprocess.run(
        [sys.executable, "-m", "icm_site.cli", *line],
        env=variables,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return file


@pytest.fixture
def made(template: Path, path: Path) -> Path:
    shutil.copy(template, path)
    return path


@pytest.mark.django_db
def test_a_database_that_is_ready_costs_no_migration() -> None:
    assert database._applied()
    database.ready()
    assert database.fingerprint() == database.fingerprint()
    assert not database.read_only()


@pytest.mark.slow
def test_the_first_command_makes_and_migrates_a_private_file(
    icm: Icm, path: Path, tmp_path: Path
) -> None:
    deep = tmp_path / "a" / "b" / "new.sqlite3"
    outcome = icm("stats", ICM_DB=str(deep))
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert marks(deep) == (identity.APPLICATION_ID, identity.SCHEMA_VERSION)
    assert stat.S_IMODE(deep.stat().st_mode) == 0o600
    assert stat.S_IMODE(deep.parent.stat().st_mode) == 0o700
    assert len(migrations(deep)) == 1
    assert not list(deep.parent.glob("*.backup-*"))
    path.touch()
    assert icm("topics").stdout == "No topics yet.\n"


@pytest.mark.slow
def test_without_a_path_the_data_folder_of_the_platform_is_used(
    icm: Icm, environment: dict[str, str]
) -> None:
    del environment["ICM_DB"]
    assert icm("store", "-t", "t", "-c", "A fact.").returncode == 0
    file = Path(environment["XDG_DATA_HOME"]) / "icm-memory" / "icm.sqlite3"
    assert file.is_file()
    del environment["HOME"], environment["XDG_DATA_HOME"]
    del environment["XDG_CONFIG_HOME"], environment["XDG_CACHE_HOME"]
    shown = icm("config").stdout
    assert "/icm-memory/icm.sqlite3 (default)" in shown


@pytest.mark.slow
def test_six_processes_at_once_on_a_new_file_all_succeed_and_one_migrates(
    environment: dict[str, str], path: Path, tmp_path: Path
) -> None:
    """Also where some come to the file by a link."""
    link = tmp_path / "link.sqlite3"
    path.touch()
    link.symlink_to(path)
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "icm_site.cli", "store", "-t", "t", "-c", text],
            env=environment | {"ICM_DB": str(file)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for text, file in [
            *(("alpha", path), ("beta", link), ("gamma", path)),
            *(("delta", link), ("epsilon", path), ("zeta", path)),
        ]
    ]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert out.startswith("Stored: ")
    assert len(migrations(path)) == 1
    assert not list(path.parent.glob("*.backup-*")), "a second one migrated"
    with closing(sqlite3.connect(path)) as opened:
        assert opened.execute("SELECT count(*) FROM memories").fetchone() == (6,)
        names = opened.execute("SELECT app, name FROM django_migrations").fetchall()
        assert len(names) == len(set(names))
    keys = list((Path(environment["XDG_DATA_HOME"]) / "icm-memory").iterdir())
    assert [key.name for key in keys] == ["secret_key"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello " * 99, "is not a database"),
        (b"SQLite format 3\0", "is not a database"),
        (b"\0" * 4096, "is not a database"),
    ],
)
def test_what_is_no_database_is_left_as_it_is(
    icm: Icm, path: Path, content: bytes, sentence: str
) -> None:
    path.write_bytes(content)
    outcome = icm("store", "-t", "t", "-c", "A fact.")
    assert_sentence(outcome, sentence)
    assert path.read_bytes() == content
    assert [item.name for item in path.parent.glob("icm.sqlite3*")] == [path.name]


@pytest.mark.slow
def test_the_database_of_another_program_is_left_as_it_is(icm: Icm, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE memories (id TEXT)")
        other.commit()
    before = path.read_bytes()
    assert_sentence(icm("stats"), "is a database of another program")
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_newer_file_is_read_and_not_written(icm: Icm, made: Path) -> None:
    with closing(sqlite3.connect(made)) as newer:
        newer.execute("DELETE FROM icm_metadata WHERE key LIKE 'migrations:%'")
        newer.execute("PRAGMA user_version = 99")
        newer.commit()
    assert "runs on Postgres" in icm("recall", "Postgres").stdout
    assert_sentence(icm("store", "-t", "t", "-c", "A fact."), "newer version of ICM")
    assert marks(made)[1] == 99


@pytest.mark.slow
def test_a_damaged_file_is_said_in_a_sentence(icm: Icm, made: Path) -> None:
    data = bytearray(made.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    made.write_bytes(data)
    assert_sentence(icm("stats"), "The database is damaged")
    made.write_bytes(made.read_bytes()[:2000])
    assert_sentence(icm("stats"), "is not a database")


class TestReadOnly:
    @pytest.mark.slow
    def test_a_missing_file_is_not_made(self, icm: Icm, path: Path) -> None:
        assert_sentence(icm("--read-only", "stats"), "There is no database")
        assert_sentence(icm("stats", ICM_READONLY="1"), "There is no database")
        assert not path.exists()

    @pytest.mark.slow
    def test_reading_changes_nothing_and_writing_is_refused(
        self, icm: Icm, made: Path
    ) -> None:
        before = made.read_bytes()
        for line in (
            ["recall", "Postgres"],
            ["list", "-a"],
            ["health"],
        ):
            outcome = icm("--read-only", *line)
            assert (outcome.returncode, outcome.stderr) == (0, ""), line
        for line in (
            ["store", "-t", "t", "-c", "x"],
            ["decay"],
        ):
            outcome = icm(*line, "--read-only")
            assert_sentence(outcome, "open for reading alone")
        assert made.read_bytes() == before

    @pytest.mark.slow
    def test_commits_that_are_only_in_the_log_are_seen(
        self, icm: Icm, made: Path
    ) -> None:
        with closing(sqlite3.connect(made)) as writer:
            writer.execute("PRAGMA wal_autocheckpoint = 0")
            writer.execute("UPDATE memories SET summary = 'It runs on MySQL.'")
            writer.commit()
            assert Path(f"{made}-wal").stat().st_size > 0
            assert "MySQL" in icm("--read-only", "list", "-a").stdout

    @pytest.mark.slow
    def test_an_empty_file_cannot_be_migrated(self, icm: Icm, path: Path) -> None:
        path.touch()
        assert_sentence(icm("--read-only", "stats"), "must be opened for writing once")

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="file modes are of POSIX")
    def test_a_file_that_may_not_be_written_is_read(
        self, environment: dict[str, str], template: Path
    ) -> None:
        with shared_copy(template) as copy:
            run = as_nobody(environment, copy)
            assert "runs on Postgres" in run("recall", "Postgres").stdout
            outcome = run("store", "-t", "t", "-c", "A fact.")
            assert_sentence(outcome, "or its folder may not be written")
            assert [item.name for item in copy.parent.iterdir()] == [copy.name]

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="file modes are of POSIX")
    def test_a_folder_that_may_not_be_written_is_said(
        self, environment: dict[str, str], template: Path
    ) -> None:
        with shared_copy(template) as copy:
            missing = copy.with_name("missing.sqlite3")
            run = as_nobody(environment, missing)
            outcome = run("store", "-t", "t", "-c", "A fact.")
            assert_sentence(outcome, "annot")
            assert not missing.exists()


@contextmanager
def shared_copy(template: Path) -> Iterator[Path]:
    """A copy that anyone may read and only its owner may write."""
    with shared_folder() as folder:
        copy = folder / "icm.sqlite3"
        shutil.copy(template, copy)
        copy.chmod(0o444)
        folder.chmod(0o555)
        yield copy
        folder.chmod(0o755)


def as_nobody(environment: dict[str, str], database_file: Path) -> Icm:
    """Run `icm` as a user to whom file modes apply."""
    kept = {k: v for k, v in environment.items() if not k.startswith("XDG_")}
    kept |= {"HOME": "/proc/nonexistent", "ICM_DB": str(database_file)}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd="/",
            env=kept,
            timeout=120,
            check=False,
        )

    return run


@pytest.mark.slow
def test_an_older_file_is_migrated_after_a_backup(icm: Icm, made: Path) -> None:
    with closing(sqlite3.connect(made)) as older:
        older.execute("DELETE FROM icm_metadata WHERE key LIKE 'migrations:%'")
        older.execute("DELETE FROM django_migrations WHERE app = 'django_q'")
        for (name,) in older.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'django_q_%' "
            "AND type = 'table'"
        ).fetchall():
            older.execute(f"DROP TABLE {name}")
        older.commit()
    assert "runs on Postgres" in icm("recall", "Postgres").stdout
    (copy,) = made.parent.glob("icm.sqlite3.backup-*")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert migrations(copy) == [] and len(migrations(made)) == 1
    assert icm("stats").returncode == 0
    assert len(list(made.parent.glob("icm.sqlite3.backup-*"))) == 1


@pytest.mark.slow
def test_a_broken_configuration_stops_with_file_and_line(
    icm: Icm, environment: dict[str, str], path: Path
) -> None:
    file = Path(environment["XDG_CONFIG_HOME"]) / "icm-memory" / "config.toml"
    file.parent.mkdir(parents=True)
    for text, sentence in [
        ("\n[memory]\ndecay_rate = 1.5\n", "memory.decay_rate must be a number"),
        ('[log]\nlevel = "loud"', "log.level must be one of"),
        ("[memory\n", "line 1"),
        ("a = 1\nb = [", "line 2"),
    ]:
        file.write_text(text)
        for command in ("stats", "config"):
            outcome = icm(command)
            assert_sentence(outcome, sentence)
            assert str(file) in outcome.stderr
    file.write_bytes(b"a = 1\nb = '\xff'\n")
    assert_sentence(icm("stats"), "line 2 is not UTF-8")
    assert not path.exists()
    assert icm("--version").returncode == 0


def assert_sentence(outcome: "subprocess.CompletedProcess[str]", sentence: str) -> None:
    assert outcome.returncode == 1, outcome
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("Error: ") and outcome.stderr.count("\n") == 1
    assert sentence in outcome.stderr


@pytest.mark.django_db
def test_a_failure_that_is_no_condition_of_the_file_is_a_fault_of_ours() -> None:
    with pytest.raises(Exception) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM nothing_of_this_name")
    assert database.explain(caught.value) is None
    assert database.explain(ValueError("x")) is None


def test_the_signing_key_is_kept_or_else_serves_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    kept = secret_key()
    assert len(kept) > 40 and secret_key() == kept
    file = tmp_path / "icm-memory" / "secret_key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [item.name for item in file.parent.iterdir()] == ["secret_key"]
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    assert len(secret_key()) > 40 and secret_key() != kept
    assert settings.SECRET_KEY


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("command", ["stats", "repair", "backup"])
def test_what_is_no_file_is_told_at_once(
    kind: str, command: str, icm: Icm, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    os.mkfifo(place) if kind == "pipe" else place.mkdir()
    done = icm(command, ICM_DB=str(place))
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: {place} is no file that could be a database, but a folder, device "
        "or pipe.\n"
    )


@pytest.mark.slow
def test_what_a_killed_migration_left_undone_is_done_by_the_next_command(
    icm: Icm, tmp_path: Path
) -> None:
    assert icm("topics").returncode == 0
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    with closing(sqlite3.connect(tmp_path / "icm.sqlite3")) as raw, raw:
        before = raw.execute(triggers).fetchall()
        # As after the last migration and before what follows it.
        for (name,) in before:
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("DELETE FROM icm_metadata WHERE key LIKE 'migrations:%'")
    assert before and icm("topics").returncode == 0
    with closing(sqlite3.connect(tmp_path / "icm.sqlite3")) as raw:
        assert raw.execute(triggers).fetchall() == before

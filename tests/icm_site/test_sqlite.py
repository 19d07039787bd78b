import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db.utils import ConnectionHandler, OperationalError

from icm_site import repair_command
from icm_site.errors import Conflict, InvalidInput, NotFound, ReadOnly, Unavailable
from icm_site.sqlite import backup, failures, identity, opening, vec
from icm_site.sqlite.capabilities import capabilities
from tests.icm_site.unprivileged import as_nobody, shared_folder

ODD_NAMES = [
    "plain.db",
    "a b.db",
    "a?b#c%20d.db",
    "naïve 記憶.db",
    "file:x.db",
    "a&b=c",
]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def together(work: Callable[[], None], *, times: int) -> None:
    with ThreadPoolExecutor(times) as pool:
        for done in [pool.submit(work) for _ in range(times)]:
            done.result()


@pytest.fixture
def wrap(django_db_blocker: Any) -> Iterator[Callable[..., Any]]:
    """Make Django's connection to a file of the test's own."""
    made: list[Any] = []

    def connect(path: Path, **options: Any) -> Any:
        entry = {"ENGINE": "icm_site.sqlite", "NAME": path, "OPTIONS": options}
        made.append(ConnectionHandler({"default": entry})["default"])
        return made[-1]

    with django_db_blocker.unblock():
        yield connect
        for connection in made:
            connection.close()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_new_file_is_private_ours_and_in_wal(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a folder #1" / name
    with closing(opening.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
        assert names(path.parent) == [name, f"{name}-shm", f"{name}-wal"]
        assert modes(path.parent) == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "application_id") == identity.APPLICATION_ID
        with closing(opening.connect(path, read_only=True)) as reader:
            assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    assert names(path.parent) == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("foreign_keys", 1),
        ("synchronous", 1),
        ("secure_delete", 1),
        ("temp_store", 2),
        ("journal_size_limit", 64 << 20),
        ("busy_timeout", 20_000),
        ("query_only", 0),
    ],
)
def test_each_connection_has_our_settings(
    tmp_path: Path, wrap: Callable[..., Any], name: str, value: int
) -> None:
    with closing(opening.connect(tmp_path / "a.db")) as connection:
        assert pragma(connection, name) == value
    with wrap(tmp_path / "b.db").cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        assert cursor.fetchone() == (value,)


def test_this_build_has_fts5_and_vec0(tmp_path: Path, wrap: Callable[..., Any]) -> None:
    connection = wrap(tmp_path / "a.db")
    found = capabilities(connection)
    assert found.sqlite_version == sqlite3.sqlite_version
    assert (found.fts5, found.vec0, found.vec0_way) == (True, True, vec.way())
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIRTUAL TABLE v USING vec0(embedding float[2])")
        cursor.execute("INSERT INTO v(rowid, embedding) VALUES (7, '[1, 0]')")
        cursor.execute("SELECT rowid FROM v WHERE embedding MATCH '[1, 0]' AND k = 1")
        assert cursor.fetchone() == (7,)


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def test_without_the_extension_everything_else_works() -> None:
    code = (
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'sqlite_vec' else find(name)\n"
        "from icm_site.sqlite import opening, vec\n"
        "from icm_site.sqlite.capabilities import capabilities\n"
        "import tempfile, pathlib\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    connection = opening.connect(pathlib.Path(folder) / 'a.db')\n"
        "    found = capabilities(connection)\n"
        "    print(found.fts5, found.vec0, found.vec0_way, vec.way())\n"
        "    connection.close()\n"
    )
    assert run(code) == "True False none none"


def test_a_file_that_is_no_extension_leaves_connections_alone(tmp_path: Path) -> None:
    for suffix in (".so", ".dylib", ".dll"):
        (tmp_path / f"vec0{suffix}").write_bytes(b"not a library")
    code = (
        "import sqlite3\nfrom icm_site.sqlite import vec\n"
        f"vec.extension_path = lambda: {str(tmp_path / 'vec0')!r}\n"
        "print(vec.way(), sqlite3.connect(':memory:').execute('SELECT 1').fetchone())"
    )
    assert run(code) == "none (1,)"


def test_the_package_of_the_extension_is_not_imported() -> None:
    code = (
        "import sys\nfrom icm_site.sqlite import vec\nvec.way()\n"
        "print('sqlite_vec' in sys.modules, 'numpy' in sys.modules)"
    )
    assert run(code) == "False False"


def test_threads_all_write_through_connections_of_their_own(
    tmp_path: Path, wrap: Callable[..., Any]
) -> None:
    connection = wrap(tmp_path / "a.db")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t(a)")

    def write() -> None:
        own = connection.copy()
        for number in range(20):
            with own.cursor() as cursor:
                cursor.execute("BEGIN IMMEDIATE")
                cursor.execute("SELECT count(*) FROM t")
                cursor.execute("INSERT INTO t VALUES (%s)", [number])
                cursor.execute("COMMIT")
        own.close()

    together(write, times=6)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (120,)


def test_many_processes_make_one_new_file_together(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom icm_site.sqlite import opening\n"
        "c = opening.connect(sys.argv[1])\n"
        "c.execute('CREATE TABLE IF NOT EXISTS t(a)')\n"
        "c.execute('INSERT INTO t VALUES (1)')\nc.close()\n"
    )
    path = tmp_path / "a.db"
    command = [sys.executable, "-c", code, str(path)]
    running = [subprocess.Popen(command) for _ in range(8)]
    assert [process.wait(timeout=60) for process in running] == [0] * 8
    with closing(opening.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (8,)
        assert pragma(connection, "journal_mode") == "wal"


def test_threads_that_make_one_new_file_together_all_get_it(tmp_path: Path) -> None:
    together(lambda: opening.connect(tmp_path / "a.db").close(), times=8)


def test_a_reader_sees_commits_that_are_only_in_the_log_and_writes_nothing(
    tmp_path: Path, wrap: Callable[..., Any]
) -> None:
    path = tmp_path / "a.db"
    with closing(opening.connect(path)) as writer:
        writer.execute("CREATE TABLE t(a)")
        writer.execute("INSERT INTO t VALUES (1)")
        reader = wrap(path, read_only=True)
        with reader.cursor() as cursor:
            cursor.execute("SELECT a FROM t")
            assert cursor.fetchall() == [(1,)]
            with pytest.raises(OperationalError) as caught:
                cursor.execute("INSERT INTO t VALUES (2)")
    assert reader.read_only and pragma(reader.connection, "query_only")
    assert isinstance(failures.explain(caught.value), ReadOnly)


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no database"):
        opening.connect(tmp_path / "a.db", read_only=True)
    assert names(tmp_path) == []


def filled(folder: Path) -> Path:
    path = folder / "a?b.db"
    with closing(opening.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (1)")
    return path


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o755), (0o666, 0o555)])
def test_a_file_on_a_read_only_disk_can_be_read(file: int, folder: int) -> None:
    vec.way()
    with shared_folder() as place:
        path = filled(place)
        path.chmod(file)
        place.chmod(folder)

        def read() -> tuple[list[Any], bool, str]:
            with closing(opening.connect(path)) as connection:
                rows = connection.execute("SELECT a FROM t").fetchall()
                try:
                    connection.execute("INSERT INTO t VALUES (2)")
                except sqlite3.OperationalError as error:
                    failure = type(failures.explain(error)).__name__
            refuses = pragma(opening.connect(path), "query_only")
            return rows, refuses, failure

        assert as_nobody(read) == ([(1,)], 1, "ReadOnly")
        assert names(place) == [path.name]


def test_a_folder_that_cannot_be_written_is_one_sentence() -> None:
    vec.way()
    with shared_folder() as place:

        def make() -> str:
            try:
                opening.connect(place / "sub" / "a.db")
            except Unavailable as error:
                return error.message
            return ""

        place.chmod(0o555)
        assert "Permission denied" in as_nobody(make)


def test_a_folder_that_cannot_be_written_makes_no_file_look_damaged() -> None:
    with shared_folder() as place:
        path = filled(place)
        path.chmod(0o644)
        place.chmod(0o555)

        def look() -> tuple[str | None, str]:
            fault = repair_command.fault_of(path, deep=True)
            try:
                backup.backup(path, backup.default_target(path, datetime.now()))
            except Unavailable as error:
                return fault, error.message
            return fault, ""

        fault, message = as_nobody(look)
    assert fault is None
    assert "Cannot make the file" in message


@pytest.mark.parametrize("through_django", [False, True])
def test_a_database_of_another_program_is_left_as_it_is(
    tmp_path: Path, wrap: Callable[..., Any], through_django: bool
) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
    before = path.read_bytes()
    with pytest.raises(Conflict, match="another program"):
        wrap(path).ensure_connection() if through_django else opening.connect(path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["other.db"]


def test_a_file_of_a_newer_version_can_be_read_only(
    tmp_path: Path, wrap: Callable[..., Any]
) -> None:
    path = filled(tmp_path)
    with closing(opening.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={identity.SCHEMA_VERSION + 1}")
    connection = wrap(path)
    with connection.cursor() as cursor:
        cursor.execute("SELECT a FROM t")
        assert cursor.fetchall() == [(1,)]
        with pytest.raises(OperationalError):
            cursor.execute("INSERT INTO t VALUES (2)")
    assert connection.read_only


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, Unavailable),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable),
        (sqlite3.SQLITE_FULL, Unavailable),
        (sqlite3.SQLITE_CORRUPT, Unavailable),
        (sqlite3.SQLITE_READONLY_DBMOVED, ReadOnly),
        (sqlite3.SQLITE_NOTADB, InvalidInput),
    ],
)
def test_a_condition_of_the_file_is_explained(code: int, kind: type[Exception]) -> None:
    error = sqlite3.OperationalError("text")
    error.sqlite_errorcode = code
    wrapped = OperationalError("text")
    wrapped.__cause__ = error
    assert isinstance(failures.explain(wrapped), kind)


def test_a_fault_of_ours_is_not_explained_away(tmp_path: Path) -> None:
    with closing(opening.connect(tmp_path / "a.db")) as connection:  # noqa: SIM117
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.execute("SELEC")
    assert failures.explain(caught.value) is None
    assert failures.explain(ValueError("x")) is None


def test_a_transaction_takes_the_write_lock_at_once(
    tmp_path: Path, wrap: Callable[..., Any]
) -> None:
    connection = wrap(filled(tmp_path), timeout=0)
    connection.ensure_connection()
    with closing(opening.connect(tmp_path / "a?b.db", timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            connection.set_autocommit(
                False, force_begin_transaction_with_broken_autocommit=True
            )

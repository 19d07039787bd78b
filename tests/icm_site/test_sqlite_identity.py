import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from icm_site.errors import Conflict, InvalidInput, Unavailable
from icm_site.sqlite import identity, opening


@pytest.mark.parametrize(
    ("content", "kind", "error"),
    [
        (b"", "empty", None),
        (b"hello", "not a database", InvalidInput),
        (b"x" * 5000, "not a database", InvalidInput),
        (b"SQLite format 3\0" + b"x" * 50, "not a database", InvalidInput),
    ],
)
def test_a_file_is_known_by_its_header(
    tmp_path: Path, content: bytes, kind: str, error: type[Exception] | None
) -> None:
    path = tmp_path / "a b.db"
    path.write_bytes(content)
    assert identity.inspect(path).kind == kind
    if error is None:
        opening.connect(path).close()
        return
    for use in (identity.refuse_foreign, opening.connect):
        with pytest.raises(error, match="is not a database"):
            use(path)
    assert path.read_bytes() == content


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    assert identity.inspect(tmp_path / "none.db").kind == "missing"
    assert identity.inspect(tmp_path).kind == "not a database"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_and_a_device_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path / "link", Path(os.devnull)):
        assert identity.inspect(place).kind == "not a database"


@pytest.mark.parametrize("opened_before", [False, True])
@pytest.mark.parametrize(
    ("application_id", "version", "kind"),
    [
        (identity.APPLICATION_ID, 0, "ours"),
        (identity.APPLICATION_ID, identity.SCHEMA_VERSION, "ours"),
        (identity.APPLICATION_ID, identity.SCHEMA_VERSION + 1, "newer"),
        (0, 0, "foreign"),
        (42, 0, "foreign"),
    ],
)
def test_whose_a_database_is(
    tmp_path: Path, application_id: int, version: int, kind: str, opened_before: bool
) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute(f"PRAGMA application_id={application_id}")
        connection.execute(f"PRAGMA user_version={version}")
        connection.commit()
    if opened_before:
        with identity.opening(path):
            pass
    assert identity.inspect(path) == identity.FileState(kind, application_id, version)  # type: ignore[arg-type]


def test_a_version_that_is_only_in_the_log_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    code = (
        "import os, sys\nfrom icm_site.sqlite import opening\n"
        "c = opening.connect(sys.argv[1]); c.execute('CREATE TABLE t(a)')\n"
        "c.execute('PRAGMA user_version=99'); os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
    assert Path(f"{path}-wal").stat().st_size > 0
    assert identity.inspect(path).kind == "newer"
    with pytest.raises(Conflict, match="newer version of ICM"):
        identity.refuse_foreign(path)


def test_looking_at_a_file_does_not_drop_the_locks_of_this_process(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.db"
    with closing(opening.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
    with closing(opening.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        code = (
            "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], timeout=0)\n"
            "try: c.execute('SELECT * FROM t').fetchall(); print('read')\n"
            "except sqlite3.OperationalError: print('locked')\n"
        )
        with pytest.raises(Unavailable, match="Another process"):
            identity.inspect(path)
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "locked"


class Slow:
    """A connection on which somebody else makes the file after the first question."""

    def __init__(self, path: Path) -> None:
        self._path, self._asked = path, 0
        self._connection = sqlite3.connect(path, isolation_level=None)

    def execute(self, statement: str) -> SimpleNamespace:
        (row,) = self._connection.execute(statement).fetchall()
        self._asked += 1
        if self._asked == 1:
            with closing(opening.connect(self._path)) as other:
                other.execute("CREATE TABLE t(a)")
        return SimpleNamespace(fetchone=lambda: row)

    def close(self) -> None:
        self._connection.close()


def test_a_file_that_is_made_meanwhile_is_not_another_program_s(tmp_path: Path) -> None:
    with closing(Slow(tmp_path / "a.db")) as connection:
        assert identity.state_of(connection).kind in ("empty", "ours")

"""`icm doctor` on who holds up others at a database."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from icm_site.doctor import lock_state
from tests.conftest import Icm


@pytest.fixture
def database(icm: Icm, environment: dict[str, str]) -> Path:
    assert icm("store", "-t", "a-b", "-c", "A fact stands.").returncode == 0
    return Path(environment["ICM_DB"])


# What holds a lock: a transaction of the kind that the first word names.
HOLDING = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN " + sys.argv[2])
held.execute("SELECT count(*) FROM memories").fetchone()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(database: Path, kind: str) -> Iterator[int]:
    """Another process in a transaction of this kind; gives its number."""
    command = [sys.executable, "-c", HOLDING, str(database), kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout and other.stdout.readline() == "held\n"
        try:
            yield other.pid
        finally:
            other.kill()


@pytest.mark.skipif(not lock_state.LOCKS.exists(), reason="no list of locks here")
def test_who_holds_the_write_lock_is_told(icm: Icm, database: Path) -> None:
    with holding(database, "IMMEDIATE") as process:
        told = icm("doctor", PATH="/usr/bin:/bin")
    assert told.returncode == 0
    assert re.search(rf"process {process} \(.+\) is writing to it", told.stdout)
    assert "is writing" not in icm("doctor", PATH="/usr/bin:/bin").stdout


@pytest.mark.skipif(not lock_state.LOCKS.exists(), reason="no list of locks here")
def test_who_keeps_the_log_from_being_tidied_is_told(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_state, "LARGE_LOG", 0)
    with holding(database, "DEFERRED") as process:
        with closing(sqlite3.connect(database)) as other:
            other.execute("CREATE TABLE zz (x)")
            other.execute("DROP TABLE zz")
        (found,) = lock_state.examine(database)
        assert f"process {process} (" in found.text
        assert "reads an old state" in found.text
        assert lock_state.holders(database, lock_state.WRITER) == set()
    with closing(sqlite3.connect(database)) as idle:
        idle.execute("CREATE TABLE zz (x)")
        (found,) = lock_state.examine(database)
    assert found.text.endswith("a process reads an old state, or none could tidy")


def test_what_is_no_line_of_a_lock_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, locks = tmp_path / "a", tmp_path / "locks"
    shared = tmp_path / "a-shm"
    shared.touch()
    file = f"fe:00:{shared.stat().st_ino}"
    lines = (
        f"1: POSIX  ADVISORY  WRITE 17 {file} 120 120",
        f"1: -> POSIX  ADVISORY  WRITE 18 {file} 120 120",
        f"2: OFDLCK ADVISORY  READ -1 {file} 124 124",
        f"3: POSIX  ADVISORY  READ {os.getpid()} {file} 124 124",
        f"4: FLOCK  ADVISORY  READ 19 {file} 0 EOF",
        "5: POSIX  ADVISORY  READ 20 fe:00:1 124 124",
        "",
        "nonsense",
    )
    locks.write_text("\n".join(lines))
    monkeypatch.setattr(lock_state, "LOCKS", locks)
    assert lock_state.holders(database, lock_state.WRITER) == {17}
    assert lock_state.holders(database, lock_state.READERS) == set()
    monkeypatch.setattr(lock_state, "LOCKS", tmp_path / "none")
    assert lock_state.holders(database, lock_state.WRITER) == set()

"""Copies of a database while others go on writing to it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from icm_site.errors import Conflict
from icm_site.sqlite import backup, identity


def make(path: Path) -> sqlite3.Connection:
    """A database of a few MB, so that a copy takes several steps."""
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for name, value in (
        ("journal_mode", "WAL"),
        ("application_id", identity.APPLICATION_ID),
        ("user_version", identity.SCHEMA_VERSION),
    ):
        raw.execute(f"PRAGMA {name} = {value}")
    raw.execute("CREATE TABLE rows(value)")
    raw.execute("BEGIN")
    raw.executemany("INSERT INTO rows VALUES (randomblob(4000))", [()] * 4000)
    raw.execute("COMMIT")
    return raw


def test_a_copy_is_one_state_and_ends_while_another_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "PAGES_AT_A_TIME", 50)
    source, stop = tmp_path / "icm.sqlite3", threading.Event()
    with closing(make(source)) as raw:

        def write() -> None:
            while not stop.wait(0.001):
                raw.execute("INSERT INTO rows VALUES ('new')")

        writer = threading.Thread(target=write)
        copier = threading.Thread(
            target=backup.backup, args=(source, tmp_path / "copy"), daemon=True
        )
        writer.start()
        copier.start()
        copier.join(10)
        late = copier.is_alive()
        stop.set()
        writer.join()
        copier.join()
        assert not late
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("PRAGMA quick_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM rows").fetchone()[0] >= 4000


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    make(tmp_path / "icm.sqlite3").close()
    with pytest.raises(Conflict, match="exists already"):
        backup.backup(tmp_path / "icm.sqlite3", tmp_path / "icm.sqlite3")

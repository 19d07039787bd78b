"""After a purge the raw bytes of database and log do not hold the text."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import Icm

SECRET = "xylographomania"

pytestmark = pytest.mark.slow


def held(folder: Path, word: str) -> list[str]:
    """Files of the database that contain the word in any case."""
    return [
        file.name
        for file in folder.glob("icm.sqlite3*")
        if word.encode() in file.read_bytes().lower()
    ]


def test_purge_reaches_every_page_index_revision_and_the_log(
    icm: Icm, tmp_path: Path
) -> None:
    for n in range(6):
        icm(
            "store",
            "-t",
            "filler",
            "-c",
            f"Filler number {n} of the {'abcd'[n % 4]} kind",
        )
    first = icm("store", "-t", "shop", "-c", f"Our {SECRET} cabinet", "-k", SECRET)
    ulid = first.stdout.split()[1]
    icm("update", ulid, "-c", f"The {SECRET} cabinet is locked", "-r", f"raw {SECRET}")
    icm("update", ulid, "-c", "The cabinet is locked", "-r", "raw")
    icm("forget", ulid)
    # A reader keeps the log from being emptied at the end of each command.
    with closing(sqlite3.connect(tmp_path / "icm.sqlite3")) as reader:
        reader.execute("SELECT count(*) FROM memories").fetchone()
        assert held(tmp_path, SECRET)
        shown = icm("purge", "-q", SECRET)
        assert "Would erase 1 memories" in shown.stdout
        assert held(tmp_path, SECRET)
        erased = icm("purge", "-q", SECRET, "--yes")
        assert erased.stdout.startswith("Erased 1 memories and 4 revisions.")
        assert held(tmp_path, SECRET) == []
    assert held(tmp_path, SECRET) == []
    assert "Memories: 6" in icm("stats").stdout
    assert icm("show", ulid).returncode == 1

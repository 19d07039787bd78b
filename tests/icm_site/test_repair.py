"""Copies put back, and damaged files mended, by the commands as a person runs them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from icm_site import repair_command
from icm_site.doctor import database_state
from icm_site.errors import Unavailable
from icm_site.sqlite import backup, failures, identity, replacing, restore, salvage
from icm_site.sqlite.scan import Scan
from tests.conftest import PROJECT, Icm

PAGE = 4096


def spoil(path: Path, pages: list[int]) -> None:
    """Fill pages, counted from 1, with what is no page."""
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(b"\xa5" * PAGE)


def leaves(path: Path, table: str) -> list[int]:
    """The leaf pages of a table, in the order of its rows."""
    with closing(sqlite3.connect(path)) as raw:
        root = raw.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()[0]
    data = path.read_bytes()

    def below(page: int) -> list[int]:
        at = (page - 1) * PAGE + (100 if page == 1 else 0)
        if data[at] == 13:  # sqlite.org/fileformat2.html 1.6
            return [page]
        count = int.from_bytes(data[at + 3 : at + 5], "big")
        cells = [
            int.from_bytes(data[at + 12 + 2 * n : at + 14 + 2 * n], "big")
            for n in range(count)
        ]
        start = (page - 1) * PAGE
        children = [
            int.from_bytes(data[start + cell : start + cell + 4], "big")
            for cell in cells
        ]
        children.append(int.from_bytes(data[at + 8 : at + 12], "big"))
        return [leaf for child in children for leaf in below(child)]

    return below(root)


def plain(path: Path, rows: int = 500) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE django_migrations(id INTEGER PRIMARY KEY)")
        raw.execute("CREATE TABLE memories(id INTEGER PRIMARY KEY, text TEXT)")
        raw.executemany(
            "INSERT INTO memories VALUES (?, ?)",
            [(n, f"{n} " + "x" * 200) for n in range(1, rows + 1)],
        )


@pytest.mark.parametrize(
    "chosen",
    [[0], [-1], [5], [3, 9, 10, -2], [0, 3, -1], [*range(20)], [*range(2, 20)]],
    ids=["first", "last", "one", "several", "both ends", "the start", "nearly all"],
)
def test_a_scan_reaches_every_row_outside_the_broken_leaves(
    tmp_path: Path, chosen: list[int]
) -> None:
    path = tmp_path / "x"
    plain(path)
    pages = leaves(path, "memories")
    with closing(sqlite3.connect(path)) as raw:
        whole = {row[0] for row in raw.execute("SELECT id FROM memories")}
    broken = {pages[n] for n in chosen}
    kept = {n for page in set(pages) - broken for n in rowids(path, page)}
    assert whole == {n for page in pages for n in rowids(path, page)}
    spoil(path, sorted(broken))
    with closing(sqlite3.connect(path)) as raw:
        scan = Scan(raw, "memories", ("id",))
        assert {row[0] for row in scan.rows()} == kept
        assert scan.lost is None or scan.lost >= len(whole - kept)


def rowids(path: Path, page: int) -> list[int]:
    """The rowids in the cells of a leaf (sqlite.org/fileformat2.html 1.6)."""
    data = path.read_bytes()[(page - 1) * PAGE : page * PAGE]
    found = []
    for n in range(int.from_bytes(data[3:5], "big")):
        cell = int.from_bytes(data[8 + 2 * n : 10 + 2 * n], "big")
        _, cell = varint(data, cell)
        found.append(varint(data, cell)[0])
    return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number there, and where the next thing starts."""
    value = 0
    while True:
        value = value << 7 | data[at] & 0x7F
        at += 1
        if data[at - 1] < 0x80:
            return value, at


FILL = """
import sys, django
django.setup()
from icm_site import database
from tests.factories import perform
database.ready()
for n in range(40):
    text = f"fact {n}: " + f"number {n * 7919} stands here. " * 12
    perform("memory_store", topic="t", content=text)
database.close()
"""


def own_environment(home: Path, database: Path) -> dict[str, str]:
    """Variables for a process that must not touch what is this user's."""
    own = {"HOME": home, "ICM_DB": database, "PYTHONPATH": PROJECT}
    env = {"DJANGO_SETTINGS_MODULE": "icm_site.settings", "ICM_NO_EMBEDDINGS": "1"}
    return {**os.environ, **env, **{name: str(each) for name, each in own.items()}}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with 40 memories, made by the program once for all tests."""
    folder = tmp_path_factory.mktemp("filled")
    path = folder / "icm.sqlite3"
    subprocess.run(
        [sys.executable, "-c", FILL],
        env=own_environment(folder, path),
        cwd=PROJECT,
        check=True,
    )
    return path


@pytest.fixture
def database(filled: Path, environment: dict[str, str]) -> Path:
    """A copy of that one."""
    return Path(shutil.copy2(filled, environment["ICM_DB"]))


def test_a_damaged_file_is_mended_and_every_surface_says_how(
    database: Path, icm: Icm
) -> None:
    before = texts(database)
    assert len(before) == 40
    pages = leaves(database, "memories")
    spoil(database, [pages[len(pages) // 2]])
    for command in (["list", "-a"], ["recall", "fact"], ["backup"]):
        failed = icm(*command)
        assert failed.returncode == 1, command
        assert "icm repair" in failed.stderr, command
        assert "Traceback" not in failed.stderr, command
    assert "icm repair" in icm("doctor").stdout
    bytes_before = database.read_bytes()
    assert icm("repair", "--dry-run").returncode == 1
    assert database.read_bytes() == bytes_before
    mended = icm("repair")
    assert mended.returncode == 1
    assert "The damaged file is kept" in mended.stdout, mended.stderr
    after = texts(database)
    assert after < before
    assert len(after) >= 30
    assert f"memories: {len(after)} saved" in mended.stdout
    assert icm("recall", "fact").returncode == 0
    assert icm("store", "-t", "t", "-c", "a new one").returncode == 0
    assert icm("repair").returncode == 0
    for path in database.parent.glob(f"{database.name}*"):
        assert path.stat().st_mode & 0o777 == 0o600, path


def test_a_copy_comes_back_whole_and_the_present_is_kept(
    database: Path, icm: Icm
) -> None:
    before = texts(database)
    assert icm("backup").returncode == 0
    assert icm("store", "-t", "t", "-c", "written after the copy").returncode == 0
    assert icm("restore", "latest", "--dry-run").returncode == 0
    assert len(texts(database)) == 41
    done = icm("restore", "latest")
    assert done.returncode == 0, done.stderr
    assert "Restored 40 live memories" in done.stdout
    assert texts(database) == before
    (aside,) = database.parent.glob(f"{database.name}.before-*")
    assert len(texts(aside)) == 41
    assert aside.stat().st_mode & 0o777 == 0o600
    assert icm("restore", str(aside)).returncode == 0
    assert len(texts(database)) == 41


def test_a_file_without_its_head_is_replaced_by_the_copy(
    database: Path, icm: Icm
) -> None:
    before = texts(database)
    assert icm("backup").returncode == 0
    spoil(database, [1])
    failed = icm("list", "-a")
    assert (failed.returncode, "icm restore latest" in failed.stderr) == (1, True)
    assert "icm repair" in icm("doctor").stdout
    assert icm("restore", "latest").returncode == 0
    assert texts(database) == before


def test_a_bad_copy_changes_nothing(database: Path, icm: Icm, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert icm("backup", "-o", str(copy)).returncode == 0
    spoil(copy, leaves(copy, "memories")[:1])
    foreign = tmp_path / "foreign"
    plain(foreign)
    text = tmp_path / "text"
    text.write_text("no database")
    before = database.read_bytes()
    for name in (str(copy), str(foreign), str(text), "missing", str(database)):
        failed = icm("restore", name)
        assert failed.returncode == 1, name
        assert len(failed.stderr.splitlines()) == 1, failed.stderr
    assert database.read_bytes() == before


def test_others_see_what_was_restored(database: Path, icm: Icm) -> None:
    assert icm("backup").returncode == 0
    assert icm("store", "-t", "t", "-c", "written after the copy").returncode == 0
    with closing(sqlite3.connect(database)) as open_all_along:
        count = "SELECT count(*) FROM memories"
        assert open_all_along.execute(count).fetchone() == (41,)
        assert icm("restore", "latest").returncode == 0
        assert open_all_along.execute(count).fetchone() == (40,)
        assert open_all_along.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_rows_without_an_owner_are_written_aside(tmp_path: Path) -> None:
    path, fresh = tmp_path / "x", tmp_path / "fresh"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.executescript(
            """
CREATE TABLE django_migrations(id INTEGER PRIMARY KEY);
CREATE TABLE memories(id INTEGER PRIMARY KEY, next INTEGER REFERENCES memories(id));
CREATE TABLE revisions(
    id INTEGER PRIMARY KEY, memory INTEGER NOT NULL REFERENCES memories(id), old BLOB);
INSERT INTO memories VALUES (1, NULL), (2, 7);
INSERT INTO revisions VALUES (1, 1, x'01'), (2, 9, x'00ff');
"""
        )
    done = salvage.salvage(path, fresh, rules={})
    salvage.write_apart(done, tmp_path / "apart")
    assert [
        json.loads(line) for line in (tmp_path / "apart").read_text().splitlines()
    ] == [
        {"table": "revisions", "row": {"id": 2, "memory": 9, "old": {"base64": "AP8="}}}
    ]
    with closing(sqlite3.connect(fresh)) as raw:
        assert raw.execute("SELECT * FROM memories").fetchall() == [
            (1, None),
            (2, None),
        ]
        assert raw.execute("SELECT id FROM revisions").fetchall() == [(1,)]
    assert (done.cleared, done.whole) == (1, False)


def texts(path: Path) -> set[str]:
    """The memories of a file, in no order."""
    with closing(sqlite3.connect(path)) as raw:
        return {row[0] for row in raw.execute("SELECT summary FROM memories")}


def test_what_is_kept_aside_never_replaces_a_file(tmp_path: Path) -> None:
    now = datetime(2026, 5, 4, 12, 30, 1)
    database = tmp_path / "x.sqlite3"
    names = []
    for _ in range(3):
        path = replacing.unused(database, "before", now=now)
        path.touch()
        names.append(path.name.removeprefix("x.sqlite3.before-"))
    assert names == ["20260504-123001", "20260504-123001-1", "20260504-123001-2"]


def test_a_name_in_the_schema_that_is_no_text_is_damage_like_any_other(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.sqlite3"
    plain(path, rows=5)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"PRAGMA application_id = {identity.APPLICATION_ID}")
        raw.execute("CREATE TABLE other(id INTEGER)")
        raw.execute("PRAGMA writable_schema = ON")
        # The driver cannot even say what SQLite says of this: its words are no UTF-8.
        raw.execute(
            "UPDATE sqlite_master SET sql = 'CREATE TABLE (', "
            "name = CAST(x'62bf820178' AS TEXT) WHERE name = 'other'"
        )
    wrong = [f for f in database_state.examine(path) if f.level == "wrong"]
    (finding,) = (f for f in wrong if "malformed" in f.text)
    assert "is damaged: malformed database schema (b\ufffd" in finding.text
    assert finding.text.isprintable()
    nothing = repair_command.Expected(path, {})
    fault = repair_command.fault_of(path, nothing, deep=False)
    assert str(fault).startswith("malformed")
    with pytest.raises(Unavailable, match="malformed database schema"):
        backup.backup(path, tmp_path / "copy")
    with pytest.raises(Unavailable, match="cannot be read: malformed"):
        restore.memories_of(path)
    with closing(sqlite3.connect(path)) as raw:
        with pytest.raises(UnicodeDecodeError) as raised:
            raw.execute("SELECT 1 FROM memories")
        explained = failures.explain(raised.value)
        assert explained is not None and "icm repair" in explained.message
    done = salvage.salvage(path, tmp_path / "fresh", rules={})
    assert {(table.name, table.saved) for table in done.tables} >= {("memories", 5)}
    assert (done.undefined, done.whole) == (["sqlite_master"], False)


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        sqlite3.OperationalError("database or disk is full"),
    ],
)
def test_a_repair_without_room_is_one_sentence_and_changes_nothing(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    damaged = tmp_path / "icm.sqlite3"
    shutil.copy(filled, damaged)

    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(salvage, "salvage", full)
    expected = repair_command.Expected(filled, {})
    with pytest.raises(Unavailable, match=str(error.args[-1])):
        repair_command._save(damaged, expected, dry_run=False)
    assert damaged.read_bytes() == filled.read_bytes()
    assert not list(tmp_path.glob("*.partial*"))


def test_a_database_that_cannot_be_kept_aside_keeps_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(shutil, "copy2", full)
    for name in ("icm.sqlite3", "icm.sqlite3-wal", "fresh"):
        (tmp_path / name).write_text(name)
    with pytest.raises(Unavailable, match="No space left"):
        replacing.swap(tmp_path / "icm.sqlite3", tmp_path / "fresh", tmp_path / "aside")
    for name in ("icm.sqlite3", "icm.sqlite3-wal"):
        assert (tmp_path / name).read_text() == name

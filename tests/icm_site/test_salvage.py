"""What `icm repair` saves where definitions, inner pages or single values are lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from icm_site import stand_ins
from icm_site.sqlite import definitions, planning, salvage, values
from tests.conftest import PROJECT, Icm
from tests.icm_site.test_repair import (
    database,
    filled,
    leaves,
    own_environment,
    spoil,
    texts,
)

__all__ = ["database", "filled"]

MODEL = """
import os, sys, django
django.setup()
from pathlib import Path
from icm_site import database
database.make_at(Path(sys.argv[1]))
"""
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database, as `icm repair` makes one to compare with."""
    folder = tmp_path_factory.mktemp("model")
    subprocess.run(
        [sys.executable, "-c", MODEL, str(folder / "new.sqlite3")],
        env=own_environment(folder, folder / "none.sqlite3"),
        cwd=PROJECT,
        check=True,
    )
    return folder / "new.sqlite3"


def rows(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as raw:
        return {
            # The time of a record is that of the new file.
            name: raw.execute(
                f"SELECT {'app, name' if name == planning.RECORDS else '*'} "
                f'FROM "{name}"'
            ).fetchall()
            for name in definitions.read(raw).tables
        }


def changed(source: Path, target: Path, *statements: str) -> Path:
    """A copy of a database in whose schema something was changed."""
    target.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(target)) as raw, raw:
        raw.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            raw.execute(statement)
    return target


@pytest.mark.slow
def test_no_row_is_lost_with_the_definition_of_any_one_table_or_index(
    filled: Path, model: Path, tmp_path: Path
) -> None:
    before = rows(filled)
    with closing(sqlite3.connect(filled)) as raw:
        names = [each.name for each in definitions.read(raw).found]
    assert {"django_migrations", "memories", "memories_topic"} <= {*names}
    for name in names:
        damaged = changed(
            filled,
            tmp_path / "damaged",
            f"DELETE FROM sqlite_master WHERE name = '{name}'",
        )
        fresh = tmp_path / "fresh"
        done = salvage.salvage(damaged, fresh, rules={}, model=model)
        assert rows(fresh) == before, name
        with closing(sqlite3.connect(fresh)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",), name
        # Where a table has a definition, all of it is read.
        assert [t.name for t in done.tables if t.lost != 0] == (
            [name] if name in before and name != planning.RECORDS else []
        )
        assert done.whole == (name not in before), name
        fresh.unlink()


def without_triggers(raw: sqlite3.Connection) -> None:
    """Some need modules that only the program loads."""
    found = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for (name,) in found.fetchall():
        raw.execute(f"DROP TRIGGER {name}")


@pytest.mark.parametrize(
    "sql",
    ["CREATE", "CREATE TABLE x(y)", 'CREATE TABLE "{name}"(y)', None],
    ids=["no sentence", "another table", "other columns", "no text"],
)
def test_a_definition_that_cannot_be_read_costs_no_row(
    sql: str | None, filled: Path, model: Path, tmp_path: Path
) -> None:
    for name in ("memories", "django_migrations", "memory_usage"):
        text = "CAST(x'435245415445ff' AS TEXT)"
        if sql is not None:
            text = "'" + sql.format(name=name) + "'"
        damaged = changed(
            filled,
            tmp_path / "damaged",
            f"UPDATE sqlite_master SET sql = {text} WHERE name = '{name}'",
        )
        done = salvage.salvage(damaged, tmp_path / "fresh", rules={}, model=model)
        assert rows(tmp_path / "fresh") == rows(filled), name
        assert done.whole, name
        (tmp_path / "fresh").unlink()


def test_leaves_below_a_broken_inner_page_are_found(
    filled: Path, model: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(filled.read_bytes())
    assert len(leaves(filled, "memories")) > 1
    with closing(sqlite3.connect(filled)) as raw:
        root = definitions.read(raw).tables["memories"].root
    spoil(damaged, [root])
    done = salvage.salvage(damaged, tmp_path / "fresh", rules={}, model=model)
    assert rows(tmp_path / "fresh") == rows(filled)
    assert not done.whole


@pytest.mark.parametrize("size", [1024, 8192, 65_536])
def test_no_row_is_lost_in_a_file_whose_pages_have_another_size(
    filled: Path, model: Path, tmp_path: Path, size: int
) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(filled.read_bytes())
    with closing(sqlite3.connect(damaged)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute(f"PRAGMA page_size = {size}")
        raw.execute("VACUUM")
        (pages,) = raw.execute("PRAGMA page_count").fetchone()
        assert pages * size == damaged.stat().st_size
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("DELETE FROM sqlite_master WHERE name = 'memories'")
        raw.commit()
    salvage.salvage(damaged, tmp_path / "fresh", rules={}, model=model)
    assert rows(tmp_path / "fresh") == rows(filled)


def test_of_a_row_whose_end_is_lost_the_rest_is_saved(
    filled: Path, model: Path, tmp_path: Path
) -> None:
    damaged = changed(filled, tmp_path / "damaged")
    with closing(sqlite3.connect(damaged)) as raw, raw:
        without_triggers(raw)
        long = "word " * 4000
        raw.execute("UPDATE memories SET summary_index = ? WHERE id = 7", (long,))
    data = bytearray(damaged.read_bytes())
    # The first page of the long text names the next one.
    at = data.index(b"word word word", data.index(b"word word word") + 4096)
    start = at // 4096 * 4096
    data[start : start + 4] = b"\xff\xff\xff\xff"
    damaged.write_bytes(data)
    done = salvage.salvage(damaged, tmp_path / "fresh", rules={}, model=model)
    (found,) = (table for table in done.tables if table.name == "memories")
    assert (found.saved, found.replaced, found.lost) == (40, 1, 0)
    assert texts(tmp_path / "fresh") == texts(filled)
    salvage.write_apart(done, tmp_path / "apart")
    assert '"summary_index": {"unreadable": true}' in (tmp_path / "apart").read_text()


BAD = {
    "created_at": "CAST(x'32303236ff' AS TEXT)",
    "updated_at": "'2026-13-45 00:00:00'",
    "occurred_at": "12",
    "keywords": "'[1'",
    "topic": "x'00'",
    "importance": "7.5",
    "state": "'liwe'",
    "ulid": "'01M8'",
}


def test_values_that_no_program_wrote_are_damage_and_are_mended(
    database: Path, icm: Icm
) -> None:
    before = texts(database)
    with closing(sqlite3.connect(database)) as raw, raw:
        without_triggers(raw)
        raw.execute("PRAGMA ignore_check_constraints = ON")
        for number, (column, value) in enumerate(BAD.items(), start=1):
            raw.execute(f"UPDATE memories SET {column} = {value} WHERE id = {number}")
    failed = icm("list", "-a")
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1), failed.stderr
    assert "icm repair" in failed.stderr
    assert "icm repair" in icm("doctor").stdout
    mended = icm("repair")
    assert (mended.returncode, mended.stderr) == (1, "")
    assert "memories: 40 saved, 7 with values that could not be read" in mended.stdout
    assert texts(database) == before
    listed = icm("list", "-a", "-f", "json")
    assert (listed.returncode, listed.stdout.count('"summary"')) == (0, 40)
    assert icm("repair").returncode == 0


def test_a_file_without_its_head_is_searched_for_memories(
    database: Path, icm: Icm
) -> None:
    before = texts(database)
    spoil(database, [1])
    mended = icm("repair")
    assert (mended.returncode, mended.stderr) == (1, "")
    assert "memories: 40 saved, how many are lost cannot be told" in mended.stdout
    assert texts(database) == before
    assert icm("store", "-t", "t", "-c", "a new one").returncode == 0
    assert icm("repair").returncode == 0


def test_a_file_without_its_record_of_migrations_is_of_this_version_afterwards(
    database: Path, icm: Icm
) -> None:
    count = "SELECT count(*) FROM django_migrations"
    with closing(sqlite3.connect(database)) as raw:
        records = raw.execute(count).fetchone()
    lost = changed(
        database,
        database.with_name("lost"),
        "DELETE FROM sqlite_master WHERE name IN ('django_migrations', 'icm_metadata')",
    )
    lost.replace(database)
    mended = icm("repair")
    assert (mended.returncode, mended.stderr) == (1, "")
    assert len(texts(database)) == 40
    with closing(sqlite3.connect(database)) as raw:
        assert raw.execute(count).fetchone() == records
    assert icm("store", "-t", "t", "-c", "a new one").returncode == 0
    assert icm("repair").returncode == 0


def test_a_file_of_an_older_version_keeps_its_tables_unless_its_records_are_lost(
    filled: Path, model: Path, tmp_path: Path
) -> None:
    older = changed(
        filled,
        tmp_path / "older",
        "DROP TABLE hook_shown",
        "DELETE FROM icm_metadata WHERE key LIKE 'migrations:%'",
    )
    assert plan(older, model).model is None
    lost = "DELETE FROM sqlite_master WHERE name = 'memories'"
    assert plan(changed(older, tmp_path / "lost", lost), model).model == model
    spoil(older, leaves(older, planning.RECORDS))
    assert plan(older, model).model == model


def plan(path: Path, model: Path) -> planning.Plan:
    with closing(sqlite3.connect(path)) as raw:
        return planning.make(raw, path, model)


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("datetime", "2026-11-30 10:00:00.5", True),
        ("datetime", "2026-02-30 10:00:00", False),
        ("datetime", 5, False),
        ("varchar", "a", True),
        ("varchar", b"a", False),
        ("json", "[]", True),
        ("json", "[", False),
        ("real", 1, True),
        ("bool", 2, False),
        ("blob", "a", False),
        ("bigint", None, False),
        ("of another program", object(), True),
    ],
)
def test_a_value_fits_its_column(kind: str, value: object, fits: bool) -> None:
    assert values.Column("c", kind, optional=False, rule=None).fits(value) is fits


@pytest.mark.django_db
def test_what_stands_in_for_a_value_fits_its_column() -> None:
    for (table, column), rule in stand_ins.rules().items():
        assert rule.fits(rule.make()), (table, column)

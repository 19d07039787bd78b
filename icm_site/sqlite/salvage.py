"""Saves what can be read of a damaged database into a new file."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from icm_site import paths
from icm_site.errors import Unavailable
from icm_site.sqlite import failures
from icm_site.sqlite.address import uri
from icm_site.sqlite.identity import APPLICATION_ID
from icm_site.sqlite.scan import Scan

# Without these nothing else means anything.
NEEDED = frozenset({"memories", "django_migrations"})
# Made anew from the other tables.
INDEXES = ("_fts", "vec_memories", "sqlite_", "search_changes")


@dataclass
class Table:
    """What became of one table: rows saved, rows that had to stand apart, rows lost.

    `lost` is the most there may be, None where nobody can tell; `altered` counts
    texts with bytes that are no text.
    """

    name: str
    saved: int = 0
    apart: int = 0
    lost: int | None = 0
    altered: int = 0


@dataclass
class Salvaged:
    """What became of all tables. `apart` holds the rows that fit into none.

    `undefined` are tables and indexes whose definition cannot be read.
    """

    tables: list[Table] = field(default_factory=list)
    apart: list[dict[str, Any]] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    cleared: int = 0

    @property
    def whole(self) -> bool:
        """Whether every row is in the new file."""
        broken = any(t.apart or t.altered or t.lost != 0 for t in self.tables)
        return not (broken or self.undefined)


class Definition(NamedTuple):
    """A row of the schema."""

    kind: str
    name: str
    sql: str


def salvage(damaged: Path, fresh: Path) -> Salvaged:
    """Copy every row that can be reached into the new file `fresh`, mode 0600.

    Raises Unavailable where not even the tables are known.
    """
    paths.create_private(fresh)
    with (
        closing(_open_damaged(damaged)) as source,
        closing(sqlite3.connect(fresh, isolation_level=None)) as target,
    ):
        done = Salvaged()
        schema = _schema(source, damaged, done)
        target.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        target.execute(f"PRAGMA user_version = {_version(source)}")
        target.execute("PRAGMA foreign_keys = OFF")
        target.execute("BEGIN")
        _define(target, schema, "table", unique=False, done=done)
        _define(target, schema, "index", unique=True, done=done)
        if set(done.undefined) & NEEDED:
            raise _hopeless(damaged)
        for kind, name, _ in schema:
            if name in done.undefined and kind == "table":
                done.tables.append(Table(name, lost=None))
            elif kind == "table":
                done.tables.append(_copy(source, target, name, done))
        _define(target, schema, "index", unique=False, done=done)
        _part_stranded(target, done)
        target.execute("COMMIT")
        target.execute("PRAGMA journal_mode = WAL")
    return done


def write_apart(done: Salvaged, path: Path) -> None:
    """Write the rows that fit into no table as lines of JSON, mode 0600."""
    paths.create_private(path)
    with path.open("a", encoding="utf-8") as file:
        for row in done.apart:
            file.write(json.dumps(row, ensure_ascii=False, default=_encoded) + "\n")


def _encoded(value: object) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(type(value))


def _open_damaged(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(uri(path, "mode=ro"), uri=True, timeout=5)
    try:
        # A definition that is broken must not keep the others from being read.
        connection.execute("PRAGMA writable_schema = ON")
    except failures.DAMAGE as error:
        connection.close()
        raise _hopeless(path) from error
    return connection


def _hopeless(path: Path) -> Unavailable:
    return Unavailable(
        f"nothing can be read of {path}, which was left as it is: put a copy in its "
        "place by `icm restore latest`"
    )


def _version(source: sqlite3.Connection) -> int:
    return int(source.execute("PRAGMA user_version").fetchone()[0])


def _schema(source: sqlite3.Connection, path: Path, done: Salvaged) -> list[Definition]:
    scan = Scan(source, "sqlite_master", ("type", "name", "sql"))
    source.text_factory = _Texts()
    try:
        found = [Definition(*map(str, row)) for row in scan.rows() if row[2]]
    except failures.DAMAGE as error:
        raise _hopeless(path) from error
    finally:
        source.text_factory = str
    if scan.lost != 0:
        done.undefined.append("sqlite_master")
    kept = [
        entry
        for entry in found
        if entry.kind in ("table", "index")
        and not any(part in entry.name for part in INDEXES)
        and "CREATE VIRTUAL" not in entry.sql.upper()
    ]
    if NEEDED - {entry.name for entry in kept}:
        raise _hopeless(path)
    # The log of the search is kept empty: its readers then read all anew.
    return kept + [e for e in found if e.kind == "table" and e.name == "search_changes"]


def _define(
    target: sqlite3.Connection,
    schema: Iterable[Definition],
    kind: str,
    *,
    unique: bool,
    done: Salvaged,
) -> None:
    for entry in schema:
        if entry.kind == kind and unique == entry.sql.upper().startswith(
            "CREATE UNIQUE"
        ):
            try:
                target.execute(entry.sql)
            except (*failures.DAMAGE, ValueError):  # or its table is lost
                done.undefined.append(entry.name)


class _Texts:
    """Turns bytes into text; what is none is replaced, and counted."""

    def __init__(self) -> None:
        self.altered = 0

    def __call__(self, value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            self.altered += 1
            return value.decode(errors="replace")


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, name: str, done: Salvaged
) -> Table:
    table, texts = Table(name), _Texts()
    if name == "search_changes":
        return table
    columns = tuple(
        row[1] for row in target.execute(f'PRAGMA table_info("{name}")').fetchall()
    )
    scan = Scan(source, name, columns)
    source.text_factory = texts
    places = ", ".join("?" * len(columns))
    names = ", ".join(f'"{column}"' for column in columns)
    statement = f'INSERT INTO "{name}"({names}) VALUES ({places})'
    try:
        for row in scan.rows():
            try:
                target.execute(statement, row)
                table.saved += 1
            except (sqlite3.IntegrityError, OverflowError):
                table.apart += 1
                _set_apart(done, name, dict(zip(columns, row, strict=True)))
    finally:
        source.text_factory = str
    table.lost, table.altered = scan.lost, texts.altered
    return table


def _set_apart(done: Salvaged, table: str, row: dict[str, Any]) -> None:
    done.apart.append({"table": table, "row": row})


def _part_stranded(target: sqlite3.Connection, done: Salvaged) -> None:
    """Deal with rows whose owner is lost: clear the reference, or set them apart."""
    tables = {table.name: table for table in done.tables}
    while broken := set(_broken(target)):
        for name, column, optional, rowid in broken:
            if optional:
                target.execute(
                    f'UPDATE "{name}" SET "{column}" = NULL WHERE rowid = ?', (rowid,)
                )
                done.cleared += 1
                continue
            cursor = target.execute(f'SELECT * FROM "{name}" WHERE rowid = ?', (rowid,))
            row = cursor.fetchone()
            if row is None:  # by an earlier reference of it
                continue
            fields = (entry[0] for entry in cursor.description)
            _set_apart(done, name, dict(zip(fields, row, strict=True)))
            target.execute(f'DELETE FROM "{name}" WHERE rowid = ?', (rowid,))
            tables[name].saved -= 1
            tables[name].apart += 1


def _broken(target: sqlite3.Connection) -> Iterator[tuple[str, str, bool, int]]:
    """Table, column, whether it may be empty, and rowid of each dangling reference."""
    for name, rowid, _, key in target.execute("PRAGMA foreign_key_check").fetchall():
        keys = target.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
        column = next(row[3] for row in keys if row[0] == key)
        facts = target.execute(f'PRAGMA table_info("{name}")').fetchall()
        needed = next(bool(row[3] or row[5]) for row in facts if row[1] == column)
        yield name, column, not needed, rowid

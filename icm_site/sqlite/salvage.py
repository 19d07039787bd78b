"""Saves what can be read of a damaged database into a new file."""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icm_site import paths
from icm_site.errors import Unavailable
from icm_site.sqlite import definitions, failures, planning
from icm_site.sqlite.address import uri
from icm_site.sqlite.definitions import Definition
from icm_site.sqlite.identity import APPLICATION_ID
from icm_site.sqlite.planning import MARKED, RECORDS, Plan
from icm_site.sqlite.scan import UNREADABLE, Scan
from icm_site.sqlite.values import Column, Rules, columns, decoded

TEXTS = frozenset({"varchar", "char", "text"})
# Rows by table.
Usual = dict[str, list[tuple[Any, ...]]]
# Without it nothing else means anything.
NEEDED = "memories"


@dataclass
class Table:
    """What became of one table: rows saved, rows that had to stand apart, rows lost.

    `lost` is the most there may be, None where nobody can tell; `altered` counts
    texts with bytes that are no text, `replaced` rows with values that were none.
    """

    name: str
    saved: int = 0
    apart: int = 0
    lost: int | None = 0
    altered: int = 0
    replaced: int = 0


@dataclass
class Salvaged:
    """What became of all tables. `apart` holds rows that did not fit as they were.

    `undefined` are tables and indexes whose definition cannot be read.
    """

    tables: list[Table] = field(default_factory=list)
    apart: list[dict[str, Any]] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    cleared: int = 0

    @property
    def whole(self) -> bool:
        """Whether every row is in the new file."""
        broken = any(
            t.apart or t.altered or t.replaced or t.lost != 0 for t in self.tables
        )
        return not (broken or self.undefined)


def salvage(
    damaged: Path, fresh: Path, *, rules: Rules, model: Path | None = None
) -> Salvaged:
    """Copy every row that can be reached into the new file `fresh`, mode 0600.

    A value that its column cannot hold is replaced. `model` is a new database as this
    version makes it: unless the damaged one is older, its definitions count. Raises
    Unavailable where no memories can be found.
    """
    copy = fresh.with_name(f"{fresh.name}-copy")
    try:
        definitions.copied(damaged, copy)
        with closing(_opened(copy)) as source:
            plan = planning.make(source, copy, model)
        if NEEDED not in plan.names:
            raise _hopeless(damaged)
        if plan.mended:
            parts = (part for part, _ in plan.parts)
            definitions.rewrite(copy, (*plan.tables.values(), *parts))
        with closing(_opened(copy)) as source:
            return _saved(source, fresh, plan, rules)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{copy}{ending}").unlink(missing_ok=True)


def _saved(
    source: sqlite3.Connection, fresh: Path, plan: Plan, rules: Rules
) -> Salvaged:
    paths.create_private(fresh)
    if plan.model:
        shutil.copyfile(plan.model, fresh)
    with closing(sqlite3.connect(fresh, isolation_level=None)) as target:
        done = Salvaged(undefined=list(plan.undefined))
        target.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if not plan.model:
            target.execute(f"PRAGMA user_version = {_version(source)}")
        target.execute("PRAGMA foreign_keys = OFF")
        target.execute("BEGIN")
        usual = _emptied(target) if plan.model else {}
        _define(target, plan.own, "table", unique=False, done=done)
        _define(target, plan.own, "index", unique=True, done=done)
        for name in definitions.read(target).tables:
            if name != RECORDS or not plan.model:
                known = columns(target, name, rules)
                into = _Into(target, known, Table(name), done)
                done.tables.append(_copy(source, plan, into))
        lost = (each for each in plan.own if each.name in done.undefined)
        done.tables += [Table(e.name, lost=None) for e in lost if e.kind == "table"]
        _complete(target, usual, done)
        _define(target, plan.own, "index", unique=False, done=done)
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
    if value is UNREADABLE:
        return {"unreadable": True}
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(type(value))


def _opened(path: Path) -> sqlite3.Connection:
    """A copy of the damaged file; what cannot be read in it fails later."""
    connection = sqlite3.connect(uri(path, "mode=ro"), uri=True, timeout=5)
    with suppress(*failures.DAMAGE):
        # A definition that is broken must not keep the others from being read.
        connection.execute("PRAGMA writable_schema = ON")
    return connection


def _hopeless(path: Path) -> Unavailable:
    return Unavailable(
        f"nothing can be read of {path}, which was left as it is: put a copy in its "
        "place by `icm restore latest`"
    )


def _version(source: sqlite3.Connection) -> int:
    return int(source.execute("PRAGMA user_version").fetchone()[0])


def _emptied(target: sqlite3.Connection) -> Usual:
    """Take out of a new database the rows that it starts with; returns them."""
    kinds = "SELECT name FROM sqlite_master WHERE type = "
    for (name,) in target.execute(kinds + "'trigger'").fetchall():
        target.execute(f'DROP TRIGGER "{name}"')
    found = {}
    for name in definitions.read(target).tables:
        if name != RECORDS:
            found[name] = target.execute(f'SELECT * FROM "{name}"').fetchall()
            target.execute(f'DELETE FROM "{name}"')
    return found


def _complete(target: sqlite3.Connection, usual: Usual, done: Salvaged) -> None:
    """Put in again what every database has: names of tables, marks of the version."""
    for table in done.tables:
        if table.lost != 0 or table.name == MARKED:
            for row in usual.get(table.name, ()):
                places = ", ".join("?" * len(row))
                statement = f'INSERT OR IGNORE INTO "{table.name}" VALUES ({places})'
                target.execute(statement, row)


def _define(
    target: sqlite3.Connection,
    schema: Iterable[Definition],
    kind: str,
    *,
    unique: bool,
    done: Salvaged,
) -> None:
    for entry in schema:
        sql = entry.sql or ""
        if entry.kind != kind or unique != sql.upper().startswith("CREATE UNIQUE"):
            continue
        try:
            target.execute(sql)
        except (*failures.DAMAGE, ValueError):  # or its table is lost
            if entry.name not in done.undefined:
                done.undefined.append(entry.name)


def _copy(source: sqlite3.Connection, plan: Plan, into: _Into) -> Table:
    """Copy what can be read of one table, and of the parts that belong to it."""
    table, names = into.table, tuple(column.name for column in into.columns)
    table.lost = None
    source.text_factory = decoded
    try:
        for name in plan.read_as(table.name):
            scan, before = Scan(source, name, names), table.saved
            for row in scan.rows():
                into.put(row, strict=name != table.name)
            if name == table.name:
                table.lost = scan.lost
            elif table.lost:
                table.lost = max(table.lost - (table.saved - before), 0)
    finally:
        source.text_factory = str
    return table


@dataclass
class _Into:
    """A table of the new file, into which rows are put."""

    target: sqlite3.Connection
    columns: tuple[Column, ...]
    table: Table
    done: Salvaged

    def put(self, row: tuple[Any, ...], *, strict: bool) -> None:
        """Save a row, with values replaced that do not fit unless `strict`.

        What is not saved as it was read is set apart.
        """
        texts = tuple(self._with_texts(row))
        fitting = tuple(self._fitting(texts))
        whole = fitting == texts
        if (whole or not strict) and self._insert(fitting):
            self.table.saved += 1
            self.table.replaced += not whole
            if whole:
                return
        else:
            self.table.apart += 1
        names = (column.name for column in self.columns)
        _set_apart(self.done, self.table.name, dict(zip(names, row, strict=True)))

    def _insert(self, row: tuple[Any, ...]) -> bool:
        names = ", ".join(f'"{column.name}"' for column in self.columns)
        places = ", ".join("?" * len(row))
        try:
            self.target.execute(
                f'INSERT INTO "{self.table.name}"({names}) VALUES ({places})', row
            )
        except (sqlite3.IntegrityError, OverflowError):
            return False
        return True

    def _with_texts(self, row: tuple[Any, ...]) -> Iterator[Any]:
        """The row with its broken characters replaced, which are counted."""
        for column, value in zip(self.columns, row, strict=True):
            broken = column.kind in TEXTS and isinstance(value, bytes)
            self.table.altered += broken
            yield value.decode(errors="replace") if broken else value

    def _fitting(self, row: tuple[Any, ...]) -> Iterator[Any]:
        for column, value in zip(self.columns, row, strict=True):
            yield value if column.fits(value) else column.stand_in(row)


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

"""By which definitions a damaged file is read, and what the new one starts from."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from icm_site.sqlite import definitions, failures, opening, orphans, values
from icm_site.sqlite.definitions import Definition
from icm_site.sqlite.scan import Scan

RECORDS, MARKED = "django_migrations", "icm_metadata"
MARKS = f"SELECT key, value FROM {MARKED} WHERE key LIKE 'migrations:%'"
Columns = dict[str, list[str] | None]


class Plan(NamedTuple):
    """Which tables are read, by name, and what the new file starts from.

    With `model` it is a copy of that one; it gets the definitions in `own` besides.
    `undefined` are those that are lost. `mended` tells if one that is read was broken;
    `parts` are trees that hang in none, and the table each belongs to.
    """

    model: Path | None
    own: list[Definition]
    tables: dict[str, Definition]
    undefined: list[str]
    mended: bool = False
    parts: tuple[tuple[Definition, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The tables of which something is read."""
        return list(dict.fromkeys([*self.tables, *(name for _, name in self.parts)]))

    def read_as(self, name: str) -> list[str]:
        """The names by which a table and its parts are read, the table first."""
        return [
            *(self.tables[name].name for _ in range(name in self.tables)),
            *(part.name for part, belongs in self.parts if belongs == name),
        ]


def make(source: sqlite3.Connection, path: Path, model: Path | None) -> Plan:
    """Judge the definitions in a file by those of the model.

    The model's count, but for a file of an older version that lacks none of its own:
    it is migrated afterwards. `path` is the file that `source` has open.
    """
    schema = definitions.read(source)
    own = schema.tables
    columns = {name: definitions.columns_of(each) for name, each in own.items()}
    broken = [each.name for each in schema.found if each.sql is None]
    broken += [n for n, known in columns.items() if known is None and n not in broken]
    if model is None:
        tables = {name: each for name, each in own.items() if columns[name]}
        return Plan(None, schema.found, tables, _lost(schema.whole, broken))
    with closing(sqlite3.connect(model)) as raw:
        wanted = definitions.read(raw).tables
        marks = raw.execute(MARKS).fetchall()
        shapes = {name: values.columns(raw, name, {}) for name in wanted}
    needed = {name: definitions.columns_of(each) for name, each in wanted.items()}
    trees = orphans.find(path, shapes, known=schema.roots, lost={*wanted} - {*own})
    intact = schema.whole and not broken and not trees
    if intact and _is_older(source, columns, needed, marks):
        return Plan(None, schema.found, own, [])
    tables = {
        name: wanted[name]._replace(root=each.root)
        if name in wanted and columns[name] != needed[name]
        else each
        for name, each in own.items()
        if name in wanted or columns[name]
    }
    others = [each for name, each in tables.items() if name not in wanted]
    broken = [name for name in (*wanted, *own) if name not in tables]
    parts = tuple(
        (definitions.named(wanted[name], f"part_{root}", root), name)
        for name, root in trees
    )
    mended = bool(parts) or any(tables[name] is not own[name] for name in tables)
    undefined = _lost(schema.whole, broken)
    return Plan(model, others, tables, undefined, mended, parts)


def missing(database: Path, model: Path) -> str | None:
    """A table or index that a file of the model's version lacks; None for an older one.

    Raises the driver's errors.
    """
    with closing(sqlite3.connect(model)) as raw:
        wanted = {each.name for each in definitions.read(raw).found}
        marks = {key for key, _ in raw.execute(MARKS)}
    with closing(opening.reading(database)) as raw:
        known = {each.name for each in definitions.read(raw).found}
        if MARKED in known:
            held = {key for key, _ in raw.execute(MARKS)}
            known |= wanted if not marks <= held else set()
    return next(iter(sorted(wanted - known)), None)


def _lost(whole: bool, broken: list[str]) -> list[str]:
    return list(dict.fromkeys(broken)) + ([] if whole else ["sqlite_master"])


def _is_older(
    source: sqlite3.Connection,
    columns: Columns,
    needed: Columns,
    marks: list[tuple[str, str]],
) -> bool:
    """Whether it lacks nothing but what later versions have added."""
    for name, known in columns.items():
        if name in needed and not {*(known or ())} <= {*(needed[name] or ())}:
            return False
    records = Scan(source, RECORDS, ("id",))
    try:
        held = source.execute(MARKS).fetchall()
        count = len(list(records.rows()))
    except failures.DAMAGE:
        return False
    is_current = {key for key, _ in marks} <= {key for key, _ in held}
    return bool(count) and records.lost == 0 and not is_current

"""Whether values are such as their columns hold: damage within a row reads as any."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from icm_site.errors import NotFound, Unavailable
from icm_site.sqlite import opening
from icm_site.sqlite.failures import DAMAGE, DAMAGED, NO_TEXT, READING

# Made anew from the other tables, so that nothing in them matters.
INDEXES = ("_fts", "vec_memories", "sqlite_", "search_changes")
_OURS = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"
# Django's constraint on a column that holds JSON.
_JSON = re.compile(r'JSON_VALID\("(\w+)"\)', re.IGNORECASE)


class Rule(NamedTuple):
    """What the program knows of a column beyond its type."""

    fits: Callable[[Any], bool]
    make: Callable[[], Any]


# By table and column.
Rules = Mapping[tuple[str, str], Rule]


class Column(NamedTuple):
    """A column of a table; `kind` is the word its values are judged by."""

    name: str
    kind: str
    optional: bool
    rule: Rule | None

    def fits(self, value: object) -> bool:
        """Whether the column can hold this; a text must be decoded already."""
        if value is None:
            return self.optional
        check = _CHECKS.get(self.kind)
        if check is not None and not check(value):
            return False
        return self.rule is None or self.rule.fits(value)

    def stand_in(self, others: Iterable[object]) -> Any:
        """What to hold in place of a value that is lost; `others` is the row."""
        if self.optional:
            return None
        if self.kind in ("datetime", "date"):
            moments = [other for other in others if _is_moment(other)]
            return moments[0] if moments else str(datetime.now(UTC))[:19]
        return self.rule.make() if self.rule else _EMPTY.get(self.kind, "")


def _is_moment(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _is_json(value: object) -> bool:
    try:
        json.loads(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError):
        return False
    return isinstance(value, str)


def _is(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types)


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("varchar", "char", "text"), _is(str)),
    **dict.fromkeys(("integer", "bigint", "smallint"), _is(int)),
    **dict.fromkeys(("datetime", "date"), _is_moment),
    "real": _is(int, float),
    "bool": lambda value: value in (0, 1),
    "blob": _is(bytes),
    "json": _is_json,
}
_EMPTY = {
    **dict.fromkeys(("integer", "bigint", "smallint", "bool", "real"), 0),
    "blob": b"",
    "json": "{}",
}


def is_index(name: str) -> bool:
    """Whether a table is part of an index of ours, or SQLite's own."""
    return any(part in name for part in INDEXES)


def columns(
    connection: sqlite3.Connection, table: str, rules: Rules
) -> tuple[Column, ...]:
    """The columns of a table, in their order."""
    (sql,) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
    ).fetchone() or ("",)
    of_json = set(_JSON.findall(sql))
    return tuple(
        Column(
            name,
            "json" if name in of_json else re.split(r"[ (]", declared.lower())[0],
            not needed,
            rules.get((table, name)),
        )
        for _, name, declared, needed, *_ in connection.execute(
            f'PRAGMA table_info("{table}")'
        ).fetchall()
    )


def first_fault(connection: sqlite3.Connection, rules: Rules) -> str | None:
    """The first value that its column cannot hold, in words; None where all can.

    Raises the driver's error for what cannot be read at all.
    """
    connection.execute(_SCHEMA).fetchall()
    for name, sql in connection.execute(_OURS).fetchall():
        if not is_index(name) and "CREATE VIRTUAL" not in (sql or "").upper():
            for rowid, column in _faults(connection, name, rules):
                return f"{name}.{column} of row {rowid} holds what it cannot"
    return None


def explain(error: BaseException, path: Path) -> Unavailable | None:
    """That the file is damaged, if that is why such an error was raised.

    Damage within a row may raise anything, so the file is read in full.
    """
    known = isinstance(error, READING) or isinstance(error.__cause__, sqlite3.Error)
    return Unavailable(DAMAGED) if known and is_damaged(path) else None


def is_damaged(path: Path) -> bool:
    """Whether pages or values of a file are not as they were written."""
    try:
        with closing(opening.reading(path)) as raw:
            (found,) = raw.execute("PRAGMA quick_check(1)").fetchone()
            return found != "ok" or first_fault(raw, {}) is not None
    except NotFound:
        return False
    except sqlite3.OperationalError as error:
        return str(error).startswith(NO_TEXT)
    except DAMAGE:
        return True


def _faults(
    connection: sqlite3.Connection, table: str, rules: Rules
) -> Iterator[tuple[int, str]]:
    known = columns(connection, table, rules)
    names = ", ".join(f'"{column.name}"' for column in known)
    cursor = connection.cursor()
    before, connection.text_factory = connection.text_factory, decoded
    try:
        for rowid, *found in cursor.execute(f'SELECT rowid, {names} FROM "{table}"'):
            for column, value in zip(known, found, strict=True):
                if not column.fits(value):
                    yield rowid, column.name
    finally:
        connection.text_factory = before


def decoded(value: bytes) -> Any:
    """The text; what is none stays bytes, which no column for texts can hold."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value

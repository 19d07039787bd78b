"""SQLite files of other programs: read only, with nothing of their schema trusted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.sqlite import failures

MAGIC = b"SQLite format 3\0"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, for reading. Raises InvalidInput where it is none or is damaged."""
    try:
        with path.open("rb") as file:
            if file.read(16) != MAGIC:
                raise InvalidInput(f"{path} is no SQLite database")
        raw = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except (OSError, sqlite3.Error) as error:
        raise InvalidInput(f"{path} cannot be opened: {error}") from error
    with closing(raw):
        raw.row_factory = sqlite3.Row
        raw.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            raw.execute("PRAGMA trusted_schema = OFF")
            raw.execute("PRAGMA query_only = ON")
            yield raw
        except failures.DAMAGE as error:
            why = failures.words(error)
            raise InvalidInput(f"{path} cannot be read: {why}") from error


def tables(raw: sqlite3.Connection) -> set[str]:
    """Real tables: a view could be anything."""
    found = raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    return {row[0] for row in found}


def columns(raw: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table, none where there is no such table."""
    if table not in tables(raw):
        return []
    return [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]


def rows(
    raw: sqlite3.Connection, table: str, wanted: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """The rows with these columns, None in those that the file does not have."""
    held = columns(raw, table)
    if not held:
        return
    names = [name for name in wanted if name in held] or ["rowid"]
    for row in raw.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY rowid"):
        values = dict.fromkeys(wanted) | dict(row)
        yield {
            name: v.decode("utf-8", "replace") if isinstance(v, bytes) else v
            for name, v in values.items()
        }


def count(raw: sqlite3.Connection, table: str) -> int:
    """How many rows a table has."""
    quoted = table.replace('"', '""')
    return int(raw.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])

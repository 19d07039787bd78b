"""The definitions of tables: read from a damaged file, put right in a copy of it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from icm_site import paths
from icm_site.sqlite.failures import DAMAGE
from icm_site.sqlite.scan import Scan
from icm_site.sqlite.values import decoded, is_index

KINDS = ("table", "index", "view", "trigger")
_MAGIC, _HEADER = b"SQLite format 3\0", 100
# Of every file that we make; somebody may have changed it by VACUUM.
_USUAL_PAGE = 4096
# What a page of a table starts with that has no rows (sqlite.org/fileformat2.html 1.6).
_LEAF = 13


class Definition(NamedTuple):
    """A row of the schema. `sql` is None where it cannot be read."""

    kind: str
    name: str
    root: int
    sql: str | None


class Schema(NamedTuple):
    """The tables and indexes of a file, without what is made anew from others.

    `whole` tells if that is all of them, as far as can be told; `roots` are the pages
    at which any table begins.
    """

    found: list[Definition]
    whole: bool
    roots: frozenset[int]

    @property
    def tables(self) -> dict[str, Definition]:
        """The tables by their names."""
        return {each.name: each for each in self.found if each.kind == "table"}


def read(source: sqlite3.Connection) -> Schema:
    """The schema as far as it can be read; nothing of it where it cannot."""
    scan = Scan(source, "sqlite_master", ("type", "name", "rootpage", "sql"))
    source.text_factory = decoded
    found, whole, roots = [], True, set[int]()
    try:
        for kind, name, root, sql in scan.rows():
            text = sql if isinstance(sql, str) else None
            if kind not in KINDS or not isinstance(name, str) or type(root) is not int:
                whole = False
                continue
            roots |= {root} if kind == "table" else set()
            if _is_base(kind, name, sql):
                found.append(Definition(kind, name, root, text))
    finally:
        source.text_factory = str
    return Schema(found, whole and scan.lost == 0, frozenset(roots))


def _is_base(kind: object, name: str, sql: object) -> bool:
    if kind not in ("table", "index") or is_index(name):
        return False
    return not isinstance(sql, str) or "CREATE VIRTUAL" not in sql.upper()


def page_size(path: Path) -> int:
    """Bytes of a page, by the head of a file; what is usual where that is lost."""
    with path.open("rb") as file:
        head = file.read(18).ljust(18, b"\0")
    # 65536 does not fit, and is written as 1.
    size = int.from_bytes(head[16:], "big") * (0x10000 if head[16:] == b"\0\1" else 1)
    known = head.startswith(_MAGIC) and size in (1 << n for n in range(9, 17))
    return size if known else _USUAL_PAGE


def columns_of(definition: Definition) -> list[str] | None:
    """The names of a table's columns; None where its definition defines no such."""
    with closing(sqlite3.connect(":memory:")) as raw:
        try:
            raw.execute(definition.sql or "")
            facts = raw.execute(f'PRAGMA table_info("{definition.name}")')
            return [row[1] for row in facts.fetchall()] or None
        except (*DAMAGE, ValueError):
            return None


def copied(damaged: Path, target: Path) -> None:
    """Copy a file to `target` as it is, with what is in its log.

    Raises OSError.
    """
    paths.create_private(target)
    shutil.copyfile(damaged, target)
    log, own = Path(f"{damaged}-wal"), Path(f"{target}-wal")
    if not log.exists():
        return
    paths.create_private(own)
    shutil.copyfile(log, own)
    with suppress(*DAMAGE), closing(sqlite3.connect(target)) as raw:
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    own.unlink(missing_ok=True)


def rewrite(path: Path, tables: Iterable[Definition]) -> None:
    """Let these definitions of tables take the place of a file's own.

    Nothing else of the file is looked at. Raises OSError and the driver's errors.
    """
    _empty_schema(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("PRAGMA journal_mode = MEMORY")
        raw.execute("PRAGMA writable_schema = ON")
        raw.executemany(
            "INSERT INTO sqlite_master VALUES ('table', ?, ?, ?, ?)",
            [(each.name, each.name, each.root, each.sql) for each in tables],
        )


def named(definition: Definition, name: str, root: int) -> Definition:
    """The same table by another name, and at another root."""
    sql = (definition.sql or "").replace(f'"{definition.name}"', f'"{name}"', 1)
    return Definition("table", name, root, sql)


def _empty_schema(path: Path) -> None:
    """Make the first page one without rows, and forget the list of free pages.

    Offsets: sqlite.org/fileformat2.html 1.3. A free page that is none would be
    overwritten. Two counters that agree make the size in the header count.
    """
    size = page_size(path)
    pages = path.stat().st_size // size
    header = bytearray(_HEADER)
    header[:16] = _MAGIC
    written = 1 if size == 0x10000 else size
    header[16:24] = written.to_bytes(2, "big") + bytes((1, 1, 0, 64, 32, 32))
    header[28:32] = pages.to_bytes(4, "big")
    # The format of the schema, and UTF-8.
    header[44:48], header[56:60] = (4).to_bytes(4, "big"), (1).to_bytes(4, "big")
    end = (size % 0x10000).to_bytes(2, "big")
    page = header + bytes((_LEAF, 0, 0, 0, 0)) + end + b"\0"
    with path.open("r+b") as file:
        file.write(page.ljust(size, b"\0"))

"""`icm restore`: put a copy in the place of the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from icm_site import conf
from icm_site.arguments import Parser
from icm_site.errors import ReadOnly, Unavailable
from icm_site.resident import command as resident
from icm_site.sqlite import failures, restore
from memories import fts_schema


def main(arguments: Sequence[str]) -> int:
    """Restore a copy; print what was done."""
    parser = Parser(
        prog="icm restore",
        description="Put a copy in the place of the database. The copy is checked "
        "first, and what the database was is kept beside it.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("copy", metavar="FILE", help="a copy made by `icm backup`, or `latest`")
    add("--dry-run", action="store_true", help="check the copy and change nothing")
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    config = conf.current()
    database = config.database_path.resolve()
    copy = restore.find(database, given.copy)
    if given.dry_run:
        count = restore.memories_of(copy)
        print(f"{copy} is whole and has {count} live memories; nothing was changed.")
        return 0
    if config.read_only:
        raise ReadOnly("The database is open for reading alone.")
    restore.memories_of(copy)
    resident.end(str(database))
    done = restore.restore(database, copy, now=datetime.now())
    _stamp(database)
    print(f"Restored {done.memories} live memories from {copy}.")
    if done.aside:
        print(f"What the database was before: {done.aside}")
    return 0


def _stamp(database: Path) -> None:
    """Tell processes with words and vectors in memory to read all of them anew."""
    try:
        with closing(sqlite3.connect(database, timeout=5)) as raw, raw:
            raw.execute(fts_schema.STAMP)
            raw.commit()
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except failures.DAMAGE as error:
        raise Unavailable(
            f"the copy is in place, but {failures.words(error)}: end programs that "
            "have the database open"
        ) from error

"""A consistent copy of a database that others go on writing to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from icm_site import paths
from icm_site.errors import Conflict, Unavailable
from icm_site.sqlite import opening

PAGES_AT_A_TIME = 1024


def default_target(source: Path, now: datetime) -> Path:
    """`<database>.backup-YYYYMMDD-HHMMSS` beside the database."""
    return source.with_name(f"{source.name}.backup-{now:%Y%m%d-%H%M%S}")


def backup(source: Path, target: Path) -> Path:
    """Copy by SQLite's online backup, mode 0600; returns the target.

    The copy appears under its name only when it is whole. Raises Conflict if the
    target exists, Unavailable if the copy cannot be made.
    """
    if target.exists():
        raise Conflict(f"{target} exists already; nothing was overwritten")
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        paths.make_private_dir(target.parent)
        paths.create_private(partial)
        with (
            closing(opening.connect(source, read_only=True)) as original,
            closing(sqlite3.connect(partial)) as copy,
        ):
            # One state of the file for all steps: each commit of others would make
            # the copy start anew, for ever while somebody writes.
            original.execute("BEGIN")
            original.execute("SELECT count(*) FROM sqlite_master").fetchone()
            original.backup(copy, pages=PAGES_AT_A_TIME)
        partial.rename(target)
    except (OSError, sqlite3.Error) as error:
        partial.unlink(missing_ok=True)
        raise Unavailable(f"backup {target} could not be made: {error}") from error
    return target

"""The write-ahead log after a long write: put into the database, and emptied."""

from __future__ import annotations

import sqlite3

from django.db import connection

from icm_site.sqlite import opening
from memories.driver import raw_connection

# A reader may stand in the way; then a later write empties it.
WAIT_MS = 500


def shorten() -> None:
    """Empty the log, if no transaction is open here and nobody reads for long."""
    if connection.in_atomic_block:
        return
    raw = raw_connection()
    try:
        raw.execute(f"PRAGMA busy_timeout = {WAIT_MS:d}")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return  # it is in use; the data is safe where it is
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(opening.TIMEOUT * 1000):d}")

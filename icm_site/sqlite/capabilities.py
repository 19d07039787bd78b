"""What the SQLite library in use can do for us."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from icm_site.sqlite import vec


@dataclass(frozen=True)
class Capabilities:
    """Version and modules of SQLite; `vec0_way` says how vec0 was made available."""

    sqlite_version: str
    fts5: bool
    vec0: bool
    vec0_way: vec.Way


def capabilities(connection: Any) -> Capabilities:
    """Ask an open connection, Django's or the driver's; about 30 us."""
    cursor = connection.cursor()
    try:
        cursor.execute(
            "SELECT name FROM pragma_module_list WHERE name IN ('fts5', 'vec0')"
        )
        modules = {row[0] for row in cursor.fetchall()}
    finally:
        cursor.close()
    return Capabilities(
        sqlite_version=sqlite3.sqlite_version,
        fts5="fts5" in modules,
        vec0="vec0" in modules,
        vec0_way=vec.way() if "vec0" in modules else "none",
    )

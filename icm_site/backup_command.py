"""`icm backup`: a consistent copy of the database, made without opening it normally."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from icm_site import conf
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput
from icm_site.sqlite import backup, identity


def main(arguments: Sequence[str]) -> int:
    """Copy the database and print where to."""
    parser = Parser(
        prog="icm backup",
        description="Make a consistent copy of the database while others use it.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "-o",
        "--output",
        metavar="PATH",
        help="where to; default: <database>.backup-YYYYMMDD-HHMMSS beside the database",
    )
    add("--list", action="store_true", help="list the copies beside the database")
    add(
        "--if-due",
        action="store_true",
        help="copy only if backup.every days have passed, and delete the oldest of "
        "these copies over backup.keep",
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if (given.output is not None) + given.list + given.if_due > 1:
        raise InvalidInput("--output, --list and --if-due exclude each other")
    source = conf.current().database_path
    if given.list:
        return _list(source)
    identity.refuse_foreign(source, writing=False)
    if given.if_due:
        due = make_scheduled()
        print(f"Backup: {due}" if due else "No backup is due.")
        return 0
    if given.output:
        made = backup.backup(source, Path(given.output).absolute())
    else:
        made = backup.beside(source, datetime.now())
    print(f"Backup: {made}")
    return 0


def make_scheduled() -> str | None:
    """Make the copy that the settings ask for; its path, None where none was due."""
    config = conf.current()
    made = backup.scheduled(
        config.database_path,
        every=config.backup.every,
        keep=config.backup.keep,
        now=time.time(),
    )
    return str(made) if made else None


def _list(source: Path) -> int:
    for path in backup.copies(source):
        size = path.stat().st_size
        print(f"{datetime.fromtimestamp(path.stat().st_mtime):%F %R} {size:>12} {path}")
    return 0

"""`icm backup`: a consistent copy of the database, made without opening it normally."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from icm_site import conf
from icm_site.arguments import Parser
from icm_site.sqlite import backup, identity


def main(arguments: Sequence[str]) -> int:
    """Copy the database and print where to."""
    parser = Parser(
        prog="icm backup",
        description="Make a consistent copy of the database while others use it.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="where to; default: <database>.backup-YYYYMMDD-HHMMSS beside the database",
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    source = conf.current().database_path
    identity.refuse_foreign(source, writing=False)
    target = (
        Path(given.output).absolute()
        if given.output
        else backup.default_target(source, datetime.now())
    )
    print(f"Backup: {backup.backup(source, target)}")
    return 0

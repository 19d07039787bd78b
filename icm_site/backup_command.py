"""`icm backup`: a consistent copy of the database, made without opening it normally."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from icm_site import conf
from icm_site.errors import UsageError
from icm_site.sqlite import backup, identity


def main(arguments: Sequence[str]) -> int:
    """Copy the database and print where to."""
    parser = argparse.ArgumentParser(
        prog="icm backup",
        description="Make a consistent copy of the database while others use it.",
        exit_on_error=False,
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="where to; default: <database>.backup-YYYYMMDD-HHMMSS beside the database",
    )
    try:
        given, extra = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError as error:
        raise UsageError(str(error)) from None
    except SystemExit as stop:
        return int(stop.code or 0)
    if extra:
        raise UsageError(f"icm backup takes no {extra[0]!r}")
    source = conf.current().database_path
    identity.refuse_foreign(source, writing=False)
    target = (
        Path(given.output).absolute()
        if given.output
        else backup.default_target(source, datetime.now())
    )
    print(f"Backup: {backup.backup(source, target)}")
    return 0

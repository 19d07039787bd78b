"""`icm dashboard`: checks the terminal, opens the database, starts the program."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from icm_site import startup
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput


def main(arguments: Sequence[str]) -> int:
    """Show the dashboard until it is left; returns the exit code.

    Raises InvalidInput where there is no terminal.
    """
    parser = Parser(
        prog="icm dashboard",
        description="Look through the memory, and tidy it up, in the terminal.",
        allow_abbrev=False,
    )
    try:
        parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("the dashboard needs a terminal")
    with startup.importing():
        startup.set_up_django()
        from icm_site import database
        from icm_site.dashboard.app import Dashboard
    database.ready()
    Dashboard().run()
    return 0

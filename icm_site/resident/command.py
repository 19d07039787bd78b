"""`icm resident`: look at the warm process of a database, end it, run it in view."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from icm_site import conf
from icm_site.arguments import Parser
from icm_site.errors import NotFound, Unavailable
from icm_site.resident import claim, client, place, process

STOP_SECONDS = 15.0
KILL_SECONDS = 3.0


def main(argv: Sequence[str]) -> int:
    """Run `icm resident status|stop|run`; returns the exit code.

    Raises UsageError, Unavailable, NotFound.
    """
    parser = Parser(
        prog="icm resident",
        description="The warm process that answers hooks, commands and MCP clients.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "action",
        choices=[*ACTIONS],
        help="status: how it fares; stop: end it; run: run it here, in view",
    )
    try:
        options = parser.parse_args(list(argv))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    return ACTIONS[options.action](str(conf.current().database_path))


def _status(database: str) -> int:
    found = _asked(database, "status")
    if found is not None:
        for name, value in json.loads(found).items():
            print(f"{name + ':':10} {value}")
        return 0
    if claim.is_locked(database):
        print("A resident is starting, or does not answer.")
    else:
        print("No resident is running; the next command starts one.")
    return 1


def _stop(database: str) -> int:
    ended = end(database)
    print("The resident has ended." if ended else "No resident is running.")
    return 0


def end(database: str) -> bool:
    """End the resident of a database; False if there is none. Raises Unavailable."""
    if not claim.is_locked(database):
        return False
    address = place.read(database)
    if _asked(database, "stop") is None and address is not None and address.pid:
        _signal(address.pid, signal.SIGTERM)
    if not _gone(database, STOP_SECONDS if address else KILL_SECONDS):
        if address is None or not address.pid:
            raise Unavailable("the resident does not end and is not known by number")
        _signal(address.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        if not _gone(database, KILL_SECONDS):
            raise Unavailable(f"the resident (process {address.pid}) does not end")
    return True


def _run(database: str) -> int:
    if not Path(database).is_file():
        raise NotFound(f"There is no database {database}.")
    if claim.is_locked(database):
        raise Unavailable("another resident serves this database already")
    return process.main(database, detached=False)


ACTIONS: Mapping[str, Callable[[str], int]] = {
    "status": _status,
    "stop": _stop,
    "run": _run,
}


def _asked(database: str, kind: str) -> Any:
    asked = client.request(kind, env={}, cwd=os.sep)
    try:
        answer = client.ask(database, asked)
    except client.Lost:
        return None
    return None if answer is None else answer[1]


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _gone(database: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while claim.is_locked(database):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True

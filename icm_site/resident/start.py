"""Start a resident, detached from whoever needs it."""

from __future__ import annotations

import os
import sys

from icm_site.resident import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
# They would reach every later request: what belongs to one command, or to the
# client's own Python project.
NOT_INHERITED = (
    "ICM_DB",
    "ICM_READONLY",
    "ICM_LOG",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "DJANGO_SETTINGS_MODULE",
)


def start(database: str, env: Mapping[str, str]) -> bool:
    """Start the resident of a database if it is due; tells whether it was tried.

    Several at once are harmless: one gets the lock and the others end.
    """
    if not os.path.isfile(database) or not place.may_start(place.read(database)):
        return False
    if not sys.executable or not os.path.isfile(LAUNCHER):
        return False
    own = {name: value for name, value in env.items() if name not in NOT_INHERITED}
    # Whatever the resident may start belongs to no session of a person.
    own["ICM_WORKER"] = "1"
    command = [sys.executable, "-P", LAUNCHER, database]
    try:
        _spawn(command, own)
    except OSError:
        return False
    return True


def _spawn(command: list[str], env: dict[str, str]) -> None:
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            command,
            env=env,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            creationflags=flags,
            close_fds=True,
        )
        return
    # The resident leaves the session by itself; no client's stream may stay open in
    # it, or whoever reads that stream would wait for its end.
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    os.posix_spawn(command[0], command, env, file_actions=null)

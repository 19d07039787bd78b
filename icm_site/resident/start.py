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
        spawn(command, own)
    except OSError:
        return False
    return True


def spawn(
    command: list[str], env: Mapping[str, str], *, stdin: int | None = None
) -> None:
    """Start a process that outlives this one and shares no stream with it.

    `stdin`: a descriptor that it is to read from, else it reads nothing. Raises
    OSError.
    """
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            command,
            env=env,
            stdin=nothing if stdin is None else stdin,
            stdout=nothing,
            stderr=nothing,
            creationflags=flags,
            close_fds=True,
        )
        return
    # The resident leaves the session by itself; no client's stream may stay open in
    # it, or whoever reads that stream would wait for its end.
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)
    ]
    if stdin is not None:
        actions[0] = (os.POSIX_SPAWN_DUP2, stdin, 0)
    os.posix_spawn(command[0], command, env, file_actions=actions)

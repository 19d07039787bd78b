"""How a database file is opened: for writing or reading, with which settings."""

import os
import random
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icm_site import paths
from icm_site.errors import NotFound
from icm_site.sqlite import address, failures, identity, vec

TIMEOUT = 20.0
_SHARED = ("foreign_keys=ON", "temp_store=MEMORY", "cache_size=-65536")
_WRITING = (
    *_SHARED,
    "synchronous=NORMAL",
    "secure_delete=ON",
    "journal_size_limit=67108864",
)
_READING = (*_SHARED, "query_only=ON")


_attended = True


def never_make() -> None:
    """Let this process make no database: where nobody asks, a missing one has gone."""
    global _attended
    _attended = False


@dataclass(frozen=True)
class Plan:
    """The address that SQLite gets, and whether it is for reading alone."""

    address: str
    read_only: bool


def plan(path: str | os.PathLike[str], *, read_only: bool = False) -> Plan:
    """Decide how to open a file; it is made with mode 0600 if it is missing.

    Not after `never_make`: then NotFound is raised for it.

    A file that cannot be written is opened for reading, asked or not. Raises NotFound
    when one to read is missing, Unavailable when one cannot be made.
    """
    place = Path(path)
    with identity.opening(place):
        if not read_only and _attended and not place.exists():
            paths.make_private_dir(place.parent)
            paths.create_private(place)
    if not place.exists():
        raise NotFound(f"There is no database {place}.")
    if not read_only and _writable(place):
        return Plan(address.uri(place, "mode=rw"), read_only=False)
    return Plan(to_read(place), read_only=True)


def to_read(path: Path) -> str:
    """The address of a file to be read and left as it is."""
    return address.uri(path, "immutable=1" if _only_immutable(path) else "mode=ro")


def connect(
    path: str | os.PathLike[str], *, read_only: bool = False, timeout: float = TIMEOUT
) -> sqlite3.Connection:
    """Open a database without Django: autocommit, any thread, vec0 if there is a way.

    `timeout` is in seconds. Raises what `plan` and `identity.refuse` raise.
    """
    chosen = plan(path, read_only=read_only)
    vec.way()
    connection = sqlite3.connect(
        chosen.address,
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        prepare(connection, path, read_only=chosen.read_only, timeout=timeout)
    except BaseException:
        connection.close()
        raise
    return connection


def reading(
    path: str | os.PathLike[str], *, timeout: float = TIMEOUT
) -> sqlite3.Connection:
    """Open a file as it is, whatever it is, for reading alone.

    Raises NotFound and the driver's errors.
    """
    address = plan(path, read_only=True).address
    return sqlite3.connect(address, uri=True, timeout=timeout)


def prepare(
    connection: Any,
    path: str | os.PathLike[str],
    *,
    read_only: bool,
    timeout: float = TIMEOUT,
) -> bool:
    """Check whose file it is, load vec0, apply settings; return if it is read-only.

    A file of a newer version becomes read-only. Raises what `identity.refuse` raises.
    """
    state = _state(connection, path)
    identity.refuse(state, path, writing=False)
    vec.load(connection)
    read_only = read_only or state.kind == "newer"
    if not read_only:
        _use_wal(connection, state, timeout)
    for setting in _READING if read_only else _WRITING:
        connection.execute(f"PRAGMA {setting}")
    return read_only


def _state(connection: Any, path: str | os.PathLike[str]) -> identity.FileState:
    try:
        return identity.state_of(connection)
    except sqlite3.OperationalError:
        raise
    except failures.DAMAGE:
        return identity.FileState("not a database")


def _use_wal(connection: Any, state: identity.FileState, timeout: float) -> None:
    """Switch a new file to WAL and mark it as ours.

    SQLite does not wait for the lock that this takes, so the waiting is done here.
    """
    end = time.monotonic() + timeout
    while True:
        try:
            if state.kind == "empty":
                connection.execute(f"PRAGMA application_id={identity.APPLICATION_ID}")
            # Some network disks have no WAL; SQLite then stays with what works.
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > end:
                raise
            time.sleep(random.uniform(0.005, 0.03))
        else:
            return


def _writable(path: Path) -> bool:
    # WAL needs two more files beside the database.
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _only_immutable(path: Path) -> bool:
    """Tell whether the file can be read in no other way.

    In WAL mode SQLite needs the shared-memory file, which a folder that cannot be
    written lacks once the last writer has left; then no log is left to miss either.
    """
    if os.access(path.parent, os.W_OK) or Path(f"{path}-shm").exists():
        return False
    return not identity.has_log(path)

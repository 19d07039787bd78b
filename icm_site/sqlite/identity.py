"""Whose file it is: told from the header, so that no stranger's data is touched."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from icm_site.errors import Conflict, InvalidInput, Unavailable
from icm_site.sqlite.address import uri
from icm_site.sqlite.failures import DAMAGE, explain

APPLICATION_ID = 0x49434D31  # "ICM1"
# 2: words are stored in a form that an earlier program neither makes nor asks for.
SCHEMA_VERSION = 2
NO_FILE = "{path} is no file that could be a database, but a folder, device or pipe."
_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_PATIENCE = 1.0

Kind = Literal["missing", "empty", "ours", "newer", "foreign", "not a database"]

# Closing any descriptor of a file drops the locks that SQLite holds on it in this
# process (sqlite.org/howtocorrupt.html 2.2). So files that were opened are noted, the
# header of such a one is asked of SQLite, and the lock keeps both steps apart.
_files = threading.Lock()
_opened: set[str] = set()


@dataclass(frozen=True)
class FileState:
    """What a database file is. A database without any schema counts as empty."""

    kind: Kind
    application_id: int = 0
    user_version: int = 0


def inspect(path: str | os.PathLike[str]) -> FileState:
    """Tell what the file is, without changing it.

    Raises Unavailable when it is there but cannot be read, or is locked for long.
    """
    real = os.path.realpath(path)
    with _files:
        if real not in _opened and not has_log(real):
            return _from_header(real)
    return _from_sqlite(real)


def state_of(connection: Any) -> FileState:
    """Tell what an open connection's file is; raises the driver's error if damaged."""
    # The schema first: who makes the file meanwhile marks it before its first table.
    schema, application_id, user_version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("schema_version", "application_id", "user_version")
    )
    return _state(application_id, user_version, schema)


def refuse_foreign(path: str | os.PathLike[str], *, writing: bool = True) -> FileState:
    """Return the state of a file that we may use; see `refuse` for what is raised."""
    state = inspect(path)
    refuse(state, path, writing=writing)
    return state


def refuse(
    state: FileState, path: str | os.PathLike[str], *, writing: bool = True
) -> None:
    """Raise InvalidInput for no database, Conflict for another program's.

    A file of a newer version may be read; with `writing` it is a Conflict too.
    """
    if state.kind == "not a database":
        place = Path(path)
        if place.exists() and not place.is_file():
            raise InvalidInput(NO_FILE.format(path=path))
        raise InvalidInput(
            f"{path} is not a database. If it was one, `icm repair` saves what is "
            "found in it, `icm restore latest` puts the newest copy in its place."
        )
    if state.kind == "foreign":
        raise Conflict(f"{path} is a database of another program; it is left as it is.")
    if state.kind == "newer" and writing:
        raise Conflict(
            f"{path} was written by a newer version of ICM (schema "
            f"{state.user_version}, this one knows {SCHEMA_VERSION}); it can be read, "
            "not written. Upgrade icm-memory."
        )


@contextmanager
def opening(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold while a file is made and before SQLite opens it; notes the file."""
    with _files:
        yield
        _opened.add(os.path.realpath(path))


def has_log(path: str | os.PathLike[str]) -> bool:
    """Tell whether there are commits that may not be in the file itself yet."""
    log = Path(f"{os.fspath(path)}-wal")
    return log.exists() and log.stat().st_size > 0


def _state(application_id: int, user_version: int, schema: int) -> FileState:
    if application_id == APPLICATION_ID:
        kind: Kind = "newer" if user_version > SCHEMA_VERSION else "ours"
    elif application_id == 0 and schema == 0:
        kind = "empty"
    else:
        kind = "foreign"
    return FileState(kind, application_id, user_version)


def _from_header(path: str) -> FileState:
    place = Path(path)
    try:
        # A pipe would be waited for, without end.
        if place.exists() and not place.is_file():
            return FileState("not a database")
        with place.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return FileState("missing")
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error
    if not header:
        return FileState("empty")
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        return FileState("not a database")
    # Offsets: sqlite.org/fileformat2.html 1.3, all big-endian.
    return _state(*(int.from_bytes(header[at : at + 4], "big") for at in (68, 60, 40)))


def _from_sqlite(path: str) -> FileState:
    try:
        if not Path(path).exists():
            return FileState("missing")
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error
    try:
        connection = sqlite3.connect(uri(path, "mode=ro"), uri=True, timeout=_PATIENCE)
        with closing(connection):
            return state_of(connection)
    except sqlite3.OperationalError as error:
        if path in _opened:
            raise explain(error) or error from error
        # A log that this user may not read, or on a read-only disk: the header of the
        # file itself is older, but tells whose it is.
        return _from_header(path)
    except DAMAGE:
        return FileState("not a database")

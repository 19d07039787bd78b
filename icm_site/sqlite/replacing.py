"""Puts another content in the place of a database; what was there is kept aside."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from icm_site import paths
from icm_site.errors import Unavailable
from icm_site.sqlite import locks
from icm_site.sqlite.address import uri

SECONDS = 20.0


@contextmanager
def alone(database: Path) -> Iterator[None]:
    """Hold the lock under which a database is made or migrated."""
    with locks.held(f"{database}.lock", seconds=SECONDS) as is_ours:
        if not is_ours:
            raise Unavailable(f"another process is migrating or mending {database}")
        yield


def unused(database: Path, word: str, *, now: datetime, ending: str = "") -> Path:
    """A name beside the database that no file has: what is kept replaces nothing."""
    base = f"{database.name}.{word}-{now:%Y%m%d-%H%M%S}"
    numbers = (f"-{number}" if number else "" for number in itertools.count())
    names = (database.with_name(f"{base}{number}{ending}") for number in numbers)
    return next(path for path in names if not os.path.lexists(path))


def pages_into(source: Path, target: Path) -> None:
    """Copy all pages of one database into another as one transaction.

    Whoever has the target open sees the new content at the next read. Raises the
    driver's errors, Unavailable where somebody keeps writing.
    """
    end = time.monotonic() + SECONDS

    def give_up(*_: int) -> None:
        if time.monotonic() > end:
            raise Unavailable("another process keeps the database busy; try again")

    paths.create_private(target)
    with (
        closing(reading(source)) as original,
        closing(sqlite3.connect(target, timeout=1.0)) as copy,
    ):
        original.backup(copy, pages=-1, progress=give_up, sleep=0.05)


def reading(path: Path) -> sqlite3.Connection:
    """Open for reading alone; a file without a log gets none for that."""
    mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    return sqlite3.connect(uri(path, mode), uri=True)


def swap(database: Path, fresh: Path, aside: Path) -> None:
    """Put the file `fresh` in the place of a database, which moves to `aside`.

    Its log moves along: a new file must never meet an old log. Raises Unavailable where
    another process has the file open: what it wrote from then on would be lost.
    """
    if holding := holders(database):
        raise Unavailable(
            f"end the programs that use {database} first (process "
            f"{', '.join(map(str, holding))}); nothing was changed"
        )
    try:
        # First what may find no room: without its log the database is an older one.
        try:
            os.link(database, aside)
        except OSError:  # a file system without links
            shutil.copy2(database, aside)
        log = Path(f"{database}-wal")
        if log.exists() and log.stat().st_size:
            log.rename(f"{aside}-wal")
        log.unlink(missing_ok=True)
        Path(f"{database}-shm").unlink(missing_ok=True)
        fresh.replace(database)
    except OSError as error:
        raise Unavailable(f"{database} could not be replaced: {error}") from error


def holders(database: Path) -> list[int]:
    """Other processes of this user that have the file open; empty off Linux."""
    if not sys.platform.startswith("linux"):
        return []
    try:
        wanted = database.stat()
    except OSError:
        return []
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) == os.getpid():
            continue
        try:
            if any(_same(file, wanted) for file in (folder / "fd").iterdir()):
                found.append(int(folder.name))
        except OSError:  # it has ended, or is another user's
            continue
    return sorted(found)


def _same(file: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(file.stat(), wanted)
    except OSError:
        return False

"""A consistent copy of a database that others go on writing to; old copies go."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from icm_site import partial, paths
from icm_site.errors import Conflict, Unavailable
from icm_site.sqlite import failures, locks, opening, replacing

PAGES_AT_A_TIME = 1024
DAY = 86_400.0
# Seconds by which a file's time may be ahead of the clock.
CLOCK = 2.0
LOCK_SUFFIX = ".backup.lock"
# What tells a copy that a timer made, and may delete, from one that a person made.
SCHEDULED = "-auto"
_ENDING = re.compile(r"\.backup-\d{8}-\d{6}(?:-\d+)?(?P<scheduled>-auto)?")


def default_target(source: Path, now: datetime, *, scheduled: bool = False) -> Path:
    """`<database>.backup-YYYYMMDD-HHMMSS` beside the database, `-auto` if scheduled.

    A further one of the same second has a number behind the time.
    """
    ending = SCHEDULED if scheduled else ""
    return replacing.unused(source, "backup", now=now, ending=ending)


def copies(
    source: Path, *, scheduled: bool = False, now: float | None = None
) -> list[Path]:
    """The copies beside a database, the newest last; with `scheduled` only a timer's.

    Those of the future come first.
    The name must match exactly: `a.db2.backup-…` is no copy of `a.db`.
    """
    found = []
    for path in source.parent.glob("*.backup-*"):
        match = path.name.startswith(source.name) and _ENDING.fullmatch(
            path.name.removeprefix(source.name)
        )
        if match and (match["scheduled"] or not scheduled) and path.is_file():
            found.append(path)
    # One of the future is from before the clock was set back: nobody knows its age.
    latest = (time.time() if now is None else now) + CLOCK
    return sorted(found, key=lambda path: _age(path, latest))


def _age(path: Path, latest: float) -> tuple[bool, int, str]:
    facts = path.stat()
    return facts.st_mtime <= latest, facts.st_mtime_ns, path.name


def backup(source: Path, target: Path) -> Path:
    """Copy by SQLite's online backup, mode 0600; returns the target.

    The copy appears under its name only when it is whole. Raises Conflict if the
    target exists, Unavailable if the copy cannot be made or the source is damaged.
    """
    if target.exists():
        raise _taken(target)
    with _copied(source, target) as copy:
        if not partial.placed(copy, target):
            raise _taken(target)
    return target


def beside(source: Path, now: datetime, *, scheduled: bool = False) -> Path:
    """Make a copy under the next name of its own that is free; returns where.

    Raises Unavailable as `backup` does.
    """
    target = default_target(source, now, scheduled=scheduled)
    with _copied(source, target) as copy:
        while not partial.placed(copy, target):
            target = default_target(source, now, scheduled=scheduled)
    return target


@contextmanager
def _copied(source: Path, target: Path) -> Iterator[Path]:
    paths.make_private_dir(target.parent)
    partial.tidy(source)
    try:
        with partial.made(target) as copy:
            _copy(source, copy)
            yield copy
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        why = failures.words(error)
        raise Unavailable(f"backup {target} could not be made: {why}") from error


def _copy(source: Path, target: Path) -> None:
    with (
        closing(opening.connect(source, read_only=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        # One state of the file for all steps: each commit of others would make the
        # copy start anew, for ever while somebody writes.
        original.execute("BEGIN")
        original.execute("SELECT count(*) FROM sqlite_master").fetchone()
        _refuse_damaged(original, source)
        original.backup(copy, pages=PAGES_AT_A_TIME)


def _taken(target: Path) -> Conflict:
    return Conflict(f"{target} exists already; nothing was overwritten")


def scheduled(source: Path, *, every: float, keep: int, now: float) -> Path | None:
    """Make the copy that is due, then delete the oldest; None where none was due.

    `every` is in days (0: never), `keep` a number of copies (0: all), `now` in seconds
    since 1970. One process does it. Raises what `backup` raises; nothing is deleted
    unless the new copy is whole.
    """
    if not due(source, every=every, now=now):
        return None
    with locks.held(f"{source}{LOCK_SUFFIX}", seconds=0) as is_ours:
        if not is_ours or not due(source, every=every, now=now):
            return None
        made = beside(source, datetime.fromtimestamp(now, UTC), scheduled=True)
        _rotate(source, keep, made, now=now)
        return made


def due(source: Path, *, every: float, now: float | None = None) -> bool:
    """Whether a scheduled copy is due: it is old enough, and the file has changed."""
    if not every or not source.is_file():
        return False
    now = time.time() if now is None else now
    times = [path.stat().st_mtime for path in copies(source, scheduled=True)]
    # A clock that was set back must not put copies off for years.
    last = max((made for made in times if made <= now + CLOCK), default=None)
    return last is None or (now - last >= every * DAY and _changed(source) > last)


def _changed(source: Path) -> float:
    """When the database, or its log, was last written."""
    files = (source, Path(f"{source}-wal"))
    return max(file.stat().st_mtime for file in files if file.exists())


def _rotate(source: Path, keep: int, made: Path, *, now: float) -> None:
    """Delete the oldest but never `made`, whatever the clock says of the others."""
    known = copies(source, scheduled=True, now=now)
    others = [path for path in known if path != made]
    for path in others[: len(others) - (keep - 1)] if keep else ():
        path.unlink(missing_ok=True)


def _refuse_damaged(connection: sqlite3.Connection, source: Path) -> None:
    """A copy of a damaged file would take the place of a good one."""
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise Unavailable(
            f"{source} is damaged, so no copy was made of it: run `icm repair`, or "
            "`icm restore latest`"
        )

"""Who keeps others from writing to a database, and its log from being tidied."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from icm_site.doctor.findings import Finding, note

LARGE_LOG = 64 << 20
# Longer than the writes of ICM take.
MOMENT = 0.5
# Where Linux tells the locks of all processes.
LOCKS = Path("/proc/locks")
# SQLite's locks are bytes of the `-shm` file: who writes, and what readers read.
WRITER = range(120, 121)
READERS = range(123, 128)


def examine(path: Path) -> Iterator[Finding]:
    """What stands in the way of others; nothing where that cannot be seen."""
    writing = holders(path, WRITER)
    if writing:
        time.sleep(MOMENT)
        writing &= holders(path, WRITER)
    if writing:
        text = f"{_named(writing)} is writing to it, and all others wait"
        yield note("database", text, "end that program, or let it finish")
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > LARGE_LOG:
        yield _large(log.stat().st_size >> 20, holders(path, READERS))


def _large(size: int, readers: set[int]) -> Finding:
    text = f"its log has {size} MB: "
    if readers:
        text += f"{_named(readers)} reads an old state"
        return note("database", text, "end that program, or let it finish")
    text += "a process reads an old state, or none could tidy"
    return note("database", text, "icm resident stop")


def holders(path: Path, places: range) -> set[int]:
    """The other processes with a lock on one of these bytes; empty where none tells."""
    try:
        inode = Path(f"{path}-shm").stat().st_ino
        lines = LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return set()
    held = (_lock(line.split()) for line in lines)
    return {
        process
        for process, file, first in filter(None, held)
        if file == inode and first in places and process not in (os.getpid(), -1, 0)
    }


def _lock(words: list[str]) -> tuple[int, int, int] | None:
    """Process, inode and first byte of a line like
    `4: POSIX  ADVISORY  READ 19241 fe:00:10273874 124 124`; None if it only waits."""
    try:
        return int(words[4]), int(words[5].rsplit(":", 1)[1]), int(words[6])
    except (IndexError, ValueError):
        return None


def _named(processes: set[int]) -> str:
    return " and ".join(f"process {n}{_program(n)}" for n in sorted(processes))


def _program(process: int) -> str:
    try:
        name = Path(f"/proc/{process}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""
    return f" ({name})"

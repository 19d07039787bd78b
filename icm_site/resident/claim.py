"""A resident's claim to its database: the lock that it holds, the address it gives."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from icm_site.resident import place
from icm_site.resident.place import Address

# Held as long as the process lives, whatever ends it.
_held: list[int] = []


def lock(database: str) -> bool:
    """Take the lock of this database; False while another process has it."""
    flags = os.O_RDWR | os.O_CREAT
    try:
        file = os.open(database + place.LOCK_SUFFIX, flags, 0o600)
    except OSError:  # a folder that cannot be written to
        return False
    if not _locked(file):
        os.close(file)
        return False
    _held.append(file)
    return True


def _locked(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_locked(database: str) -> bool:
    """Whether a resident of this database lives, however it fares."""
    try:
        file = os.open(database + place.LOCK_SUFFIX, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(file)
    finally:
        os.close(file)


def announce(database: str, address: Address | None) -> None:
    """Say in the address file how this process is to be reached; None: not at all."""
    file = database + place.ADDRESS_SUFFIX
    if address is None:
        known = place.read(database)
        if known is not None and known.pid == os.getpid():
            Path(file).unlink(missing_ok=True)
        return
    fresh = f"{file}.{os.getpid()}"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(address.text())
    os.replace(fresh, file)

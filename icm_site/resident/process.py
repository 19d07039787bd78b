"""The resident as a process: alone for its database, detached, with a log."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

from icm_site.resident import place
from icm_site.resident.place import Address

logger = logging.getLogger(__name__)

LOG_LIMIT = 1 << 20


def main(database: str, *, detached: bool = True) -> int:
    """Serve this database until nobody needs that any more; ends the process.

    Returns 0 where another process does. `detached`: in a session of its own, with
    the log in a file.
    """
    if detached:
        _detach()
    if not _lock(database):
        return 0
    known = place.read(database)
    if known and known.state == place.FAILED and not place.may_start(known):
        return 0  # another that was started with this one has just failed
    tries = known.tries if known and known.state != place.READY else 0
    coming = Address(place.STARTING, pid=os.getpid(), since=time.time(), tries=tries)
    announce(database, coming)
    try:
        if detached:
            _log_to_file()
        code = _serve(database)
    # Whatever kept it from starting is in the log, and clients do the work.
    except Exception:
        logger.exception("the resident could not start")
        failed = Address(place.FAILED, since=time.time(), tries=tries + 1)
        announce(database, failed)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # Taking a Python of this size down in order takes 0.3 s.
    os._exit(code)


def _serve(database: str) -> int:
    from icm_site.resident.server import serve
    from icm_site.sqlite import opening

    opening.never_make()
    return serve(Path(database))


def _detach() -> None:
    if hasattr(os, "setsid") and os.getpgrp() != os.getpid():
        os.setsid()
    # No folder is kept from being removed or unmounted.
    os.chdir(os.path.abspath(os.sep))


# Held as long as the process lives, whatever ends it.
_held: list[int] = []


def _lock(database: str) -> bool:
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


def _log_to_file() -> None:
    """Descriptors 1 and 2 become the log, for whatever a library may print there."""
    from icm_site import paths

    folder = paths.make_private_dir(paths.cache_dir())
    path = folder / "resident.log"
    mode = os.O_APPEND
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        mode = os.O_TRUNC
    log = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)

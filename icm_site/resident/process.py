"""The resident as a process: alone for its database, detached, with a log."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

from icm_site.resident import claim, place
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
    if not claim.lock(database):
        return 0
    known = place.read(database)
    if known and known.state == place.FAILED and not place.may_start(known):
        return 0  # another that was started with this one has just failed
    tries = known.tries if known and known.state != place.READY else 0
    coming = Address(place.STARTING, pid=os.getpid(), since=time.time(), tries=tries)
    claim.announce(database, coming)
    try:
        if detached:
            _log_to_file()
        code = _serve(database)
    # Whatever kept it from starting is in the log, and clients do the work.
    except Exception:
        logger.exception("the resident could not start")
        failed = Address(place.FAILED, since=time.time(), tries=tries + 1)
        claim.announce(database, failed)
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

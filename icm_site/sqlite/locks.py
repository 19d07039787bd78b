"""Lock files beside a database, by which one process at a time does what must be so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from icm_site.errors import Unavailable


@contextmanager
def held(lock: str, *, seconds: float) -> Iterator[bool]:
    """Hold a lock file; gives False, without it, if others have it for so long.

    Raises Unavailable where it cannot be made, as in a folder that cannot be written.
    """
    known = FileLock(lock, timeout=seconds, mode=0o600)
    try:
        known.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise Unavailable(f"{lock} cannot be made: {error.strerror}.") from error
    try:
        yield True
    finally:
        known.release()

"""The same event from several of a host's files is served once: a claim for seconds."""

from __future__ import annotations

import _thread
import os
import stat
import time
from binascii import crc32

from icm_site import folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 5.0

_claimed: dict[str, float] = {}
_lock = _thread.allocate_lock()


def in_process(key: str) -> bool:
    """Claim a key within this process: False if it was claimed seconds ago."""
    now = time.monotonic()
    with _lock:
        for old in [k for k, at in _claimed.items() if now - at >= SECONDS]:
            del _claimed[old]
        return _claimed.setdefault(key, now) is now


def by_file(key: str, env: Mapping[str, str]) -> bool:
    """The same between processes: by an empty file in our folder of the session.

    True where no such file can be made: a second answer does less harm than none.
    """
    folder = folders.runtime(env)
    if not folder:
        return True
    data = key.encode("utf-8", "replace")
    path = os.path.join(folder, f"hook-{crc32(data):08x}-{len(data):x}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_ours(folder):
            return True
        _sweep(folder)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def _is_ours(folder: str) -> bool:
    """Whether a folder in a place that others may write to is our own."""
    facts = os.lstat(folder)
    if not stat.S_ISDIR(facts.st_mode):
        return False
    return os.name != "posix" or facts.st_uid == os.geteuid()


def _sweep(folder: str) -> None:
    """Remove claims that have run out."""
    now = time.time()
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("hook-") and (
                not 0 <= now - entry.stat().st_mtime < SECONDS
            ):
                os.unlink(entry.path)

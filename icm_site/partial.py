"""Files in the making: each under a name of its own until it is whole."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icm_site.errors import Unavailable

# Around the random part, so that no file of somebody else's is taken for ours.
MARK, ENDING = ".icm-", ".partial"
_NAME = f"{MARK}{'?' * 8}{ENDING}*"
# Seconds after which nobody is at work on one any more.
LEFT_OVER = 3600.0


@contextmanager
def made(target: Path) -> Iterator[Path]:
    """An empty file beside `target`, mode 0600, that no other process has.

    It is gone in the end, and what SQLite put beside it, unless it was renamed. What
    killed processes left goes before. Raises Unavailable where none can be made.
    """
    tidy(target)
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f"{target.name}{MARK}", suffix=ENDING
        )
    except OSError as error:
        raise Unavailable(
            f"Cannot make the file {target}: {error.strerror}."
        ) from error
    os.close(handle)
    try:
        yield Path(name)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{name}{ending}").unlink(missing_ok=True)


def placed(file: Path, target: Path) -> bool:
    """Give a whole file its name; False, and nothing is done, if that is taken."""
    try:
        os.link(file, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if target.exists() or target.is_symlink():
            return False
        file.rename(target)
    return True


def tidy(target: Path) -> None:
    """Delete what killed processes left in the making of a file, or a copy of it."""
    name = glob.escape(target.name)
    folder = target.parent
    for path in (*folder.glob(name + _NAME), *folder.glob(f"{name}.backup-*{_NAME}")):
        try:
            # Either way: the clock may have been set back.
            if abs(time.time() - path.stat().st_mtime) > LEFT_OVER:
                path.unlink()
        except OSError:  # another process was quicker, or may
            continue

"""Files of others are replaced whole or not at all; links and permissions are kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from icm_site.errors import Unavailable

_PRIVATE = 0o600


def read(path: Path) -> bytes | None:
    """The content of a file, None where there is none; raises Unavailable."""
    try:
        # A pipe would be waited for, without end.
        if path.exists() and not path.is_file():
            raise Unavailable(f"{path} is no file")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def is_there(path: Path) -> bool:
    """Whether there is something; what may not be looked at counts as not there."""
    # Path.exists raises where a folder may not be entered.
    return os.path.exists(path)  # noqa: PTH110


def is_file(path: Path) -> bool:
    """Whether there is a file, as `is_there`."""
    return os.path.isfile(path)  # noqa: PTH113


def real(path: Path) -> Path:
    """The file behind links; the end of a dangling link is where it points to."""
    return Path(os.path.realpath(path))


def replace(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Put a file in the place of another in one step: a crash leaves one of the two.

    Links are followed. Permissions and, as far as allowed, the owner are those of the
    old file; without one, `mode` or 0600. Raises Unavailable.
    """
    target = real(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    except OSError as error:
        raise Unavailable(f"{target} cannot be written: {error.strerror}") from error
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_over(target, partial, mode)
        partial.replace(target)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Unavailable(
                f"{target} cannot be written: {error.strerror}"
            ) from error
        raise


def _take_over(target: Path, partial: Path, mode: int | None) -> None:
    try:
        facts = target.stat()
    except FileNotFoundError:
        partial.chmod(_PRIVATE if mode is None else mode)
        return
    shutil.copymode(target, partial)
    if os.name == "posix" and (facts.st_uid, facts.st_gid) != (
        os.geteuid(),
        os.getegid(),
    ):
        # Perhaps not ours to give away; the content is what counts.
        with contextlib.suppress(PermissionError):
            os.chown(partial, facts.st_uid, facts.st_gid)


def missing_folders(path: Path) -> list[Path]:
    """The folders above a file that are not there, outermost first."""
    return [place for place in path.parents if not is_there(place)][::-1]


def make_folders(path: Path) -> None:
    """Make the folders above a file; raises Unavailable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{path.parent} cannot be made: {error.strerror}") from error

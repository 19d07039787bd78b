"""Where hosts keep the file of a session, for payloads that do not name it.

The places are those of the hosts' own references; what is not there is not looked for.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from icm_site.errors import IcmError
from icm_site.hooks.contracts import SESSION_FILES
from icm_site.hosts import places

# How many entries of folders are looked at, the newest names first.
MOST_ENTRIES = 5_000
# As hosts make them: nothing in it can lead to another folder, or stand for a name.
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{3,127}\Z")


def find(
    host: str, session: str, *, env: Mapping[str, str], system: str = sys.platform
) -> Path | None:
    """The file of a session, None where there is none in the host's own folder."""
    if host not in SESSION_FILES or not _ID.match(session):
        return None
    root, _, rest = SESSION_FILES[host].partition("/")
    first = session.partition("-")[0][:8]
    names = rest.format(session=session, first=first).split("/")
    try:
        base = places.resolve(root, env=env, system=system)
    except IcmError:  # no home
        return None
    left = [MOST_ENTRIES]
    found = next(_below(str(base), names, left), None)
    if found is None or not _is_within(found, str(base)):
        return None
    return Path(found)


def _below(folder: str, names: list[str], left: list[int]) -> Iterator[str]:
    """The paths below a folder that match, one name a level; `left` is counted down."""
    name, *others = names
    for path in _matching(folder, name, left):
        if others:
            yield from _below(path, others, left)
        elif os.path.isfile(path):  # noqa: PTH113 - Path raises where it may not look
            yield path


def _matching(folder: str, name: str, left: list[int]) -> Iterator[str]:
    if "*" not in name:
        yield f"{folder}/{name}"
        return
    try:
        found = sorted(os.listdir(folder), reverse=True)  # noqa: PTH208
    except OSError:
        return
    for entry in found:
        left[0] -= 1
        if left[0] < 0:
            return
        if fnmatch.fnmatchcase(entry, name):
            yield f"{folder}/{entry}"


def _is_within(path: str, folder: str) -> bool:
    """Whether a file lies in a folder, whatever links lead to."""
    real = os.path.realpath(folder)
    return os.path.realpath(path).startswith(real + os.sep)

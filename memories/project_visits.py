"""Which projects were worked in, noted when something is stored for one."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta

from icm_site import git
from icm_site.caller import Caller
from memories.models import Project

NAME_CHARS = 255
MOST_PATHS = 20
# What a row says of the last visit is no more exact than that.
SEEN_AGAIN = timedelta(hours=1)
_USER = re.compile("//[^/@]*@")


def see(caller: Caller, *, now: datetime) -> None:
    """Note that a caller stored something for its project, and where that lies."""
    name = caller.project[:NAME_CHARS]
    if not name:
        return
    row = Project.objects.filter(name=name).first()
    if row and abs(now - row.last_seen) < SEEN_AGAIN:
        return
    place, remote = _place(caller.cwd)
    known = list(row.paths) if row else []
    found = [*known, place] if place and place not in known else known
    Project.objects.update_or_create(
        name=name,
        defaults={"paths": found[-MOST_PATHS:], "remote": remote, "last_seen": now},
    )


def _place(cwd: str) -> tuple[str, str]:
    """The main working tree, or the folder, and the remote without who logs in."""
    if not cwd:
        return "", ""
    repository = git.find(cwd)
    if repository is None:
        return os.path.realpath(cwd), ""
    remote = _USER.sub("//", git.origin_url(repository) or "")
    return str(git.main_tree(repository)), remote

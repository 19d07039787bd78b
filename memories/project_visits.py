"""Which projects were worked in, noted when something is stored for one."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from icm_site import git
from icm_site.caller import Caller
from memories.driver import raw_connection
from memories.models import Project

NAME_CHARS = 255
MOST_PATHS = 20
# What a row says of the last visit is no more exact than that.
SEEN_AGAIN = timedelta(hours=1)
LAST_SEEN = "SELECT CAST(last_seen AS TEXT) FROM projects WHERE name = ?"
_USER = re.compile("//[^/@]*@")


def see(caller: Caller, *, now: datetime) -> None:
    """Note that a caller stored something for its project, and where that lies."""
    name = caller.project[:NAME_CHARS]
    if not name:
        return
    if _seen_lately(name, now):
        return
    row = Project.objects.filter(name=name).first()
    place, remote = _place(caller.cwd)
    known = list(row.paths) if row else []
    found = [*known, place] if place and place not in known else known
    Project.objects.update_or_create(
        name=name,
        defaults={"paths": found[-MOST_PATHS:], "remote": remote, "last_seen": now},
    )


def _seen_lately(name: str, now: datetime) -> bool:
    # Each store asks: compiled SQL, a tenth of what the ORM takes.
    found = raw_connection().execute(LAST_SEEN, (name,)).fetchone()
    if found is None:
        return False
    return abs(now - datetime.fromisoformat(found[0]).replace(tzinfo=UTC)) < SEEN_AGAIN


def _place(cwd: str) -> tuple[str, str]:
    """The main working tree, or the folder, and the remote without who logs in."""
    if not cwd:
        return "", ""
    repository = git.find(cwd)
    if repository is None:
        return os.path.realpath(cwd), ""
    remote = _USER.sub("//", git.origin_url(repository) or "")
    return str(git.main_tree(repository)), remote

"""Let hooks rest, and end that; what rests, in words."""

from __future__ import annotations

import re
from datetime import datetime

from icm_site.errors import InvalidInput
from memories import formats, projects
from memories import pause as pauses
from memories.driver import raw_connection
from memories.models import Metadata

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
LONGEST = 366 * 86_400


def pause(project: str | None, *, duration: str | None, now: float) -> None:
    """Let everything or a project rest. Raises InvalidInput for no duration."""
    end = pauses.NEVER if duration is None else f"{now + seconds(duration):.3f}"
    Metadata.objects.write(pauses.KEY + _name(project), end)


def resume(project: str | None) -> bool:
    """End the pause of a project, or all; tells whether there was one."""
    rows = Metadata.objects.filter(key__startswith=pauses.KEY)
    if project is not None:
        rows = rows.filter(key=pauses.KEY + _name(project))
    rested = pauses.paused(raw_connection())
    rows.delete()
    return rested != pauses.paused(raw_connection())


def state(now: float | None = None) -> str:
    """What rests until when, in words; "" for nothing."""
    resting = pauses.paused(raw_connection(), now=now)
    return "; ".join(_said(name, end) for name, end in sorted(resting.items()))


def seconds(duration: str) -> float:
    """A duration like 90m, 2h or 1d in seconds. Raises InvalidInput."""
    found = _DURATION.fullmatch(duration.strip())
    length = float(found[1]) * UNITS[found[2].lower()] if found else 0.0
    if not 0 < length <= LONGEST:
        raise InvalidInput(
            f"the duration must be a number with s, m, h, d or w, up to a year, "
            f"such as 90m or 2h, not {duration[:40]!r}"
        )
    return length


def _name(project: str | None) -> str:
    if project is None:
        return ""
    name = projects.normalise_name(project)
    if not name:
        raise InvalidInput("project must not be empty")
    if len(name) > 255:
        raise InvalidInput("project must not be longer than 255 characters")
    return name


def _said(project: str, end: float | None) -> str:
    what = f"hooks of the project {formats.plain(project)}" if project else "all hooks"
    if end is None:
        return f"{what} until resumed"
    moment = datetime.fromtimestamp(end).astimezone()
    return f"{what} until {formats.local(moment)}"

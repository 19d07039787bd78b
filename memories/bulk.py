"""Acts on many chosen memories at once, each as one change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.utils import timezone

from icm_site.caller import Caller
from memories import history
from memories.models import Change, Memory, State


def forget(
    memories: Iterable[Memory], *, caller: Caller, now: datetime | None = None
) -> tuple[int, Change | None]:
    """Hide memories that are not forgotten yet; returns how many, and the change."""
    now = now or timezone.now()
    with history.change("forget", caller=caller, now=now) as log:
        rows = [memory for memory in memories if memory.state != State.FORGOTTEN]
        history.hide(rows, State.FORGOTTEN, log=log, now=now)
    return len(rows), log.change if rows else None

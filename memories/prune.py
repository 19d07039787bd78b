"""Prune: hide what has faded. By command alone, never by a clock."""

from __future__ import annotations

import math
from datetime import datetime

from icm_site import conf
from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from memories import history
from memories.models import Change, Importance, Memory, MemoryQuerySet, State

PRUNABLE = (Importance.MEDIUM, Importance.LOW)


def prunable(threshold: float) -> MemoryQuerySet:
    """Live medium and low memories whose weight is below the threshold."""
    return (
        Memory.objects.live()
        .with_usage()
        .filter(importance__in=PRUNABLE, usage__weight__lt=threshold)
        .order_by("usage__weight", "id")
    )


def checked_threshold(threshold: float | None) -> float:
    """The threshold, the configured one for None. Raises InvalidInput."""
    value = conf.current().memory.prune_threshold if threshold is None else threshold
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise InvalidInput(f"threshold must be between 0 and 1 (got {value:g})")
    return value


def prune(
    *, threshold: float | None, caller: Caller, now: datetime, dry_run: bool = False
) -> tuple[list[Memory], Change | None]:
    """Archive faded memories, as one change; returns the rows of either run.

    Raises InvalidInput.
    """
    bound = checked_threshold(threshold)
    if dry_run:
        return list(prunable(bound)), None
    with history.change("prune", caller=caller, now=now) as log:
        rows = list(prunable(bound))
        history.hide(rows, State.ARCHIVED, log=log, now=now)
    return rows, log.change if rows else None

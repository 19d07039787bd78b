"""Decay: how a weight falls with time unless a memory is used or critical."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.db import OperationalError, connection, transaction

from icm_site import conf
from icm_site.errors import InvalidInput
from icm_site.sqlite.opening import TIMEOUT
from memories.models import Importance, MemoryUsage, Metadata

CLAIM_KEY = "last_decay_at"
PERIOD = timedelta(hours=24)
ACCESS_SHARE = 0.1
MULTIPLIERS = {
    Importance.CRITICAL: 0.0,
    Importance.HIGH: 0.5,
    Importance.MEDIUM: 1.0,
    Importance.LOW: 2.0,
}
# A recall lets another writer go first: it waits this long for the lock, no longer.
SHORT_WAIT_MS = 200

# Rows that stood through the whole gap share one base rate; one statement decays them.
DECAY = """
UPDATE memory_usage SET weight = weight * (1.0 - min(1.0, max(0.0,
    %s * CASE importance
        WHEN 'high' THEN 0.5 WHEN 'medium' THEN 1.0 WHEN 'low' THEN 2.0 ELSE 0.0 END
    / (1.0 + access_count * 0.1))))
WHERE importance <> 'critical' AND decayed_at <= %s
"""

# An index holds the states; the rows of bookkeeping are as many.
COUNT_LIVE = "SELECT count(*) FROM memories WHERE state = 'live'"


def decayed(
    weight: float,
    *,
    importance: Importance,
    access_count: int,
    days: float,
    factor: float = 0.95,
) -> float:
    """The weight after `days` days: weight x (1 - effective rate).

    Effective rate = (1 - factor^days) x m / (1 + 0.1 x access_count), clamped to 0-1,
    with m = 0, 0.5, 1, 2 for critical, high, medium, low (documented formula).
    """
    base = 1.0 - math.pow(factor, max(days, 0.0))
    rate = base * MULTIPLIERS[importance] / (1.0 + ACCESS_SHARE * access_count)
    return weight * (1.0 - min(max(rate, 0.0), 1.0))


def checked_factor(factor: float) -> float:
    """The factor if it can be one. Raises InvalidInput."""
    if not (math.isfinite(factor) and 0.0 <= factor < 1.0):
        raise InvalidInput(f"factor must be at least 0 and below 1 (got {factor:g})")
    return factor


def step(*, factor: float, now: datetime) -> int:
    """Apply one day's decay by hand; returns how many live memories it concerns.

    Raises InvalidInput. The daily decay goes on by its own clock.
    """
    base = 1.0 - checked_factor(factor)
    with transaction.atomic():
        _decay_all(base, since=now)
    return _live()


def is_due(now: datetime) -> bool:
    """Whether a day has passed since the last decay; one read, no lock.

    Also where that lies a day ahead: the clock was wrong then, or is now.
    """
    last = _last(Metadata.objects.read(CLAIM_KEY))
    return last is None or abs(now - last) > PERIOD


def run(*, now: datetime) -> int | None:
    """Decay for the time since the last time; None if it is not due.

    Claiming the time and lowering the weights are one transaction: of two processes
    one does it. The first run on a database changes no weight, nor does the first
    one after a clock that ran ahead was set right.
    """
    if not is_due(now):
        return None
    with transaction.atomic():
        known = Metadata.objects.read(CLAIM_KEY)
        last = _last(known)
        if last is not None and abs(now - last) <= PERIOD:
            return None
        Metadata.objects.write(CLAIM_KEY, now.astimezone(UTC).isoformat())
        if last is None or last > now:
            MemoryUsage.objects.filter(decayed_at__gt=now).update(decayed_at=now)
            return 0
        factor = conf.current().memory.decay_rate
        days = (now - last) / timedelta(days=1)
        _decay_all(1.0 - factor**days, since=last)
        _decay_young(last, now=now, factor=factor)
    return _live()


def run_if_due(*, now: datetime) -> None:
    """What a recall does: decay if it is due and no other writer is in the way."""
    if getattr(connection, "read_only", False) or not is_due(now):
        return
    try:
        with waiting_briefly():
            run(now=now)
    except OperationalError as error:
        if not isinstance(error.__cause__, sqlite3.OperationalError):
            raise


@contextmanager
def waiting_briefly() -> Iterator[None]:
    """Within this block a lock is waited for shortly and not for 20 seconds."""
    connection.ensure_connection()
    raw = connection.connection
    raw.execute(f"PRAGMA busy_timeout = {SHORT_WAIT_MS:d}")
    try:
        yield
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(TIMEOUT * 1000):d}")


def _decay_all(base: float, *, since: datetime) -> None:
    with connection.cursor() as cursor:
        moment = since.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
        cursor.execute(DECAY, [base, moment])


def _decay_young(last: datetime, *, now: datetime, factor: float) -> None:
    """Memories that are younger than the last decay are charged for their own age."""
    rows = MemoryUsage.objects.filter(decayed_at__gt=last, decayed_at__lt=now)
    young = rows.exclude(importance=Importance.CRITICAL).values_list(
        "memory_id", "weight", "importance", "access_count", "decayed_at"
    )
    weights = [
        (
            decayed(
                weight,
                importance=Importance(importance),
                access_count=count,
                days=(now - since) / timedelta(days=1),
                factor=factor,
            ),
            key,
        )
        for key, weight, importance, count, since in young
    ]
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE memory_usage SET weight = %s WHERE memory_id = %s", weights
        )


def _live() -> int:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_LIVE)
        return int(cursor.fetchone()[0])


def _last(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

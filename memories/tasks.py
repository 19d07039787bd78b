"""Background work as plain functions: for django-q2, commands and timers alike."""

from __future__ import annotations

from django.utils import timezone

from icm_site import conf
from icm_site.errors import Conflict
from memories import decay, driver, embedding, matrices, purge


def daily_decay() -> int | None:
    """Decay if it is due, and let history expire; None where it was not due."""
    now = timezone.now()
    done = decay.run(now=now)
    keep_days = conf.current().history.keep_days
    if done is not None and keep_days is not None:
        purge.expire(keep_days=keep_days, now=now)
    return done


def embed_missing() -> int | None:
    """Make the missing vectors; None while another process is at it."""
    try:
        return embedding.backfill().done
    except Conflict:
        return None


def keep_vectors() -> int | None:
    """Write the vectors to files that later starts map; None where it is not due."""
    files = matrices.files()
    raw = driver.raw_connection()
    if files is None or not files.due(raw):
        return None
    return files.make(raw).rows

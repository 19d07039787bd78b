"""What the resident does after a hook's answer: the record, access, decay, capture."""

from __future__ import annotations

import logging
import sqlite3

from django.utils import timezone

from icm_site.conf import Config
from icm_site.hooks import bookkeeping
from icm_site.hooks.answer import Done
from icm_site.sqlite.opening import TIMEOUT
from memories import decay, driver, recall

logger = logging.getLogger(__name__)

WAIT_MS = 100


def finish(done: Done, config: Config) -> None:
    """All that nobody waits for, in the writing lane; a busy database loses it."""
    if not config.read_only:
        _record(done, config)
    now = timezone.now()
    if done.event.injected:
        recall.count_access(done.event.injected, now=now)
        decay.run_if_due(now=now)
    bookkeeping.after(done)


def _record(done: Done, config: Config) -> None:
    raw = driver.raw_connection()
    try:
        raw.execute(f"PRAGMA busy_timeout = {WAIT_MS:d}")
        bookkeeping.record(raw, done, keep_days=config.hooks.keep_days)
    except sqlite3.OperationalError as error:
        logger.debug("a hook's run was not recorded: %s", error)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(TIMEOUT * 1000):d}")

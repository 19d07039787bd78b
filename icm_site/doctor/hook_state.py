"""What the runs of hooks of the last days say: what failed, and what nobody knew."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator

from icm_site.doctor.findings import Finding, note

DAYS, MOST = 7, 5
ODD = """
    SELECT host, event, note, count(*) FROM hook_events
    WHERE at >= ? AND (note LIKE 'error: %' OR note LIKE 'unknown event %')
    GROUP BY host, event, note ORDER BY count(*) DESC, max(id) DESC LIMIT ?
"""


def examine(connection: sqlite3.Connection, now: float) -> Iterator[Finding]:
    """A note for each kind of run that failed or was of an unknown event.

    A host that changes what it sends is met with silence, which nobody would notice.
    """
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now - DAYS * 86_400))
    for host, event, said, count in connection.execute(ODD, (since, MOST)):
        runs = "1 run" if count == 1 else f"{count} runs"
        text = (
            f"{runs} of {event} by {host or 'an unknown tool'} in {DAYS} days: {said}"
        )
        yield note("hooks", text, "icm hook-log")

"""What hooks did: one row a run, written once its answer is out.

Writing takes any SQLite connection and imports no Django.
"""

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

from memories import shown
from memories.scope import Connection

INSERT = """
INSERT INTO hook_events(at, event, host, project, agent_session, tool_name,
    duration_ms, exit_code, payload_size, injected, tokens, note)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
ULIDS = "SELECT ulid FROM memories WHERE id IN (SELECT value FROM json_each(?))"
PRUNE = "DELETE FROM hook_events WHERE at < ?"
# Old rows go when as many new ones have come.
PRUNE_EVERY = 256
DAY = 86_400.0


class Event(NamedTuple):
    """One run of a hook; `injected` are keys of memories."""

    event: str
    host: str = ""
    project: str = ""
    agent_session: str = ""
    tool_name: str = ""
    duration_ms: float = 0.0
    exit_code: int = 0
    payload_size: int = 0
    injected: Sequence[int] = ()
    tokens: int = 0
    note: str = ""


def stamp(moment: float) -> str:
    """Seconds since 1970 as the database keeps times: UTC, to the microsecond."""
    whole = int(moment)
    micros = min(int((moment - whole) * 1e6), 999_999)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(whole))}.{micros:06d}"


def write(raw: Connection, event: Event, *, at: float, keep_days: int) -> None:
    """Add a run. Raises sqlite3.Error."""
    ulids = []
    if event.injected:
        keys = json.dumps(list(event.injected))
        ulids = [row[0] for row in raw.execute(ULIDS, (keys,))]
    cursor = raw.execute(
        INSERT,
        (
            stamp(at),
            event.event[:32],
            event.host[:64],
            event.project[:255],
            event.agent_session[:255],
            event.tool_name[:255],
            round(event.duration_ms, 3),
            event.exit_code,
            event.payload_size,
            json.dumps(ulids),
            event.tokens,
            event.note[:500],
        ),
    )
    if keep_days and cursor.lastrowid % PRUNE_EVERY == 0:
        before = stamp(at - keep_days * DAY)
        raw.execute(PRUNE, (before,))
        raw.execute(shown.PRUNE, (before,))

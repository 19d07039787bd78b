"""Whether hooks and unattended capture rest, for everything or for one project.

Takes any SQLite connection and imports no Django.
"""

import time

from memories.scope import Connection

# In icm_metadata: this and the project, "" for all; the value is the time of the end
# in seconds since 1970, or NEVER.
KEY, NEVER = "paused:", ""
READ = "SELECT key, value FROM icm_metadata WHERE key >= ? AND key < ?"


def paused(raw: Connection, *, now: float | None = None) -> dict[str, float | None]:
    """What rests: the project ("" for all) and when that ends, None for never."""
    moment = time.time() if now is None else now
    found: dict[str, float | None] = {}
    for key, value in raw.execute(READ, (KEY, KEY[:-1] + ";")):
        end = float(value) if value != NEVER else None
        if end is None or end > moment:
            found[key.removeprefix(KEY)] = end
    return found


def is_paused(raw: Connection, project: str) -> bool:
    """Whether hooks are to be silent in this project."""
    resting = paused(raw)
    return "" in resting or (bool(project) and project in resting)

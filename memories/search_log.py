"""What changed since a process last looked, as the triggers of the database log it."""

import json
from typing import NamedTuple

from memories.scope import Connection

# The columns of a Mark.
MARK = """
(SELECT value FROM icm_metadata WHERE key = 'vectors_rewritten'),
(SELECT max(id) FROM search_changes),
(SELECT stamp FROM search_changes ORDER BY id DESC LIMIT 1)
"""

HAS_LOG = "SELECT 1 FROM sqlite_master WHERE name = 'search_changes'"
STAMP_OF = "SELECT stamp FROM search_changes WHERE id = ?"
FIRST = "SELECT min(id) FROM search_changes"
CHANGED = "SELECT DISTINCT memory_id FROM search_changes WHERE id > ?"


class Mark(NamedTuple):
    """A place in the log: its last entry. No epoch: the log cannot be relied on."""

    epoch: str | None = None
    last: int | None = None
    stamp: str | None = None


def has_log(connection: Connection) -> bool:
    """Whether there is a log; not in the file of an earlier version, opened to read."""
    return connection.execute(HAS_LOG).fetchone() is not None


def changed_since(connection: Connection, known: Mark, now: Mark) -> set[int] | None:
    """Memories whose text, state or vectors were changed or removed after a mark.

    New rows are not among them. None: the log does not reach back to the mark, or is
    not the same log.
    """
    if known.epoch is None or known.epoch != now.epoch:
        return None
    if known == now:
        return set()
    if known.last is None:
        continues = connection.execute(FIRST).fetchone()[0] == 1
    else:
        row = connection.execute(STAMP_OF, (known.last,)).fetchone()
        continues = row is not None and row[0] == known.stamp
    if not continues:
        return None
    return {row[0] for row in connection.execute(CHANGED, (known.last or 0,))}


def as_json(memory_ids: set[int]) -> str:
    """Ids as a parameter of json_each."""
    return json.dumps(sorted(memory_ids))

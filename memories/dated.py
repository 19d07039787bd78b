"""Memories of a period: created in it, or about what happened in it."""

import json
from collections.abc import Collection, Sequence

from memories.periods import Period
from memories.scope import IN_SCOPE, Connection, Scope

_IN_PERIOD = "m.{column} >= ? AND m.{column} < ?"

# Two statements in one, so that each finds its index.
NEWEST = f"""
SELECT id FROM (
    SELECT m.id, m.created_at AS at FROM memories m
    WHERE {_IN_PERIOD.format(column="created_at")}
        AND m.state IN ('live', 'superseded') AND {IN_SCOPE}
    UNION
    SELECT m.id, m.occurred_at FROM memories m
    WHERE m.occurred_at IS NOT NULL AND {_IN_PERIOD.format(column="occurred_at")}
        AND m.state IN ('live', 'superseded') AND {IN_SCOPE})
GROUP BY id ORDER BY max(at) DESC, id DESC LIMIT ?
"""

AMONG = f"""
SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))
    AND ({_IN_PERIOD.format(column="created_at")}
        OR {_IN_PERIOD.format(column="occurred_at")})
"""


def newest(
    connection: Connection, alternatives: Sequence[Period], *, scope: Scope, depth: int
) -> tuple[Period | None, list[int]]:
    """The first of the periods that has memories, and its newest `depth` ones."""
    for period in alternatives:
        one = (*_bounds(period), *scope.parameters)
        found = connection.execute(NEWEST, (*one, *one, depth)).fetchall()
        if found:
            return period, [row[0] for row in found]
    return None, []


def among(
    connection: Connection, memory_ids: Collection[int], period: Period
) -> set[int]:
    """Those of the memories that are of the period."""
    bounds = _bounds(period)
    asked = (json.dumps(sorted(memory_ids)), *bounds, *bounds)
    return {row[0] for row in connection.execute(AMONG, asked)}


def _bounds(period: Period) -> tuple[str, str]:
    """As Django writes a time in UTC into the database."""
    start, end = (at.replace(tzinfo=None).isoformat(" ") for at in period)
    return start, end

"""Memories of a period: created in it, or about what happened in it."""

import json
from collections.abc import Collection, Sequence

from memories.periods import Period
from memories.scope import IN_SCOPE, Connection, Scope

# In a scope of so few memories each is looked at; in a wider one the newest lie near.
FEW = 5_000

_IN_PERIOD = "m.{column} >= ? AND m.{column} < ?"


def _newest_by(column: str, scope: str) -> str:
    return f"""
SELECT * FROM (
    SELECT m.id, m.{column} AS at FROM memories m
    WHERE {_IN_PERIOD.format(column=column)}
        AND m.state IN ('live', 'superseded') AND {scope}
    ORDER BY m.{column} DESC, m.id DESC LIMIT ?)
"""


def _newest_by_both(scope: str) -> str:
    about = f"m.occurred_at IS NOT NULL AND {scope}"
    return f"""
SELECT id FROM (
    {_newest_by("created_at", scope)} UNION ALL {_newest_by("occurred_at", about)})
GROUP BY id ORDER BY max(at) DESC, id DESC LIMIT ?
"""


NEWEST = _newest_by_both(IN_SCOPE)
NEWEST_OF_FEW = _newest_by_both("m.id IN (SELECT value FROM json_each(?))")

AMONG = f"""
SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))
    AND ({_IN_PERIOD.format(column="created_at")}
        OR {_IN_PERIOD.format(column="occurred_at")})
"""


def newest(
    connection: Connection,
    alternatives: Sequence[Period],
    *,
    scope: Scope,
    within: Collection[int] | None,
    depth: int,
) -> tuple[Period | None, list[int]]:
    """The first of the periods that has memories, and its newest `depth` ones.

    `within`: the ids of the memories in scope; None means all.
    """
    statement, filters = NEWEST, scope.parameters
    if within is not None and len(within) <= FEW:
        statement, filters = NEWEST_OF_FEW, (json.dumps([*within]),)
    for period in alternatives:
        one = (*_bounds(period), *filters, depth)
        found = connection.execute(statement, (*one, *one, depth)).fetchall()
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

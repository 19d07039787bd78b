"""Which live memory stands for a row: superseded rows lead to their successor."""

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

from memories.scope import IN_SCOPE, Connection, Scope

MAX_HOPS = 32
SEARCHABLE = ("live", "superseded")

# Whether a text of a session ends as a question: it is answered by what follows.
ASKS = "(agent_session <> '' AND substr(summary, -1) IN ('?', '？', '؟'))"

ROWS = f"""
SELECT id, state, superseded_by_id, 1, agent_session, {ASKS}
FROM memories WHERE id IN (SELECT value FROM json_each(?))
"""

# Of most rows there is nothing to say: they are live and in no session.
SPECIAL_ROWS = f"{ROWS} AND (state <> 'live' OR agent_session <> '')"

ROWS_IN_SCOPE = f"""
SELECT m.id, m.state, m.superseded_by_id, {IN_SCOPE}, m.agent_session, {ASKS}
FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))
"""


class Row(NamedTuple):
    """What recall needs to know of a row besides its score."""

    state: str
    successor: int | None
    inside: bool
    session: str
    asks: bool = False

    @property
    def lends(self) -> bool:
        """Whether it takes part in its session: searchable, in scope, in a session."""
        return bool(self.session) and self.inside and self.state in SEARCHABLE


PLAIN = Row("live", None, True, "")


def read_rows(
    connection: Connection, ids: Collection[int], scope: Scope
) -> dict[int, Row]:
    """The rows of these ids and of all that superseded them.

    Without a scope the ids are taken for those of memories.
    """
    known: dict[int, Row] = {}
    statement = usual = ROWS_IN_SCOPE
    filters: tuple[object, ...] = scope.parameters
    if scope.is_open:
        known = dict.fromkeys(ids, PLAIN)
        statement, usual, filters = SPECIAL_ROWS, ROWS, ()
    wanted = set(ids)
    for _ in range(MAX_HOPS):
        if not wanted:
            break
        parameters = (*filters, json.dumps(sorted(wanted)))
        found = connection.execute(statement, parameters).fetchall()
        for memory_id, state, successor, inside, session, asks in found:
            known[memory_id] = Row(
                state, successor, bool(inside), session or "", bool(asks)
            )
        successors = {row[2] for row in found if row[1] == "superseded"}
        wanted = {i for i in successors if i is not None and i not in known}
        statement = usual
    return known


def live_successor(memory_id: int, rows: Mapping[int, Row]) -> int | None:
    current: int | None = memory_id
    for _ in range(MAX_HOPS):
        if current is None or current not in rows:
            return None
        row = rows[current]
        if row.state == "live":
            return current if row.inside else None
        current = row.successor if row.state == "superseded" else None
    return None

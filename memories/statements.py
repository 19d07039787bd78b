"""The statements of a store as compiled SQL: the ORM's compiler costs more than they.

Each call of it takes about 0.3 ms, several times what SQLite needs for the row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from memories.driver import raw_connection
from memories.models import Change, Memory

Row = TypeVar("Row", Memory, Change)

SAME_TEXT = """
SELECT id FROM memories WHERE summary_hash = ? AND state = 'live'
UNION ALL
SELECT m.id FROM memory_hashes h JOIN memories m ON m.id = h.memory_id
WHERE h.summary_hash = ? AND m.state = 'live'
LIMIT 1
"""
LIVE_HOLDER = """
SELECT ulid FROM memories WHERE summary_hash = ? AND state = 'live' AND id <> ?
"""
IN_TOPIC = """
SELECT id, summary FROM memories WHERE topic_key = ? AND state = 'live'
"""
COUNT_IN_TOPIC = """
SELECT count(*) FROM memories
WHERE topic_key = ? AND state = 'live' AND importance <> 'critical'
"""
INSERT_USAGE = """
INSERT INTO memory_usage
    (memory_id, weight, access_count, last_accessed, decayed_at, importance)
VALUES (?, 1.0, 0, ?, ?, ?)
"""
INSERT_REVISION = """
INSERT INTO memory_revisions (change_id, memory_id, before, given) VALUES (?, ?, ?, ?)
"""


def _insert_statement(model: type[Memory | Change], key: str) -> str:
    columns = [str(f.column) for f in model._meta.concrete_fields if f.column != key]
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) VALUES ({marks})"


INSERT_MEMORY = _insert_statement(Memory, "id")
INSERT_CHANGE = _insert_statement(Change, "id")
_VALUES = {
    model: attrgetter(
        *[f.attname for f in model._meta.concrete_fields if f.name != "id"]
    )
    for model in (Memory, Change)
}
_DEFAULTS = {
    model: [(field.attname, field.get_default) for field in model._meta.concrete_fields]
    for model in (Memory, Change)
}


def new(model: type[Row], **fields: Any) -> Row:
    """A row that is not stored yet, as `model(**fields)` makes it in twice the time.

    A row that another names is given by its key.
    """
    values: Any = [
        fields[name] if name in fields else default()
        for name, default in _DEFAULTS[model]
    ]
    return model(*values)


def same_text(summary_hash: str) -> int | None:
    """Key of the live memory that holds a text or into which it was merged."""
    row = raw_connection().execute(SAME_TEXT, (summary_hash, summary_hash)).fetchone()
    return None if row is None else int(row[0])


def live_holder(summary_hash: str, *, other_than: int) -> str | None:
    """Id of another live memory whose own text this is."""
    values = (summary_hash, other_than)
    row = raw_connection().execute(LIVE_HOLDER, values).fetchone()
    return None if row is None else str(row[0])


def texts_of_topic(topic_key: str) -> list[tuple[int, str]]:
    """Key and text of the live memories of a topic."""
    rows: list[tuple[int, str]] = (
        raw_connection().execute(IN_TOPIC, (topic_key,)).fetchall()
    )
    return rows


def count_in_topic(topic_key: str) -> int:
    """Live memories of a topic that are not critical."""
    count = raw_connection().execute(COUNT_IN_TOPIC, (topic_key,)).fetchone()[0]
    return int(count)


def insert_memory(memory: Memory, *, decayed_at: datetime) -> None:
    """Insert a new memory with its bookkeeping; it is as if saved by the ORM."""
    raw = raw_connection()
    values = [_stored(value) for value in _VALUES[Memory](memory)]
    memory.pk = raw.execute(INSERT_MEMORY, values).lastrowid
    last_accessed, decayed = _stored(memory.created_at), _stored(decayed_at)
    importance = str(memory.importance)
    raw.execute(INSERT_USAGE, (memory.pk, last_accessed, decayed, importance))
    memory._state.adding = False
    memory._state.db = "default"


def insert_change(
    change: Change,
    before: Mapping[int, dict[str, Any] | None],
    given: Mapping[int, dict[str, Any]],
) -> None:
    """Insert a change with its revisions, by memory key."""
    raw = raw_connection()
    values = [_stored(value) for value in _VALUES[Change](change)]
    change.pk = raw.execute(INSERT_CHANGE, values).lastrowid
    change._state.adding = False
    change._state.db = "default"
    raw.executemany(
        INSERT_REVISION,
        [
            (change.pk, key, _json_or_null(old), _json_or_null(given.get(key)))
            for key, old in before.items()
        ],
    )


def _json_or_null(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def _stored(value: Any) -> Any:
    """A field's value as Django's SQLite backend stores it."""
    kind = type(value)
    if kind is str or value is None or kind is int:
        return value
    if kind is datetime:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    if kind is list or kind is dict:
        return json.dumps(value) if value else str(value)
    return str(value) if isinstance(value, str) else value

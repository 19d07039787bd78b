"""Memories out of rows of the driver: the ORM's compiler costs more than they."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

from django.db import models

from memories.driver import raw_connection
from memories.models import Memory, MemoryUsage


def _moment(value: Any) -> datetime:
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.replace(tzinfo=UTC)


def _as_read(model: type[models.Model]) -> list[tuple[int, Callable[[Any], Any]]]:
    """Which columns are something else in Python than in the driver, and how."""
    kinds: list[tuple[type[models.Field[Any, Any]], Callable[[Any], Any]]] = [
        (models.DateTimeField, _moment),
        (models.JSONField, json.loads),
    ]
    return [
        (place, convert)
        for place, field in enumerate(model._meta.concrete_fields)
        for kind, convert in kinds
        if isinstance(field, kind)
    ]


def _columns(model: type[models.Model], table: str) -> str:
    fields = model._meta.concrete_fields
    return ", ".join(f"{table}.{field.column}" for field in fields)


_MEMORY = [field.attname for field in Memory._meta.concrete_fields]
_USAGE = [field.attname for field in MemoryUsage._meta.concrete_fields]
_MEMORY_READ, _USAGE_READ = _as_read(Memory), _as_read(MemoryUsage)

WITH_USAGE = f"""
SELECT {_columns(Memory, "m")}, {_columns(MemoryUsage, "u")}
FROM memories m LEFT JOIN memory_usage u ON u.memory_id = m.id
"""
BY_KEYS = f"{WITH_USAGE} WHERE m.id IN (SELECT value FROM json_each(?))"
BY_ID = f"{WITH_USAGE} WHERE m.ulid = ?"


def with_usage(keys: Collection[int]) -> dict[int, Memory]:
    """Memories by key, as `Memory.objects.with_usage()` gives them."""
    rows = raw_connection().execute(BY_KEYS, (json.dumps(list(keys)),)).fetchall()
    return {memory.pk: memory for memory in map(_memory, rows)}


def by_id(ulid: str) -> Memory | None:
    """The memory of an id, as `Memory.objects.with_usage()` gives it."""
    row = raw_connection().execute(BY_ID, (ulid,)).fetchone()
    return None if row is None else _memory(row)


def _memory(row: tuple[Any, ...]) -> Memory:
    size = len(_MEMORY)
    memory: Memory = _made(Memory, _MEMORY, _MEMORY_READ, row[:size])
    usage = None
    if row[size] is not None:
        usage = _made(MemoryUsage, _USAGE, _USAGE_READ, row[size:])
        usage._state.fields_cache["memory"] = memory
    memory._state.fields_cache["usage"] = usage
    return memory


def _made(
    model: type[models.Model],
    names: list[str],
    read: list[tuple[int, Callable[[Any], Any]]],
    row: tuple[Any, ...],
) -> Any:
    values = list(row)
    for place, convert in read:
        if values[place] is not None:
            values[place] = convert(values[place])
    return model.from_db("default", names, values)

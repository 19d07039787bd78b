"""mem0: the JSON of its export or of `get_all`, and its table `history`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import database, json_file, staging
from icm_site.exchange.foreign.moments import moment
from icm_site.exchange.foreign.staging import Notes, Row

PROGRAM = "mem0"
WHOSE = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role")
FIELDS = (
    *(*WHOSE, "id", "memory", "data", "hash", "score", "metadata", "categories"),
    *("created_at", "updated_at", "expiration_date", "immutable", "type", "owner"),
)
HISTORY = (
    *("memory_id", "old_memory", "new_memory", "prev_value", "new_value", "event"),
    *("created_at", "updated_at", "timestamp", "is_deleted", "actor_id", "role"),
)


def matches(head: bytes) -> bool:
    """Whether a file begins as the JSON of that program does."""
    start = head.lstrip()
    whose = any(f'"{name}"'.encode() in head for name in (*WHOSE, "hash", "categories"))
    return start[:1] in (b"[", b"{") and b'"memory"' in head and whose


def matches_database(raw: sqlite3.Connection) -> bool:
    """Whether a SQLite file has that program's table."""
    held = set(database.columns(raw, "history"))
    return {"memory_id", "event"} <= held


def rows(path: Path, notes: Notes, *, project: str) -> Iterator[Row]:
    """The memories, those that were deleted there hidden here. Raises InvalidInput."""
    with path.open("rb") as file:
        is_database = file.read(16) == database.MAGIC
    if is_database:
        with database.opened(path) as raw:
            if not matches_database(raw):
                raise InvalidInput(f"{path} is no database of mem0")
            yield from _history(raw, notes, project)
        return
    for number, record in enumerate(_records(path, notes), 1):
        text = record.get("memory", record.get("data"))
        if not isinstance(text, str):
            raise InvalidInput(f"entry {number} of {path} is no memory of mem0")
        notes.unknown("memory", record, FIELDS)
        yield from _memory(record, text, notes, project)


def _records(path: Path, notes: Notes) -> Iterator[Mapping[str, Any]]:
    """The memories of a list, or of an object with `results` or `memories`."""
    for number, entry in enumerate(json_file.entries(path), 1):
        if not isinstance(entry, dict):
            raise InvalidInput(f"entry {number} of {path} is no object")
        if entry.get("relations"):
            notes.add(f"relations between entities: {len(entry['relations'])} left out")
        inner = entry.get("results", entry.get("memories"))
        for each in inner if isinstance(inner, list) else [entry]:
            if not isinstance(each, dict):
                raise InvalidInput(f"{path} has a memory that is no object")
            yield each


def _memory(
    record: Mapping[str, Any], text: str, notes: Notes, project: str
) -> Iterator[Row]:
    groups = record.get("categories")
    words = [str(each) for each in groups] if isinstance(groups, list) else []
    about = record.get("metadata")
    created = moment(record.get("created_at"))
    made = staging.memory(
        program=PROGRAM,
        key=str(record.get("id") or text),
        topic=staging.topic(words[0] if words else PROGRAM, project),
        text=text,
        notes=notes,
        at=created,
        keywords=words,
        source={name: str(record[name]) for name in WHOSE if record.get(name)},
        metadata=about if isinstance(about, dict) else {},
    )
    if made:
        changed = moment(record.get("updated_at") or record.get("created_at"))
        yield made | {"updated_at": changed.isoformat()}


def _history(raw: sqlite3.Connection, notes: Notes, project: str) -> Iterator[Row]:
    """A memory for each id: its last text, the earlier ones in its metadata."""
    if "messages" in database.tables(raw):
        notes.table("messages", database.count(raw, "messages"), "holds what was said")
    held = set(database.columns(raw, "history")) & set(HISTORY)
    names = ", ".join(sorted(held))
    last: list[dict[str, Any]] = []
    for found in raw.execute(f"SELECT {names} FROM history ORDER BY memory_id, rowid"):
        row = dict.fromkeys(HISTORY) | dict(found)
        if last and row["memory_id"] != last[0]["memory_id"]:
            yield from _lived(last, notes, project)
            last = []
        last.append(row)
    if last:
        yield from _lived(last, notes, project)


def _lived(events: list[dict[str, Any]], notes: Notes, project: str) -> Iterator[Row]:
    texts = [
        (str(event["new_memory"] or event["new_value"]), _at(event))
        for event in events
        if event["new_memory"] or event["new_value"]
    ]
    if not texts and (old := events[-1]["old_memory"] or events[-1]["prev_value"]):
        texts = [(str(old), _at(events[-1]))]
    if not texts:
        notes.add("a memory without any text was left out")
        return
    gone = bool(events[-1]["is_deleted"]) or events[-1]["event"] == "DELETE"
    if gone:
        notes.add("a memory that was deleted there came in hidden")
    earlier = [{"text": text, "at": moment(at).isoformat()} for text, at in texts[:-1]]
    record = {
        "id": events[0]["memory_id"],
        "created_at": texts[0][1],
        "updated_at": _at(events[-1]),
        "metadata": {"earlier": earlier} if earlier else {},
        **{name: events[-1][name] for name in ("actor_id", "role")},
    }
    for row in _memory(record, texts[-1][0], notes, project):
        yield row | ({"state": "forgotten"} if gone else {})


def _at(event: Mapping[str, Any]) -> Any:
    return event["updated_at"] or event["created_at"] or event["timestamp"]

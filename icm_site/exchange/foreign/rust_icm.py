"""`memories.db` of the Rust program of the same name, read and never written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import staging
from icm_site.exchange.foreign.staging import NO_TIME, Notes, Row
from icm_site.text import cut
from icm_site.ulid import is_ulid
from memoirs.relations import parse

PROGRAM = "rust-icm"
MAGIC = b"SQLite format 3\0"
# Base tables, and the columns that have a place here or are derived.
TABLES: Mapping[str, tuple[str, ...]] = {
    "memories": (
        *("id", "created_at", "updated_at", "last_accessed", "access_count", "weight"),
        *("topic", "summary", "raw_excerpt", "keywords", "importance", "source_type"),
        *("source_data", "related_ids", "summary_hash", "embedding"),
    ),
    "memoirs": (
        *("id", "name", "description", "created_at", "updated_at"),
        "consolidation_threshold",
    ),
    "concepts": (
        *("id", "memoir_id", "name", "definition", "labels", "confidence", "revision"),
        *("created_at", "updated_at", "source_memory_ids"),
    ),
    "concept_links": (
        *("id", "source_id", "target_id", "relation", "weight", "created_at"),
    ),
    "feedback": (
        *("id", "topic", "context", "predicted", "corrected", "reason", "source"),
        *("created_at", "applied_count", "embedding"),
    ),
}
IMPORTANCE = ("critical", "high", "medium", "low")
SOURCES = ("manual", "claude_code", "conversation")
_PASSING = ("icm_metadata", "hook_events", "sqlite_sequence")


def matches(path: Path) -> bool:
    """Whether a SQLite file has that program's tables. Raises InvalidInput."""
    with closing(_opened(path)) as raw:
        try:
            return "related_ids" in _columns(raw, "memories")
        except sqlite3.Error as error:
            raise InvalidInput(f"{path} cannot be read: {error}") from error


def rows(path: Path, notes: Notes) -> Iterator[Row]:
    """All that has a place here, ids and times kept. Raises InvalidInput."""
    with closing(_opened(path)) as raw:
        try:
            if "related_ids" not in _columns(raw, "memories"):
                raise InvalidInput(f"{path} is no database of the Rust program")
            _name_others(raw, notes)
            yield from _all(raw, notes)
        except sqlite3.Error as error:
            raise InvalidInput(f"{path} cannot be read: {error}") from error


def _opened(path: Path) -> sqlite3.Connection:
    """Read only, with nothing of the file's schema trusted."""
    try:
        with path.open("rb") as file:
            if file.read(16) != MAGIC:
                raise InvalidInput(f"{path} is no SQLite database")
        raw = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except (OSError, sqlite3.Error) as error:
        raise InvalidInput(f"{path} cannot be opened: {error}") from error
    raw.row_factory = sqlite3.Row
    raw.execute("PRAGMA trusted_schema = OFF")
    raw.execute("PRAGMA query_only = ON")
    return raw


def _names(raw: sqlite3.Connection) -> set[str]:
    """Real tables: a view could be anything."""
    found = raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    return {row[0] for row in found}


def _columns(raw: sqlite3.Connection, table: str) -> list[str]:
    if table not in _names(raw):
        return []
    return [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]


def _name_others(raw: sqlite3.Connection, notes: Notes) -> None:
    for table in sorted(_names(raw)):
        if table in TABLES:
            notes.unknown(table, _columns(raw, table), TABLES[table])
        elif table not in _PASSING and "_fts" not in table and "vec_" not in table:
            quoted = table.replace('"', '""')
            count = raw.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0]
            if count:
                notes.add(
                    f"table {table[:60]!r} has no place here: {count} rows left out"
                )


def _all(raw: sqlite3.Connection, notes: Notes) -> Iterator[Row]:
    ids: set[str] = set()
    for row in _read(raw, "memories"):
        made = _memory(row, notes)
        if made:
            ids.add(made["id"])
            yield made
    for row in _read(raw, "memories"):
        yield from _related(row, ids)
    memoirs, concepts = set[str](), set[str]()
    for row in _read(raw, "memoirs"):
        memoirs.add(_id(row["id"], row))
        yield _memoir(row)
    for row in _read(raw, "concepts"):
        if _id(row["memoir_id"], {}) in memoirs:
            concepts.add(_id(row["id"], row))
            yield _concept(row, ids)
        else:
            notes.add("a concept of a memoir that is gone was left out")
    for row in _read(raw, "concept_links"):
        ends = {_id(row["source_id"], {}), _id(row["target_id"], {})}
        if len(ends) == 2 and ends <= concepts:
            yield _link(row)
        else:
            notes.add("a link to a concept that is gone was left out")
    yield from (_feedback(row) for row in _read(raw, "feedback"))


def _read(raw: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    columns = [name for name in TABLES[table] if name in _columns(raw, table)]
    columns = [name for name in columns if name != "embedding"]
    if not columns:
        return
    for row in raw.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"):
        values = dict.fromkeys(TABLES[table]) | dict(row)
        yield {
            name: v.decode("utf-8", "replace") if isinstance(v, bytes) else v
            for name, v in values.items()
        }


def _id(value: Any, row: Mapping[str, Any]) -> str:
    text = str(value or "")
    return text.upper() if is_ulid(text) else staging.ulid(PROGRAM, text, NO_TIME)


def _time(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return NO_TIME


def _list(value: Any) -> list[Any]:
    try:
        found = json.loads(value or "[]")
    except (TypeError, ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _memory(row: Mapping[str, Any], notes: Notes) -> Row | None:
    at = _time(row["created_at"])
    level = str(row["importance"]).lower()
    if level not in IMPORTANCE:
        notes.add(f"importance {level[:30]!r} is unknown and became medium")
    source = str(row["source_type"])
    made = staging.memory(
        program=PROGRAM,
        key=str(row["id"]),
        topic=staging.topic(str(row["topic"])),
        text=str(row["summary"] or ""),
        notes=notes,
        at=at,
        keywords=[str(word) for word in _list(row["keywords"])],
        importance=level if level in IMPORTANCE else "medium",
        excerpt=str(row["raw_excerpt"]).replace("\0", "")
        if row["raw_excerpt"]
        else None,
        source={"given": str(row["source_data"])} if row["source_data"] else {},
    )
    if made is None:
        return None
    return made | {
        "id": _id(row["id"], row),
        "updated_at": _time(row["updated_at"] or row["created_at"]).isoformat(),
        "last_accessed": _time(row["last_accessed"]).isoformat(),
        "access_count": max(int(row["access_count"] or 0), 0),
        "weight": float(1.0 if row["weight"] is None else row["weight"]),
        "source_type": source if source in SOURCES else "conversation",
    }


def _related(row: Mapping[str, Any], ids: set[str]) -> Iterator[Row]:
    source = _id(row["id"], row)
    for other in dict.fromkeys(_id(each, {}) for each in _list(row["related_ids"])):
        if {source, other} <= ids and source != other:
            # No id of its own: the two ends and the kind are the link.
            yield {
                "type": "link",
                "source": source,
                "target": other,
                "kind": "related",
                "score": 1.0,
            }


def _memoir(row: Mapping[str, Any]) -> Row:
    return {
        "type": "memoir",
        "id": _id(row["id"], row),
        "name": str(row["name"]),
        "description": str(row["description"] or ""),
        "threshold": int(row["consolidation_threshold"] or 50),
        "created_at": _time(row["created_at"]).isoformat(),
        "updated_at": _time(row["updated_at"]).isoformat(),
    }


def _concept(row: Mapping[str, Any], ids: set[str]) -> Row:
    labels = [
        f"{label.get('namespace')}:{label.get('value')}"
        if isinstance(label, dict)
        else str(label)
        for label in _list(row["labels"])
    ]
    sources = [_id(each, {}) for each in _list(row["source_memory_ids"])]
    return {
        "type": "concept",
        "id": _id(row["id"], row),
        "memoir": _id(row["memoir_id"], {}),
        "name": str(row["name"]),
        "definition": cut(str(row["definition"]), 10_000),
        "labels": labels,
        "confidence": min(max(float(row["confidence"] or 0.0), 0.0), 1.0),
        "revision": max(int(row["revision"] or 1), 1),
        "source_memory_ids": [each for each in sources if each in ids],
        "origin": "import",
        "created_at": _time(row["created_at"]).isoformat(),
        "updated_at": _time(row["updated_at"]).isoformat(),
    }


def _link(row: Mapping[str, Any]) -> Row:
    return {
        "type": "concept_link",
        "id": _id(row["id"], row),
        "source": _id(row["source_id"], {}),
        "target": _id(row["target_id"], {}),
        "relation": str(parse(str(row["relation"])).value),
        "weight": float(1.0 if row["weight"] is None else row["weight"]),
        "origin": "import",
        "created_at": _time(row["created_at"]).isoformat(),
    }


def _feedback(row: Mapping[str, Any]) -> Row:
    texts = ("topic", "context", "predicted", "corrected", "reason", "source")
    return {
        "type": "feedback",
        "id": _id(row["id"], row),
        **{name: str(row[name] or "").replace("\0", "") for name in texts},
        "created_at": _time(row["created_at"]).isoformat(),
        "applied_count": max(int(row["applied_count"] or 0), 0),
        "memory": None,
        "correction": None,
    }

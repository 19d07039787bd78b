"""`memories.db` of the Rust program of the same name, read and never written."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import database, nearest, staging
from icm_site.exchange.foreign.moments import moment
from icm_site.exchange.foreign.staging import NO_TIME, Notes, Row
from icm_site.text import cut
from icm_site.ulid import is_ulid
from memoirs.validation import TEXT_BYTES

PROGRAM = "rust-icm"
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


def matches(raw: sqlite3.Connection) -> bool:
    """Whether a SQLite file has that program's tables."""
    return "related_ids" in database.columns(raw, "memories")


def rows(path: Path, notes: Notes) -> Iterator[Row]:
    """All that has a place here, ids and times kept. Raises InvalidInput."""
    with database.opened(path) as raw:
        if not matches(raw):
            raise InvalidInput(f"{path} is no database of the Rust program")
        _name_others(raw, notes)
        yield from _all(raw, notes)


def _name_others(raw: sqlite3.Connection, notes: Notes) -> None:
    for table in sorted(database.tables(raw)):
        if table in TABLES:
            notes.unknown(table, database.columns(raw, table), TABLES[table])
        elif table not in _PASSING and "_fts" not in table and "vec_" not in table:
            notes.table(table, database.count(raw, table))


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
    said = _said(raw, notes)
    for row in _read(raw, "concepts"):
        if _id(row["memoir_id"], {}) in memoirs:
            concepts.add(_id(row["id"], row))
            yield _concept(row, ids, said.get(str(row["id"]), ()), notes)
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
    wanted = tuple(name for name in TABLES[table] if name != "embedding")
    return database.rows(raw, table, wanted)


def _id(value: Any, row: Mapping[str, Any]) -> str:
    text = str(value or "")
    return text.upper() if is_ulid(text) else staging.ulid(PROGRAM, text, NO_TIME)


def _number(value: Any, usual: float) -> float:
    """A number from 0 up; what is none, or endless, is as usual."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return usual
    return min(number, 1e15) if math.isfinite(number) and number >= 0 else usual


def _list(value: Any) -> list[Any]:
    try:
        found = json.loads(value or "[]")
    except (TypeError, ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _memory(row: Mapping[str, Any], notes: Notes) -> Row | None:
    at = moment(row["created_at"])
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
        "updated_at": moment(row["updated_at"] or row["created_at"]).isoformat(),
        "last_accessed": moment(row["last_accessed"]).isoformat(),
        "access_count": int(_number(row["access_count"], 0.0)),
        "weight": _number(row["weight"], 1.0),
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
        "threshold": int(_number(row["consolidation_threshold"], 50.0)),
        "created_at": moment(row["created_at"]).isoformat(),
        "updated_at": moment(row["updated_at"]).isoformat(),
    }


def _said(raw: sqlite3.Connection, notes: Notes) -> Mapping[str, list[str]]:
    """What links say that are none of our nine relations, by their source."""
    names = {str(row["id"]): str(row["name"]) for row in _read(raw, "concepts")}
    found: dict[str, list[str]] = {}
    for row in _read(raw, "concept_links"):
        word, target = str(row["relation"]), names.get(str(row["target_id"]))
        kind, same = nearest.relation(word)
        if same or target is None:
            continue
        found.setdefault(str(row["source_id"]), []).append(f"{word}: {target}")
        notes.add(
            f"relation {word[:40]!r} became {kind.value}, and its word a line of the "
            "concept"
        )
    return found


def _concept(
    row: Mapping[str, Any], ids: set[str], said: Sequence[str], notes: Notes
) -> Row:
    definition = "\n".join([str(row["definition"] or ""), *said])
    if len(definition.encode("utf-8", "replace")) > TEXT_BYTES:
        notes.add(f"a concept had more than {TEXT_BYTES} bytes of text and was cut")
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
        "definition": cut(definition, TEXT_BYTES),
        "labels": labels,
        "confidence": min(max(_number(row["confidence"], 0.5), 0.0), 1.0),
        "revision": max(int(_number(row["revision"], 1.0)), 1),
        "source_memory_ids": [each for each in sources if each in ids],
        "origin": "import",
        "created_at": moment(row["created_at"]).isoformat(),
        "updated_at": moment(row["updated_at"]).isoformat(),
    }


def _link(row: Mapping[str, Any]) -> Row:
    return {
        "type": "concept_link",
        "id": _id(row["id"], row),
        "source": _id(row["source_id"], {}),
        "target": _id(row["target_id"], {}),
        "relation": str(nearest.relation(str(row["relation"]))[0].value),
        "weight": _number(row["weight"], 1.0),
        "origin": "import",
        "created_at": moment(row["created_at"]).isoformat(),
    }


def _feedback(row: Mapping[str, Any]) -> Row:
    texts = ("topic", "context", "predicted", "corrected", "reason", "source")
    return {
        "type": "feedback",
        "id": _id(row["id"], row),
        **{name: str(row[name] or "").replace("\0", "") for name in texts},
        "created_at": moment(row["created_at"]).isoformat(),
        "applied_count": int(_number(row["applied_count"], 0.0)),
        "memory": None,
        "correction": None,
    }

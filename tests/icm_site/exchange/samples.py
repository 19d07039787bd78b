"""Files of other programs, made in the form those programs write."""

# ruff: noqa: E501

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

A, B = "01HZY3V5K0000000000000000A", "01HZY3V5K0000000000000000B"

# Columns as crates/icm-store/src/schema.rs makes them.
RUST = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, created_at TEXT NOT NULL, updated_at TEXT NOT NULL DEFAULT '',
    last_accessed TEXT NOT NULL, access_count INTEGER DEFAULT 0, weight REAL DEFAULT 1.0,
    topic TEXT NOT NULL, summary TEXT NOT NULL, raw_excerpt TEXT, keywords TEXT,
    importance TEXT NOT NULL, source_type TEXT NOT NULL, source_data TEXT,
    related_ids TEXT, summary_hash TEXT, embedding BLOB, mood TEXT);
CREATE TABLE memoirs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    consolidation_threshold INTEGER NOT NULL DEFAULT 50);
CREATE TABLE concepts (
    id TEXT PRIMARY KEY, memoir_id TEXT NOT NULL, name TEXT NOT NULL,
    definition TEXT NOT NULL, labels TEXT NOT NULL DEFAULT '[]',
    confidence REAL NOT NULL DEFAULT 0.5, revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    source_memory_ids TEXT NOT NULL DEFAULT '[]');
CREATE TABLE concept_links (
    id TEXT PRIMARY KEY, source_id TEXT NOT NULL, target_id TEXT NOT NULL,
    relation TEXT NOT NULL, weight REAL NOT NULL DEFAULT 1.0, created_at TEXT NOT NULL);
CREATE TABLE feedback (
    id TEXT PRIMARY KEY, topic TEXT NOT NULL, context TEXT NOT NULL,
    predicted TEXT NOT NULL, corrected TEXT NOT NULL, reason TEXT,
    source TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL,
    applied_count INTEGER DEFAULT 0, embedding BLOB);
CREATE TABLE facts (id TEXT PRIMARY KEY, entity TEXT, key TEXT, value TEXT);
CREATE TRIGGER nasty AFTER INSERT ON memories BEGIN DELETE FROM memories; END;
"""
NOW = "2024-05-01T10:00:00.123456+00:00"


def rust(tmp_path: Path) -> Path:
    path = tmp_path / "memories.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(RUST)
        raw.execute("DROP TRIGGER nasty")
        for ulid, text, related in (
            (A, "We use Redis.", [B]),
            (B, "Deploy Fridays.", []),
        ):
            raw.execute(
                "INSERT INTO memories VALUES (?, ?, ?, ?, 3, 0.7, 'decisions-shop', ?, "
                "'raw', '[\"k\"]', 'critical', 'claude_code', '{}', ?, 'h', x'00', NULL)",
                (ulid, NOW, NOW, NOW, text, json.dumps(related)),
            )
        raw.execute(
            "INSERT INTO memoirs VALUES ('m1', 'arch', '', ?, ?, 9)", (NOW, NOW)
        )
        label = '[{"namespace": "type", "value": "part"}]'
        for name in ("api", "db"):
            raw.execute(
                "INSERT INTO concepts VALUES (?, 'm1', ?, 'x', ?, 0.6, 2, ?, ?, ?)",
                (name, name, label, NOW, NOW, json.dumps([A])),
            )
        raw.execute(
            "INSERT INTO concept_links VALUES ('l', 'api', 'db', 'depends_on', 1, ?)",
            (NOW,),
        )
        raw.execute(
            "INSERT INTO feedback VALUES ('f', 't', 'c', 'p', 'q', NULL, '', ?, 1, NULL)",
            (NOW,),
        )
        raw.execute("INSERT INTO facts VALUES ('x', 'e', 'k', 'v')")
        raw.commit()
    return path


GRAPH = "\n".join(
    json.dumps(row)
    for row in (
        {"type": "entity", "name": "Ann", "entityType": "person",
         "observations": ["Speaks Spanish"], "age": 3},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"},
        {"type": "relation", "from": "Acme", "to": "Ann", "relationType": "depends_on"},
        {"type": "relation", "from": "Ann", "to": "Gone", "relationType": "knows"},
    )
)  # fmt: skip

RULES = """---
paths: src
---
# Shop
Use uv.

## Tests
Run pytest.
```sh
# no heading
```
<!-- icm:start -->
ours
<!-- icm:end -->
"""


def files() -> list[tuple[str, bytes]]:
    """Name and content of one file of each program."""
    with tempfile.TemporaryDirectory() as folder:
        database = rust(Path(folder)).read_bytes()
    return [
        ("memories.db", database),
        ("memory.jsonl", GRAPH.encode()),
        ("CLAUDE.md", RULES.encode()),
    ]

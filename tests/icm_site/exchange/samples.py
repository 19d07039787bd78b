"""Files of other programs, made in the form those programs write."""

# ruff: noqa: E501

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

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


NOTE = """---
title: Order Service
type: note
tags: [shop, backend]
permalink: services/order-service
created: 2025-03-04
---

# Order Service

It takes orders and keeps them; see [[Payment]].

## Observations
- [decision] Orders are kept in Postgres 16 #storage (after the outage)
- [x] a task that is done
- [preference] Money is counted in cents

## Relations
- depends_on [[Payment]]
- implements [[Order API]]
- talks_to [[payment]] (by HTTP)
"""
OTHER_NOTE = """---
title: Payment
permalink: services/payment
tags: shop, money
---
```
- [decision] code is no observation
```
- part_of [[services/order-service]]
"""


def notes(folder: Path) -> Path:
    """A project of basic-memory."""
    (folder / "services").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "x.md").write_text("hidden", "utf-8")
    (folder / "services" / "Order Service.md").write_text(NOTE, "utf-8")
    (folder / "services" / "Payment.md").write_text(OTHER_NOTE, "utf-8")
    return folder


# Columns as version 35 of the schema has them.
CLAUDE_MEM = """
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL,
  memory_session_id TEXT UNIQUE, project TEXT NOT NULL, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'active');
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT,
  facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT,
  merged_into_project TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
  next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
CREATE TABLE directives (
  id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL DEFAULT 'global',
  project TEXT, content TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active',
  source TEXT NOT NULL DEFAULT 'manual', created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL);
INSERT INTO observations(memory_session_id, project, type, title, narrative, facts,
  concepts, files_modified, created_at, created_at_epoch) VALUES
  ('s1', 'shop', 'decision', 'Keep orders in Postgres', 'Two writers lost rows.',
   '["Postgres 16 is used"]', '["storage"]', '["orders.py"]',
   '2025-10-06T10:00:00.000Z', 1759744800000),
  ('s1', 'shop', 'bugfix', 'The queue stalled', NULL, 'plain text', NULL, NULL,
   '2025-10-06T10:00:01.000Z', 1759744801000);
INSERT INTO session_summaries(memory_session_id, project, request, learned, created_at,
  created_at_epoch) VALUES ('s1', 'shop', 'Fix the queue', 'NATS needs acks',
  '2025-10-06T11:00:00.000Z', 1759748400000);
INSERT INTO user_prompts(content_session_id, prompt_number, prompt_text, created_at,
  created_at_epoch) VALUES ('c1', 1, 'fix it', '2025-10-06', 1759744800000);
INSERT INTO directives(content, created_at, created_at_epoch, updated_at_epoch)
  VALUES ('Answer in Spanish', '2025-10-06', 1759744800000, 1759744800000);
"""
MEM0_HISTORY = """
CREATE TABLE history (
  id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
INSERT INTO history VALUES
  ('h1', 'm1', NULL, 'Likes tea', 'ADD', '2025-01-01T10:00:00+00:00', NULL, 0, NULL, 'user'),
  ('h2', 'm1', 'Likes tea', 'Likes coffee', 'UPDATE', '2025-01-01T10:00:00+00:00',
   '2025-02-01T10:00:00+00:00', 0, NULL, 'user'),
  ('h3', 'm2', NULL, 'Lives in Rome', 'ADD', '2025-01-01T10:00:00+00:00', NULL, 0, NULL, 'user'),
  ('h4', 'm2', 'Lives in Rome', NULL, 'DELETE', '2025-01-01T10:00:00+00:00',
   '2025-03-01T10:00:00+00:00', 1, NULL, 'user');
"""
MEM0 = json.dumps(
    {
        "count": 1, "next": None, "previous": None,
        "results": [
            {"id": "3c90c3cc-0d44-4b50-8888-8dd25736052a", "memory": "Allergic to nuts",
             "user_id": "ann", "hash": "4b5c", "metadata": {"sort": "health"},
             "categories": ["health"], "created_at": "2024-07-26T10:29:36.630547-07:00",
             "updated_at": "2024-07-27T10:29:36.630547-07:00"},
        ],
    }
)  # fmt: skip

DECISION = "We decided to keep the orders in Postgres because SQLite lost writes."
SECRET = "ghp_" + "a1B2" * 9
CLAUDE = json.dumps(
    [
        {
            "uuid": "c-1", "name": "Orders", "account": {"uuid": "a"},
            "created_at": "2025-04-01T08:00:00.000000Z",
            "updated_at": "2025-04-01T09:00:00.000000Z",
            "chat_messages": [
                {"uuid": "m-1", "sender": "human", "attachments": [], "files": [],
                 "text": f"{DECISION} The token is {SECRET}.",
                 "content": [{"type": "text", "text": f"{DECISION} The token is {SECRET}."}],
                 "created_at": "2025-04-01T08:00:01.000000Z"},
                {"uuid": "m-2", "sender": "assistant", "text": "Good.", "content": [],
                 "attachments": [{"file_name": "x", "extracted_content": "y"}],
                 "created_at": "2025-04-01T08:00:02.000000Z"},
            ],
        },
        {"uuid": "c-2", "name": "", "chat_messages": []},
    ]
)  # fmt: skip


def _node(name: str, parent: str | None, said: str | None, **more: Any) -> Any:
    message = said and {
        "id": name, "author": {"role": "user", "metadata": {}}, "create_time": 1743500000.5,
        "content": {"content_type": "text", "parts": [said]}, "recipient": "all",
        "metadata": {}, **more,
    }  # fmt: skip
    return {"id": name, "message": message, "parent": parent, "children": []}


CHATGPT = json.dumps(
    [
        {
            "title": "Orders", "create_time": 1743500000.0, "update_time": 1743600000.0,
            "mapping": {
                "root": _node("root", None, None),
                "hidden": _node("hidden", "root", "Remember that I like tea.",
                                metadata={"is_visually_hidden_from_conversation": True}),
                "left": _node("left", "hidden", "We decided to use MySQL instead."),
                "right": _node("right", "hidden", DECISION),
                "call": _node("call", "right", "We decided to call.", recipient="python"),
            },
            "current_node": "call", "conversation_id": "g-1", "id": "g-1",
        }
    ]
)  # fmt: skip
TRANSCRIPT = "\n".join(
    json.dumps(row)
    for row in (
        {"type": "summary", "summary": "Orders", "leafUuid": "u"},
        {"type": "user", "uuid": "u", "sessionId": "s-1", "cwd": "/home/ann/shop",
         "timestamp": "2025-05-01T08:00:00.000Z", "version": "2.0.1",
         "message": {"role": "user", "content": f"{DECISION} The token is {SECRET}."}},
        {"type": "assistant", "uuid": "v", "sessionId": "s-1", "cwd": "/home/ann/shop",
         "timestamp": "2025-05-01T08:00:09.000Z",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}},
    )
) + "\n"  # fmt: skip


def database(path: Path, script: str) -> Path:
    """A SQLite file made by a script."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.executescript(script)
    return path


def files() -> list[tuple[str, bytes]]:
    """Name and content of one file of each program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = {
            "memories.db": rust(folder),
            "claude-mem.db": database(folder / "c.db", CLAUDE_MEM),
            "history.db": database(folder / "h.db", MEM0_HISTORY),
        }
        databases = [(name, path.read_bytes()) for name, path in made.items()]
    texts = {
        "memory.jsonl": GRAPH,
        "CLAUDE.md": RULES,
        "Order Service.md": NOTE,
        "mem0.json": MEM0,
        "claude.json": CLAUDE,
        "chatgpt.json": CHATGPT,
        "session.jsonl": TRANSCRIPT,
    }
    return databases + [(name, text.encode()) for name, text in texts.items()]

"""Files of other programs, in the form those programs write."""

# ruff: noqa: E501

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from icm_site.exchange import loading, reading
from icm_site.exchange.foreign import programs, staging
from memoirs.models import Concept, ConceptLink
from memories import history
from memories.models import Change, Memory, MemoryLink, State
from tests.icm_site.exchange import worlds

pytestmark = pytest.mark.django_db

IMPORTER = Caller(surface="cli", origin="import")
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


def bring(path: Path) -> tuple[loading.Loaded, staging.Notes]:
    notes = staging.Notes()
    found = programs.rows(programs.detect(path), path, notes, project="shop")
    with staging.staged(found) as stream:
        checked = reading.check(stream)
        stream.seek(0)
        done = loading.load(
            stream, checked, mask=worlds.same, dry_run=False, caller=IMPORTER
        )
    return done, notes


def test_the_rust_database_comes_with_ids_times_and_graph(tmp_path: Path) -> None:
    path = rust(tmp_path)
    before = path.read_bytes()
    done, notes = bring(path)
    memory = Memory.objects.get(ulid=A)
    assert (memory.importance, memory.origin) == ("critical", "import")
    assert memory.created_at.isoformat() == NOW
    assert (memory.usage.access_count, memory.usage.weight) == (3, 0.7)
    assert MemoryLink.objects.get().target.ulid == B
    assert Concept.objects.get(name="api").labels == ["type:part"]
    assert ConceptLink.objects.get().relation == "depends_on"
    assert done.tallies["feedback"].new == 1
    said = "\n".join(notes.said())
    assert "field 'mood'" in said
    assert "table 'facts' has no place here: 1 rows" in said
    assert path.read_bytes() == before
    again, _ = bring(path)
    assert (again.new, again.differing) == (0, 0)
    history.undo(Change.objects.get().ulid, caller=IMPORTER, now=memory.created_at)
    assert set(Memory.objects.values_list("state", flat=True)) == {State.FORGOTTEN}
    assert bring(path)[0].new == 0


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


def test_server_memory_becomes_a_memoir(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(GRAPH + "\n", "utf-8")
    done, notes = bring(path)
    ann = Concept.objects.get(name="Ann")
    assert ann.definition == "Speaks Spanish\nworks_at: Acme"
    assert ann.labels == ["type:person"]
    relations = set(ConceptLink.objects.values_list("relation", flat=True))
    assert relations == {"related_to", "depends_on"}
    said = "\n".join(notes.said())
    assert "field 'age'" in said
    assert "not there and was left out" in said
    assert done.tallies["concept"].new == 2
    assert bring(path)[0].new == 0


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


def test_rules_become_a_memory_for_each_section(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_text(RULES, "utf-8")
    bring(path)
    assert sorted(Memory.objects.values_list("topic", "summary", "importance")) == [
        ("rules-shop", "Shop\nUse uv.", "medium"),
        ("rules-shop", "Shop > Tests\nRun pytest.\n```sh\n# no heading\n```", "medium"),
    ]
    assert bring(path)[0].new == 0


HOSTILE = (
    ("x.db", b"SQLite format 3\0" + b"\xff" * 200, "cannot be read|not a database"),
    ("x.zip", b"PK\x03\x04rest", "unpack it first"),
    ("CLAUDE.md", b"\xff\xfe\x00", "not UTF-8"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n{"type":', "is not JSON"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n[]', "no JSON object"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n\xff', "not UTF-8"),
)


@pytest.mark.parametrize(("name", "data", "why"), HOSTILE, ids=range(6))
def test_a_hostile_file_is_one_sentence(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput, match=why):
        bring(tmp_path / name)
    assert not Memory.objects.exists()

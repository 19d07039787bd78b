"""Notes, databases and conversations of other programs, as these write them."""

from __future__ import annotations

import errno
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from icm_site.errors import InvalidInput
from icm_site.exchange import import_command, reading
from icm_site.exchange.foreign import json_file, programs, server_memory, staging
from icm_site.exchange.foreign.moments import moment
from memoirs.models import Concept, ConceptLink
from memories.models import Memory
from tests.icm_site.exchange import samples
from tests.icm_site.exchange.test_foreign import bring

pytestmark = pytest.mark.django_db


def file(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(dict(samples.files())[name])
    return path


def memories() -> list[tuple[str, str, str]]:
    """Topic, text and day of all that is stored."""
    return sorted(
        (memory.topic, memory.summary, memory.created_at.date().isoformat())
        for memory in Memory.objects.all()
    )


NAMED = (
    ("memories.db", "rust-icm"),
    ("memory.jsonl", "server-memory"),
    ("Order Service.md", "basic-memory"),
    ("claude-mem.db", "claude-mem"),
    ("history.db", "mem0"),
    ("mem0.json", "mem0"),
    ("claude.json", "claude"),
    ("chatgpt.json", "chatgpt"),
    ("session.jsonl", "claude-code"),
    ("CLAUDE.md", "rules"),
)


@pytest.mark.parametrize(("name", "program"), NAMED, ids=[name for name, _ in NAMED])
def test_each_file_is_known_read_only_and_adds_nothing_twice(
    tmp_path: Path, name: str, program: str
) -> None:
    path = file(tmp_path, name)
    before = path.read_bytes()
    assert programs.detect(path) == program
    assert bring(path)[0].new > 0
    assert not Memory.objects.exclude(origin="import").exists()
    again, _ = bring(path)
    assert (again.new, again.differing) == (0, 0)
    assert path.read_bytes() == before


def test_the_command_offers_every_program() -> None:
    assert (programs.OWN, *programs.NAMES) == import_command.PROGRAMS


def test_notes_become_a_memoir_and_observations_memories(tmp_path: Path) -> None:
    _, notes = bring(samples.notes(tmp_path / "notes"))
    assert memories() == [
        (
            "decisions",
            "Order Service: Orders are kept in Postgres 16 #storage (after the outage)",
            "2025-03-04",
        ),
        ("preferences", "Order Service: Money is counted in cents", "2025-03-04"),
    ]
    orders = Concept.objects.get(name="Order Service")
    assert orders.labels == ["type:note", "tag:shop", "tag:backend"]
    assert "- [x] a task that is done" in orders.definition
    # Words that are none of our relations, and a note that is not there, stay as text.
    assert "talks_to: payment" in orders.definition
    assert "implements: Order API" in orders.definition
    links = ConceptLink.objects.values_list("source__name", "relation", "target__name")
    assert set(links) == {
        ("Order Service", "depends_on", "Payment"),
        ("Order Service", "related_to", "Payment"),
        ("Payment", "part_of", "Order Service"),
    }
    assert Memory.objects.get(topic="decisions").keywords == [
        *("kind:decision", "storage", "shop", "backend")
    ]
    assert any("not there became a line" in said for said in notes.said())


def test_claude_mem_comes_with_its_times_projects_and_files(tmp_path: Path) -> None:
    _, notes = bring(file(tmp_path, "claude-mem.db"))
    assert memories() == [
        (
            "context-shop",
            "Request: Fix the queue\nLearned: NATS needs acks",
            "2025-10-06",
        ),
        (
            "decisions-shop",
            "Keep orders in Postgres\nTwo writers lost rows.\n- Postgres 16 is used",
            "2025-10-06",
        ),
        ("errors-resolved-shop", "The queue stalled\n- plain text", "2025-10-06"),
        ("preferences", "Answer in Spanish", "2025-10-06"),
    ]
    decision = Memory.objects.get(topic="decisions-shop")
    assert decision.source_data["files"] == ["orders.py"]
    assert (decision.agent_session, decision.importance) == ("s1", "medium")
    assert any("'user_prompts' holds what was typed" in said for said in notes.said())


def test_mem0_comes_with_earlier_texts_and_what_was_deleted_hidden(
    tmp_path: Path,
) -> None:
    bring(file(tmp_path, "history.db"))
    bring(file(tmp_path, "mem0.json"))
    coffee = Memory.objects.get(summary="Likes coffee")
    assert coffee.metadata["earlier"] == [
        {"text": "Likes tea", "at": "2025-01-01T10:00:00+00:00"}
    ]
    assert Memory.objects.get(summary="Lives in Rome").state == "forgotten"
    nuts = Memory.objects.get(summary="Allergic to nuts")
    assert (nuts.topic, nuts.keywords) == ("health", ["health"])
    assert (nuts.metadata, nuts.source_data["user_id"]) == ({"sort": "health"}, "ann")
    assert nuts.created_at.isoformat() == "2024-07-26T17:29:36.630547+00:00"


@pytest.mark.parametrize(
    ("name", "day", "topic"),
    [
        ("claude.json", "2025-04-01", "decisions"),
        ("chatgpt.json", "2025-04-01", "decisions"),
        ("session.jsonl", "2025-05-01", "decisions-shop"),
    ],
)
def test_conversations_leave_facts_without_secrets_at_the_time_of_the_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, day: str, topic: str
) -> None:
    path = file(tmp_path, name)
    import_command.main([str(path), "--no-backup"])
    # The branch that the person left, what is hidden, and what went to a tool are not.
    assert [(t, d) for t, text, d in memories() if samples.DECISION in text] == [
        (topic, day)
    ]
    assert all("MySQL" not in text and "tea" not in text for _, text, _ in memories())
    memory = Memory.objects.get(summary__contains="Postgres")
    assert (memory.importance, memory.origin) == ("medium", "import")
    assert samples.SECRET not in repr(list(Memory.objects.values()))
    if samples.SECRET in path.read_text("utf-8"):
        assert "Secrets were masked: github-token" in capsys.readouterr().err


WRONG = (
    ("chatgpt", "[{}]", "entry 1 of .* is no conversation of ChatGPT"),
    ("claude", "[3]", "entry 1 of .* is no conversation of claude.ai"),
    ("claude", '[{"chat_messages": []},', "not JSON, or cut off, at entry 2"),
    ("claude", '[{"chat_messages": []} 3]', "not JSON, or cut off, at entry 1"),
    ("claude", "", "not JSON, or cut off, at entry 1"),
    ("mem0", '{"results": [{"id": 1}]}', "entry 1 of .* is no memory of mem0"),
    ("mem0", '["x"]', "entry 1 of .* is no object"),
    ("claude-mem", "text", "is no SQLite database"),
    ("claude-code", "{}", "is no transcript of Claude Code"),
    ("basic-memory", "---\ntitle: [\n---\n", "the head of .* is not YAML"),
)


@pytest.mark.parametrize(("program", "text", "why"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_one_sentence_and_changes_nothing(
    tmp_path: Path, program: str, text: str, why: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=why):
        import_command.main([str(path), "--from", program, "--no-backup"])
    assert not Memory.objects.exists()


def test_a_disk_that_fails_to_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, "memory.jsonl")

    def fails(self: reading.Reader) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(reading.Reader, "rows", fails)
    with pytest.raises(InvalidInput, match="cannot read .*: Input/output error"):
        import_command.main([str(path)])


def test_a_line_without_end_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_memory, "LINE_BYTES", 1 << 20)
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b'{"type":"entity","name":"' + b"x" * (2 << 20))
    with pytest.raises(InvalidInput, match="is longer than 1 MiB"):
        import_command.main([str(path), "--from", "server-memory"])


def test_a_folder_of_nothing_known_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="neither transcripts of Claude Code nor"):
        import_command.main([str(tmp_path)])
    with pytest.raises(InvalidInput, match="is a folder; name the file of mem0"):
        import_command.main([str(tmp_path), "--from", "mem0"])


def test_an_array_is_read_entry_by_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    values: list[Any] = [12345678, "x" * 99, {"a": [None, 1.5]}, [], "", -3]
    path.write_text(json.dumps(values, indent=1), "utf-8")
    for piece in (1, 2, 7, 1000):
        monkeypatch.setattr(json_file, "PIECE", piece)
        assert list(json_file.entries(path)) == values
    path.write_text("[" * 100_000, "utf-8")
    with pytest.raises(InvalidInput, match="at entry 1"):
        list(json_file.entries(path))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("2025-04-01T08:00:00.5Z", "2025-04-01T08:00:00.500000+00:00"),
        ("2025-04-01", "2025-04-01T00:00:00+00:00"),
        (1743500000.5, "2025-04-01T09:33:20.500000+00:00"),
        ("1743500000500", "2025-04-01T09:33:20.500000+00:00"),
        ("x", "1970-01-01T00:00:00+00:00"),
        (None, "1970-01-01T00:00:00+00:00"),
        (-1, "1970-01-01T00:00:00+00:00"),
        (1e40, "1970-01-01T00:00:00+00:00"),
        ([], "1970-01-01T00:00:00+00:00"),
    ],
)
def test_times_are_read_in_every_form(given: object, found: str) -> None:
    assert moment(given).isoformat() == found


def test_a_relation_of_the_rust_program_that_is_none_of_ours_is_kept(
    tmp_path: Path,
) -> None:
    path = samples.rust(tmp_path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE concept_links SET relation = 'requires', weight = 9e999")
    _, notes = bring(path)
    link = ConceptLink.objects.get()
    assert (link.relation, link.weight) == ("depends_on", 1.0)
    assert Concept.objects.get(name="api").definition == "x\nrequires: db"
    assert "relation 'requires' became depends_on" in "\n".join(notes.said())


def test_notes_are_counted_and_named() -> None:
    notes = staging.Notes()
    notes.add("a")
    notes.add("a")
    notes.table("t", 0)
    assert list(notes.said()) == ["Note: a (2 times)"]

"""Transcripts of the hosts are read in order of time; what is unknown is skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from icm_site.errors import InvalidInput
from memories import transcripts
from memories.transcripts import Turn, read_file, turns

SAMPLES = Path(__file__).parent / "transcripts"
FAILED = "test brew::tests::steep_time ... FAILED"


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.jsonl")), ids=lambda f: f.stem)
def test_each_host_is_read(file: Path) -> None:
    found = read_file(file)
    said = [turn.text for turn in found if turn.role == "user"]
    assert any("NATS JetStream" in text for text in said)
    answers = [turn.text for turn in found if turn.role == "assistant"]
    assert any("Clone" in text for text in answers)
    everything = "\n".join(turn.text for turn in found)
    for injected in ("icm notes", "environment_context", "permissions instructions"):
        assert injected not in everything
    for hidden in ("Check the config first.", "check tests", "local-command-stdout"):
        assert hidden not in everything
    if file.stem != "cursor":
        assert any(FAILED in turn.text for turn in found if turn.role == "tool")


def test_a_message_written_twice_is_read_once_and_a_rewound_one_not_at_all() -> None:
    found = read_file(SAMPLES / "gemini-cli.jsonl")
    texts = [turn.text for turn in found]
    assert texts.count("Noted. Running the tests.") == 1
    assert "wrong branch, undo" not in texts


def test_events_that_repeat_messages_are_left_out() -> None:
    texts = [turn.text for turn in read_file(SAMPLES / "codex-cli.jsonl")]
    assert len(texts) == len(set(texts))


def lines(*records: object) -> str:
    return "\n".join(json.dumps(record) for record in records)


def test_lines_are_sorted_by_time() -> None:
    text = lines(
        {"role": "user", "content": "second", "timestamp": "2026-01-02T00:00:00Z"},
        {"role": "user", "content": "first", "timestamp": "2026-01-01T00:00:00Z"},
    )
    assert [turn.text for turn in turns(text)] == ["first", "second"]


def test_results_of_the_memory_itself_are_left_out() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "mcp__icm__icm_memory_recall"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "old memory"}
    text = lines(
        {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    )
    assert turns(text) == []


@pytest.mark.parametrize(
    "record",
    [
        {"role": "developer", "content": "instructions"},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "x"}},
        {"role": "user", "content": None},
        {"role": "user", "content": [{"type": "image"}, 7, None]},
        {"role": 3, "content": "x"},
        {"type": "response_item", "payload": {"type": "message", "role": []}},
        {"info": {"role": "user"}, "parts": "none"},
        {"$set": {"messages": "none"}},
        {"$rewindTo": "nobody"},
    ],
)
def test_odd_records_say_nothing(record: object) -> None:
    assert turns(lines(record)) == []


def test_one_object_with_messages_is_read_too() -> None:
    old = {"messages": [{"type": "user", "content": "hello"}]}
    assert [turn.text for turn in turns(json.dumps(old, indent=2))] == ["hello"]


def test_a_torn_last_line_is_skipped() -> None:
    text = lines({"role": "user", "content": "whole"}) + '\n{"role": "us'
    assert turns(text) == [Turn("user", "whole")]


def test_only_regular_files_of_bounded_size_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="no regular file"):
        read_file(tmp_path)
    large = tmp_path / "large.jsonl"
    large.write_text("x" * 20)
    monkeypatch.setattr(transcripts, "MOST_BYTES", 10)
    with pytest.raises(InvalidInput, match="larger than"):
        read_file(large)

"""What MCP lists, and what one call answers."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Literal

import pytest
from pydantic import Field

from icm_site import mcp_tools
from icm_site.caller import Caller
from icm_site.mcp_tools import Answer
from icm_site.operation import Operation, Params, Result, Tool
from icm_site.registry import TOOLS
from memories import listing
from memories.models import Memory
from tests.factories import AGENT, FakeEmbedder, make_memory

LEAN_BYTES = 6_000
FULL_BYTES = 20_000


class Wish(Params):
    word: str = Field(description="A word")
    many: int = Field(3, ge=1, le=9, title="How many")
    kind: Literal["a", "b"] | None = Field(None, description="Kind")
    tags: list[str] = Field(default_factory=list)
    place: str = "here"
    secret: bool = False


class Granted(Result):
    text: str


def grant(params: Wish, caller: Caller) -> Granted:
    """Grant a wish.

    Not two."""
    return Granted(text=f"{params.word} {params.many} {params.place} {params.secret}")


def tool(**fields: Any) -> Tool:
    return Tool(name="grant", **({"formats": {"text": lambda r: r.text}} | fields))


def call(name: str, *, compact: bool = False, **arguments: Any) -> Answer:
    return mcp_tools.call(name, arguments, caller=AGENT, compact=compact)


def size(rows: list[dict[str, Any]]) -> int:
    """Bytes of the list on the wire."""
    text = json.dumps({"tools": rows}, separators=(",", ":"), ensure_ascii=False)
    return len(text.encode())


def test_a_schema_has_no_titles_nulls_or_empty_defaults() -> None:
    assert mcp_tools.input_schema(Operation(run=grant), tool()) == {
        "type": "object",
        "properties": {
            "word": {"type": "string", "description": "A word"},
            "many": {"type": "integer", "default": 3, "minimum": 1, "maximum": 9},
            "kind": {"type": "string", "enum": ["a", "b"], "description": "Kind"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {"type": "string", "default": "here"},
            "secret": {"type": "boolean"},
        },
        "required": ["word"],
    }


def test_the_tool_entry_shapes_the_schema() -> None:
    schema = mcp_tools.input_schema(
        Operation(run=grant),
        tool(
            formats={"text": str, "json": str},
            ranges={"many": (1, 5)},
            required=("kind",),
            hidden=frozenset({"secret", "tags"}),
            fill={"word": lambda caller: caller.project},
        ),
    )
    assert list(schema["properties"]) == ["word", "many", "kind", "place", "format"]
    assert schema["properties"]["many"]["maximum"] == 5
    assert schema["properties"]["format"] == {
        "type": "string",
        "enum": ["text", "json"],
        "default": "text",
    }
    assert schema["required"] == ["kind"]


def test_the_lean_list_stays_small(
    capsys: pytest.CaptureFixture[str], model: FakeEmbedder
) -> None:
    lean, full = mcp_tools.listed(lean=True), mcp_tools.listed(lean=False)
    with capsys.disabled():
        print(f" [tools/list: lean {len(lean)} tools {size(lean)} bytes,", end=" ")
        print(f"full {len(full)} tools {size(full)} bytes]", end=" ")
    assert size(lean) < LEAN_BYTES
    assert size(full) < FULL_BYTES
    assert {row["name"] for row in lean} < {row["name"] for row in full}


def test_every_tool_says_what_it_does_and_hints_how() -> None:
    rows = {row["name"]: row for row in mcp_tools.listed(lean=False)}
    for row in rows.values():
        assert row["description"]
    # Without a hint a tool counts as one that writes and destroys.
    assert rows["icm_memory_recall"]["annotations"] == {"readOnlyHint": True}
    assert rows["icm_memory_forget"]["annotations"] == {}
    assert rows["icm_memory_store"]["annotations"]["destructiveHint"] is False


def test_embed_all_is_listed_only_with_an_embedder() -> None:
    names = [row["name"] for row in mcp_tools.listed(lean=False)]
    assert "icm_memory_embed_all" not in names


def test_embed_all_is_listed_where_a_model_is_configured(model: FakeEmbedder) -> None:
    names = [row["name"] for row in mcp_tools.listed(lean=False)]
    assert "icm_memory_embed_all" in names


def test_what_no_model_may_use_is_hidden() -> None:
    rows = {row["name"]: row for row in mcp_tools.listed(lean=False)}
    for row in rows.values():
        assert "allow_secret" not in row["inputSchema"]["properties"]
    assert list(rows["icm_memory_forget"]["inputSchema"]["properties"]) == ["id"]
    assert rows["icm_memory_forget"]["inputSchema"]["required"] == ["id"]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("icm_no_such", {}, "unknown tool: icm_no_such"),
        ("icm_memory_store", {"topic": "a"}, "missing required field: content"),
        ("icm_memory_store", {"content": "a"}, "missing required field: topic"),
        (
            "icm_memory_store",
            {"topic": "a", "content": None},
            "missing required field: content",
        ),
        ("icm_memory_forget", {}, "missing required field: id"),
        ("icm_memory_forget", {"topic": "a"}, "missing required field: id"),
        (
            "icm_memory_recall",
            {"query": 7},
            "query: input should be a valid string (got 7)",
        ),
        (
            "icm_memory_recall",
            {"query": "a", "limit": 2.5},
            "limit: input should be a valid integer, got a number with a fractional "
            "part (got 2.5)",
        ),
        (
            "icm_memory_recall",
            {"query": "a", "limit": True},
            "limit: input should be a valid integer",
        ),
        (
            "icm_memory_recall",
            {"query": "a", "format": "xml"},
            "format: must be one of text, json",
        ),
    ],
)
def test_bad_arguments_are_one_sentence(
    db: None, name: str, arguments: dict[str, Any], sentence: str
) -> None:
    assert call(name, **arguments) == Answer(text=sentence, failed=True)


@pytest.mark.parametrize("limit", [2, 2.0, "2", "2.0", 2.0e0])
def test_whole_numbers_may_come_in_any_spelling(db: None, limit: object) -> None:
    for number in range(3):
        make_memory(f"Shard {number} of the index is on host h{number}.")
    answer = call("icm_memory_recall", query="shard index host", limit=limit)
    assert not answer.failed
    assert answer.text.count("\nsummary: ") == 2


def test_a_number_above_its_range_is_the_highest(db: None) -> None:
    for number in range(3):
        make_memory(f"Shard {number} of the index is on host h{number}.")
    answer = call("icm_memory_recall", query="shard index host", limit=10_000)
    assert answer.text.count("\nsummary: ") == 3


def test_unknown_and_hidden_arguments_are_ignored(db: None) -> None:
    answer = call(
        "icm_memory_store",
        topic="notes",
        content="Key is AKIAIOSFODNN7EXAMPLE for the bucket.",
        allow_secret=True,
        colour="red",
        format="json",
    )
    assert answer.text.startswith("Stored memory: ")
    assert "AKIAIOSFODNN7EXAMPLE" not in Memory.objects.get().summary


def test_a_hidden_topic_forgets_nothing(db: None) -> None:
    memory = make_memory()
    call("icm_memory_forget", id=memory.ulid, topic=memory.topic)
    make_memory("Another memory of the topic.")
    assert dict(listing.topics()) == {"decisions-shop": 1}


def test_only_a_store_that_succeeds_counts_as_one(db: None) -> None:
    assert call("icm_memory_store", topic="notes", content="A fact.").stored
    assert not call("icm_memory_store", topic="notes", content=" ").stored
    assert not call("icm_memory_list_topics").stored


def test_a_failure_of_the_store_is_a_sentence(db: None) -> None:
    answer = call("icm_memory_store", topic=" ", content="A fact.")
    assert answer.failed
    assert "topic" in answer.text
    answer = call("icm_memory_forget", id="01JZZZZZZZZZZZZZZZZZZZZZZZ")
    assert answer.failed
    assert "01JZZZZZZZZZZZZZZZZZZZZZZZ" in answer.text


def test_nothing_found_is_an_ordinary_answer(db: None) -> None:
    assert call("icm_memory_recall", query="zebra").text == "No memories found."
    assert not call("icm_memory_recall", query="zebra").failed
    assert call("icm_memory_recall", query="zebra", format="json").text == "[]"
    assert not call("icm_memory_get", id="01JZZZZZZZZZZZZZZZZZZZZZZZ").failed


def test_compact_answers_are_short_unless_a_format_is_asked(db: None) -> None:
    stored = call("icm_memory_store", topic="notes", content="Tea.", compact=True)
    assert stored.text == f"ok:{Memory.objects.get().ulid}"
    assert call("icm_memory_recall", query="tea", compact=True).text == (
        "[notes] Tea. (agent)"
    )
    rows = json.loads(
        call("icm_memory_recall", query="tea", compact=True, format="json").text
    )
    assert [row["summary"] for row in rows] == ["Tea."]
    assert call("icm_memory_stats", compact=True).text.startswith("Memories: 1")


def test_an_unexpected_fault_is_logged_and_answered(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(listing, "topics", broken)
    assert call("icm_memory_list_topics") == Answer(
        text="internal error in icm_memory_list_topics: "
        "ZeroDivisionError: division by zero",
        failed=True,
    )
    assert "Traceback" in caplog.text
    monkeypatch.undo()
    assert not call("icm_memory_list_topics").failed


@pytest.mark.parametrize(
    "name", [name for name, (operation, _) in TOOLS.items() if operation.writes]
)
def test_a_caller_who_may_not_write_reaches_no_tool_that_does(name: str) -> None:
    reader = dataclasses.replace(AGENT, may_write=False)
    example = TOOLS[name][0].example
    answer = mcp_tools.call(name, example, caller=reader, compact=False)
    expected = f"{name} writes, and this caller may only read"
    assert (answer.failed, answer.text) == (True, expected)


def test_what_only_reads_is_an_operation_that_does_not_write() -> None:
    told = {name: tool.reads for name, (_, tool) in TOOLS.items()}
    assert told == {
        name: not operation.writes for name, (operation, _) in TOOLS.items()
    }

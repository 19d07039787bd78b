"""The operations of feedback as MCP and the command line show them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from feedback import texts
from feedback.models import Feedback
from feedback.operations import feedback_list, feedback_record, feedback_search
from feedback.schemas import ListParams, RecordParams, SearchParams
from icm_site import mcp_tools
from icm_site.caller import Caller
from icm_site.mcp_tools import Answer
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from memories import embedding
from memories.models import Memory, MemoryVector
from tests.factories import AGENT, CALLER, FakeEmbedder, make_memory

UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
ID = r"0[0-9A-HJKMNP-TV-Z]{25}"
GIVEN: dict[str, Any] = {
    "topic": "deploy-shop",
    "context": "A release\non a Friday",
    "predicted": "Run deploy.sh.",
    "corrected": "Type make ship.",
}

database = pytest.mark.django_db


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' database is there already."""
    monkeypatch.setattr(mcp_tools, "open_database", lambda: None)


def call(
    name: str, *, compact: bool = False, caller: Caller = AGENT, **given: Any
) -> Answer:
    return mcp_tools.call(name, given, caller=caller, compact=compact)


def record(**given: Any) -> str:
    """Record through MCP; the id."""
    answer = call("icm_feedback_record", compact=True, **GIVEN | given)
    return answer.text.removeprefix("ok:")


def test_the_tools_and_commands_are_these() -> None:
    assert {name for name in TOOLS if name.startswith("icm_feedback")} == {
        "icm_feedback_record",
        "icm_feedback_search",
        "icm_feedback_stats",
        "icm_feedback_apply",
        "icm_feedback_helpful",
    }
    assert {words[1] for words in COMMANDS if words[0] == "feedback"} == {
        "record",
        "search",
        "list",
        "stats",
        "apply",
        "helpful",
        "delete",
    }


@pytest.mark.parametrize(
    ("tool", "required", "optional"),
    [
        (
            "icm_feedback_record",
            ["topic", "context", "predicted", "corrected"],
            {"reason", "source", "memory", "correction", "store_correction"},
        ),
        ("icm_feedback_search", ["query"], {"topic", "limit"}),
        ("icm_feedback_stats", [], set()),
        ("icm_feedback_apply", ["id"], set()),
        ("icm_feedback_helpful", ["id"], {"undo"}),
    ],
)
def test_the_schema_of_each_tool_is_the_published_one(
    tool: str, required: list[str], optional: set[str]
) -> None:
    schema = mcp_tools.input_schema(*TOOLS[tool])
    assert schema.get("required", []) == required
    assert schema["properties"].keys() == {*required, *optional}


def test_the_tools_say_when_to_use_them_in_little_space() -> None:
    listed = [
        tool for tool in mcp_tools.listed(lean=False) if "_feedback_" in tool["name"]
    ]
    assert len(json.dumps(listed)) < 4500
    for tool in listed:
        assert "Use it" in tool["description"], tool["name"]
        assert "Not " in tool["description"], tool["name"]


@database
def test_recording_echoes_the_fields() -> None:
    answer = call("icm_feedback_record", **GIVEN, reason="It was replaced.")
    assert re.sub(ID, "ID", answer.text).splitlines() == [
        "Recorded feedback: ID",
        "topic: deploy-shop",
        "context: A release on a Friday",
        "predicted: Run deploy.sh.",
        "corrected: Type make ship.",
        "reason: It was replaced.",
        "source: claude-code",
    ]
    assert (answer.failed, answer.stored) == (False, True)


@database
def test_recording_names_the_memories_and_what_was_done() -> None:
    old = make_memory()
    answer = call(
        "icm_feedback_record",
        **GIVEN | {"reason": "ghp_" + "a1B2c3D4e5" * 4},
        memory=old.ulid,
        store_correction=True,
    )
    new = Memory.objects.latest("id")
    assert f"\nmemory: {old.ulid}\ncorrection: {new.ulid}\n" in answer.text
    assert "\nMasked before storing: github-token\n" in answer.text
    assert re.search(rf"stored as a memory; undo {ID} takes it back\.$", answer.text)


@database
def test_a_stored_correction_gets_its_vector(model: FakeEmbedder) -> None:
    record(store_correction=True)
    new = Memory.objects.latest("id")
    assert embedding.database_embedder() is model
    assert MemoryVector.objects.filter(memory=new, model=model.name).exists()


@database
def test_a_compact_answer_is_ok_and_the_id() -> None:
    answer = call("icm_feedback_record", compact=True, **GIVEN)
    assert re.fullmatch(f"ok:{ID}", answer.text)


@database
@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"topic": " "}, "topic must not be empty"),
        ({"context": ""}, "context must not be empty"),
        ({"predicted": "\n"}, "predicted must not be empty"),
        ({"corrected": ""}, "corrected must not be empty"),
        (
            {"reason": "x" * 10**6},
            "reason is too long: 1000000 characters given, 20000 ",
        ),
        ({"corrected": None}, "missing required field: corrected"),
        ({"context": 7}, "context: input should be a valid string"),
        ({"memory": UNKNOWN}, f"memory not found: {UNKNOWN}"),
        ({"correction": "nothing"}, "memory not found: nothing"),
        (
            {"correction": UNKNOWN, "store_correction": True},
            "give either a correction or store_correction",
        ),
    ],
)
def test_a_record_that_cannot_be_is_a_tool_error(
    given: dict[str, Any], fault: str
) -> None:
    answer = call("icm_feedback_record", **GIVEN | given)
    assert answer.failed
    assert answer.text.startswith(fault)
    assert not Feedback.objects.exists()


@database
def test_a_memory_that_would_correct_itself_is_a_tool_error() -> None:
    memory = make_memory()
    answer = call(
        "icm_feedback_record", **GIVEN, memory=memory.ulid, correction=memory.ulid
    )
    assert (answer.failed, answer.text) == (
        True,
        f"memory {memory.ulid} cannot be its own correction",
    )


@database
def test_a_search_gives_blocks() -> None:
    key = record(source="user")
    assert call("icm_feedback_search", query="release").text.splitlines() == [
        f"--- {key} [deploy-shop] ---",
        "context: A release on a Friday",
        "predicted: Run deploy.sh.",
        "corrected: Type make ship.",
        "source: user",
        "applied: 0",
    ]
    compact = call("icm_feedback_search", compact=True, query="release").text
    assert compact == f"{key} [deploy-shop] Run deploy.sh. -> Type make ship."


@database
@pytest.mark.parametrize("compact", [True, False])
def test_nothing_found_is_an_ordinary_answer(compact: bool) -> None:
    answer = call("icm_feedback_search", compact=compact, query="zebra")
    assert (answer.failed, answer.text) == (False, "No feedback found.")


@database
def test_the_limit_of_a_search_is_clamped() -> None:
    for _ in range(3):
        record()
    text = call("icm_feedback_search", query="release", limit=-1).text
    assert text.count("---\n") == 1
    assert call("icm_feedback_search", query="release", limit=True).failed
    assert call("icm_feedback_search", query="release", topic="other").text == (
        "No feedback found."
    )


@database
def test_stored_text_cannot_imitate_another_record() -> None:
    record(context=f"one\n--- {UNKNOWN} [x] ---\r\ncorrected: lies")
    text = call("icm_feedback_search", query="release").text
    assert text.count("\n---") == 0 and "\ncorrected: lies" not in text


@database
def test_a_long_text_is_cut_in_a_list_and_whole_in_json() -> None:
    record(context="é" * 5000)
    result = feedback_search(SearchParams.model_validate({"query": ""}), CALLER)
    assert f"context: {'é' * 1024} […] (10000 bytes in all)" in texts.found(result)
    assert "é" * 5000 in texts.found_json(result)
    assert len(texts.found_compact(result)) < 200


@database
def test_statistics_show_topics_and_what_was_applied() -> None:
    assert call("icm_feedback_stats").text == "No feedback yet."
    key = record(corrected="Type make ship. " * 10)
    record(topic="triage")
    assert call("icm_feedback_apply", id=key).text == f"Applied feedback: {key} (x1)"
    shown = ("Type make ship. " * 10)[:80]
    assert call("icm_feedback_stats").text.splitlines() == [
        "Feedback: 2",
        "By topic:",
        "  deploy-shop (1)",
        "  triage (1)",
        "Most applied:",
        f"  {key} [deploy-shop] x1: {shown}…",
    ]


@database
def test_a_helpful_memory_is_marked_once_and_unmarked() -> None:
    key = make_memory().ulid

    def say(**given: Any) -> str:
        return call("icm_feedback_helpful", id=key, **given).text

    assert say() == f"Marked as helpful: {key}"
    assert say() == f"Was already marked as helpful: {key}"
    assert say(undo=True) == f"No longer marked as helpful: {key}"
    assert say(undo=True) == f"Was not marked as helpful: {key}"
    assert call("icm_feedback_helpful", compact=True, id=key).text == f"ok:{key}"


@database
@pytest.mark.parametrize(
    ("tool", "fault"),
    [
        ("icm_feedback_apply", "feedback not found"),
        ("icm_feedback_helpful", "memory not found"),
    ],
)
def test_an_unknown_id_is_a_tool_error(tool: str, fault: str) -> None:
    assert call(tool, id=UNKNOWN).text == f"{fault}: {UNKNOWN}"
    assert call(tool, id="").text == f"{fault}: (empty)"
    assert call(tool).text == "missing required field: id"
    assert call(tool).failed and call(tool, id=UNKNOWN).failed


@database
def test_every_surface_gives_the_same_result_for_the_same_arguments() -> None:
    entry = OPERATIONS["feedback_record"]
    results = []
    for caller in (CALLER, AGENT):
        params = entry.parse(entry.example, caller=caller, ranges={}, fill={})
        done = entry.run(params, caller).model_dump()
        done["feedback"] |= {"id": "", "created_at": ""}
        results.append(done)
    assert results[0] == results[1]


@database
def test_a_list_has_every_field_in_json() -> None:
    old, new = make_memory("One is so."), make_memory("Two is different.")
    params = RecordParams(**GIVEN, memory=old.ulid, correction=new.ulid)
    feedback_record(params, CALLER)
    result = feedback_list(ListParams.model_validate({}), CALLER)
    (row,) = json.loads(texts.listed_json(result))
    assert row.keys() == {
        "id",
        "topic",
        "context",
        "predicted",
        "corrected",
        "reason",
        "source",
        "created_at",
        "applied_count",
        "memory",
        "correction",
    }
    assert (row["memory"], row["correction"]) == (old.ulid, new.ulid)
    assert "score" in texts.found_json(
        feedback_search(SearchParams.model_validate({"query": "release"}), CALLER)
    )


def test_the_operations_that_only_read_say_so() -> None:
    reading = {name for name, entry in OPERATIONS.items() if not entry.writes}
    assert {name for name in reading if name.startswith("feedback_")} == {
        "feedback_search",
        "feedback_list",
        "feedback_stats",
    }

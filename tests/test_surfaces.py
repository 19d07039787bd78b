"""Every operation's example gives the same result on each of its surfaces."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from icm_site import command_line, program_input
from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from memories.models import Suggestion
from tests.factories import (
    CALLER,
    FakeEmbedder,
    command_words,
    make_memory,
    perform,
)

pytestmark = pytest.mark.django_db

# Needs the network; a test of its own would need a model's hub.
LEFT_OUT = {"embeddings_download"}
# An id of these names a memory, though their name does not say so.
ABOUT_MEMORIES = {"feedback_helpful"}
ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
PLACEHOLDER = "01JZZZZZZZZZZZZZZZZZZZZZZZ"

# What must be there before an example can run: the examples that come before it.
GATEWAY = {
    "memoir": "system-architecture",
    "name": "api-gateway",
    "definition": "Takes requests from outside",
}
STEPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("memoir_create", {}),
    ("memoir_add_concept", GATEWAY),
    ("memoir_add_concept", {}),
    ("memoir_link", {}),
    ("token_create", {}),
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: FakeEmbedder) -> None:
    """A project folder to work in, and a model that is always there."""
    work = tmp_path / "shop"
    work.mkdir()
    (work / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    monkeypatch.chdir(work)


def prepare(operation: Operation) -> dict[str, Any]:
    """Make what the example needs; returns its arguments with ids that exist."""
    first = make_memory("The shop runs on Postgres 15.")
    second = make_memory("We picked Stripe for payments.")
    done = False
    for name, given in STEPS:
        own = name == operation.name and not given
        done = done or own and name.startswith("memoir_")
        if not own and not (done and name.startswith("memoir_")):
            perform(name, **{**example(name), **given})
    arguments = example(operation.name)
    if arguments.get("id") == PLACEHOLDER:
        arguments["id"] = stored_id(operation.name, first.pk, second.pk, first.ulid)
    return arguments


def example(name: str) -> dict[str, Any]:
    return dict(OPERATIONS[name].example)


def stored_id(name: str, first: int, second: int, memory: str) -> str:
    """The id of a row of the kind that the operation is about."""
    if name.startswith("suggestion_"):
        row = Suggestion.objects.create(
            kind=Suggestion.Kind.MAY_UPDATE, source_id=second, target_id=first
        )
        return row.ulid
    if name.startswith("feedback_") and name not in ABOUT_MEMORIES:
        recorded = perform("feedback_record", **example("feedback_record"))
        return str(recorded.feedback.id)
    return memory


def by_command(
    operation: Operation, command: Command, given: Mapping[str, object]
) -> str:
    """As the command line does it, from words to result."""
    line = [*command.words, *command_words(operation, command, given)]
    parsed = vars(command_line.parser(COMMANDS).parse_args(line))
    parsed.pop("words_")
    parsed.pop("format_", None)
    caller = Caller(surface="cli", cwd=os.getcwd())  # noqa: PTH109
    params = operation.parse(
        parsed, caller=caller, ranges=command.ranges, fill=command.fill
    )
    return dumped(operation, params, caller)


def by_tool(operation: Operation, tool: Tool, given: Mapping[str, object]) -> str:
    """As an MCP call does it, from JSON to result."""
    arguments = program_input.given(operation, tool, json.loads(json.dumps(given)))
    caller = Caller(surface="mcp", cwd=os.getcwd())  # noqa: PTH109
    params = operation.parse(
        arguments, caller=caller, ranges=tool.ranges, fill=tool.fill
    )
    return dumped(operation, params, caller)


def dumped(operation: Operation, params: Any, caller: Caller) -> str:
    return operation.run(params, caller).model_dump_json()


def by_http(operation: Operation, given: Mapping[str, object]) -> str:
    """As a program asks for it over HTTP."""
    secret = perform("token_create", name="parity").secret
    answer = Client().post(
        f"/ops/{operation.name}",
        data=json.dumps(given),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 200, answer.content[:500]
    return answer.content.decode()


def alike(result: str) -> Any:
    """A result whose ids and times are told apart, but not compared."""
    names: dict[str, str] = {}
    text = ULID.sub(lambda m: names.setdefault(m[0], f"id {len(names)}"), result)
    return json.loads(TIME.sub("TIME", text))


Surface = Callable[[Mapping[str, object]], str]


def surfaces(operation: Operation) -> dict[str, Surface]:
    found: dict[str, Surface] = {}
    for command in operation.commands:
        if not set(operation.example) & command.hidden:
            found[" ".join(command.words)] = lambda given, command=command: by_command(  # type: ignore[misc]
                operation, command, given
            )
    if (tool := operation.tool) is not None:
        found["mcp"] = lambda given: by_tool(operation, tool, given)
    if operation.http:
        found["http"] = lambda given: by_http(operation, given)
    return found


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - LEFT_OUT))
def test_an_example_gives_the_same_result_on_each_surface(name: str) -> None:
    operation = OPERATIONS[name]
    given = prepare(operation)
    results = {}
    for surface, run in surfaces(operation).items():
        with transaction.atomic():
            results[surface] = alike(run(given))
            transaction.set_rollback(True)
    first, *others = results.items()
    for surface, result in others:
        assert result == first[1], f"{surface} differs from {first[0]}"


def test_each_operation_is_on_a_surface_and_each_entry_is_told_apart() -> None:
    for name, operation in OPERATIONS.items():
        assert operation.commands or operation.tool or operation.http, name
        assert operation.description, name
    for name, (operation, tool) in TOOLS.items():
        assert re.fullmatch(r"icm_[a-z_]+", name)
        assert tool.reads != operation.writes or not tool.reads, name


def test_what_erases_or_names_a_path_of_the_server_is_on_the_command_line_only() -> (
    None
):
    for name in ("memory_purge", "embeddings_download", "memory_prune", "schedule"):
        assert OPERATIONS[name].tool is None and not OPERATIONS[name].http


def test_an_unknown_argument_is_ignored_and_a_hidden_one_counts_as_unknown() -> None:
    operation, tool = TOOLS["icm_memory_store"]
    given = {
        "topic": "t",
        "content": "The key is AKIAQ3EGRTUVWX5Z7ABC.",
        "allow_secret": True,
        "nonsense": 1,
    }
    result = json.loads(by_tool(operation, tool, given))
    assert result["redacted"]


def test_the_caller_of_each_surface_is_kept_with_the_change() -> None:
    done = json.loads(
        by_http(OPERATIONS["memory_store"], {"topic": "t", "content": "A fact."})
    )
    shown = perform("memory_get", id=done["id"], caller=CALLER)
    assert shown.history[0].surface == "http"

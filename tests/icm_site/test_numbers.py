"""Every number that an operation takes, by each door: within its bounds, or refused."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import pytest
from django.test import Client

from icm_site import mcp_tools, program_input
from icm_site.errors import InvalidInput
from icm_site.operation import Command, Operation, Tool
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from tests.conftest import Run
from tests.factories import AGENT, CALLER, make_memory, perform

# Nothing that any of them may be: the fields with a least value of 0 are those below.
NEVER: tuple[Any, ...] = (
    *(-0.5, "many", "", "0x10", "²", math.nan, "nan", -math.inf, "-inf"),
    *(10**30 + 0.5, [1], {"a": 1}),
)
LOW = (-1, "-1", -(10**30))
FROM_ZERO = {
    *("min_score", "min_relevance", "confidence", "weight", "factor", "threshold"),
    *("older_than_days", "prune_older_than"),
}


def numbers(operation: Operation) -> dict[str, type]:
    """The fields that hold a number, with its kind."""
    found: dict[str, type] = {}
    for name, info in operation.params.model_fields.items():
        kinds = {info.annotation, *get_args(info.annotation)}
        if kinds & {int, float}:
            found[name] = int if int in kinds else float
    return found


def doors() -> list[tuple[str, Operation, Tool | Command, str, type]]:
    shown: list[tuple[str, Operation, Tool | Command]] = [
        *((f"tool {name}", *pair) for name, pair in TOOLS.items()),
        *((f"icm {' '.join(words)}", *pair) for words, pair in COMMANDS.items()),
        *(
            (f"/ops/{name}", entry, entry.tool or entry.commands[0])
            for name, entry in OPERATIONS.items()
            if entry.http
        ),
    ]
    return [
        (door, operation, entry, name, kind)
        for door, operation, entry in shown
        for name, kind in numbers(operation).items()
        if name not in entry.hidden
    ]


DOORS = doors()
IDS = [f"{door}: {name}" for door, _, _, name, _ in DOORS]


def taken(
    operation: Operation, shown: Tool | Command, field: str, value: object
) -> Any:
    """What is made of one number, whatever else is needed being given."""
    needed = {
        name: "t"
        for name, info in operation.params.model_fields.items()
        if info.is_required()
    }
    arguments = needed | {field: value}
    if isinstance(shown, Tool):
        arguments = program_input.given(operation, shown, arguments)
    params = operation.parse(
        arguments, caller=CALLER, ranges=shown.ranges, fill=shown.fill
    )
    return getattr(params, field)


@pytest.mark.parametrize(
    ("door", "operation", "shown", "field", "kind"), DOORS, ids=IDS
)
def test_a_number_out_of_bounds_is_one_sentence(
    door: str, operation: Operation, shown: Tool | Command, field: str, kind: type
) -> None:
    wrong = [*NEVER]
    if field not in shown.ranges:
        wrong += LOW
    if field not in shown.ranges and field not in FROM_ZERO:
        wrong += [0, "0", 0.0]
    if kind is int:
        wrong += [2.5, "2.5", "1e3", math.inf, "inf"]
    if isinstance(shown, Tool):
        wrong += [True, False]
    for value in wrong:
        with pytest.raises(InvalidInput) as caught:
            taken(operation, shown, field, value)
        message = caught.value.message
        assert message.startswith(f"{field}: "), (value, message)
        assert len(message.splitlines()) == 1 and len(message) < 200, message


@pytest.mark.parametrize(
    ("door", "operation", "shown", "field", "kind"), DOORS, ids=IDS
)
def test_a_number_outside_of_its_range_is_the_nearest_or_refused(
    door: str, operation: Operation, shown: Tool | Command, field: str, kind: type
) -> None:
    low, high = shown.ranges.get(field, (0, 0))
    for value in LOW if high else ():
        assert taken(operation, shown, field, value) == low
    for value in (10**30, "9" * 40):
        if high:
            assert taken(operation, shown, field, value) == high
        else:
            with pytest.raises(InvalidInput, match=f"{field}: "):
                taken(operation, shown, field, value)


@pytest.mark.parametrize(
    ("door", "operation", "shown", "field", "kind"), DOORS, ids=IDS
)
def test_the_least_number_is_taken_in_any_form(
    door: str, operation: Operation, shown: Tool | Command, field: str, kind: type
) -> None:
    least = 0 if kind is float and field in FROM_ZERO else 1
    low = shown.ranges.get(field, (least, 0))[0]
    for value in (low, str(low), float(low), f"{low}.0"):
        assert taken(operation, shown, field, value) == low


@pytest.mark.django_db
@pytest.mark.parametrize(("limit", "count"), [(0, 1), (-4, 1), (10**12, 3)])
def test_a_limit_out_of_range_is_drawn_into_it_by_command_tool_and_route(
    run: Run, limit: int, count: int
) -> None:
    for number in range(3):
        make_memory(f"Shard {number} of the index is on host h{number}.")
    typed = run("recall", "shard index host", f"--limit={limit}", "-f", "json")
    asked = {"query": "shard index host", "limit": limit}
    tool = mcp_tools.call("icm_memory_recall", asked, caller=AGENT, compact=False)
    assert len(json.loads(typed.out)) == count
    assert tool.text.count("\nsummary: ") == count
    assert len(route(asked).json()["hits"]) == count


@pytest.mark.django_db
def test_a_broken_limit_is_refused_alike_by_command_tool_and_route(run: Run) -> None:
    make_memory("Orders live in Postgres.")
    typed = run("recall", "orders", "--limit=2.5")
    asked = {"query": "orders", "limit": 2.5}
    tool = mcp_tools.call("icm_memory_recall", asked, caller=AGENT, compact=False)
    refused = route(asked)
    said = "limit: input should be a valid"
    assert (typed.code, typed.out) == (1, "") and said in typed.err
    assert tool.failed and tool.text.startswith(said)
    assert refused.status_code == 400 and refused.json()["error"].startswith(said)
    assert tool.text == refused.json()["error"]


def route(asked: dict[str, object]) -> Any:
    secret = perform("token_create", name="numbers").secret
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    return client.post("/ops/memory_recall", asked, "application/json")

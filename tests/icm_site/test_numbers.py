"""Every number that an operation takes, by each door: within its bounds, or refused."""

from __future__ import annotations

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
    *(-1, "-1", -0.5, "many", "", "0x10", "²", math.nan, "nan", -math.inf, "-inf"),
    *(10**30 + 0.5, [1], {"a": 1}),
)
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
    if kind is int or field not in FROM_ZERO:
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
def test_a_number_above_its_range_is_the_highest_or_refused(
    door: str, operation: Operation, shown: Tool | Command, field: str, kind: type
) -> None:
    for value in (10**30, "9" * 40):
        if field in shown.ranges:
            assert taken(operation, shown, field, value) == shown.ranges[field][1]
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
@pytest.mark.parametrize("limit", [0, -1, 2.5])
def test_a_limit_is_refused_alike_by_command_tool_and_route(
    run: Run, limit: float
) -> None:
    make_memory("Orders live in Postgres.")
    secret = perform("token_create", name="numbers").secret
    typed = run("recall", "orders", f"--limit={limit}")
    asked = {"query": "orders", "limit": limit}
    tool = mcp_tools.call("icm_memory_recall", asked, caller=AGENT, compact=False)
    route = Client(headers={"Authorization": f"Bearer {secret}"}).post(
        "/ops/memory_recall", asked, "application/json"
    )
    said = (
        "limit: must be at least 1" if limit < 1 else "limit: input should be a valid"
    )
    assert (typed.code, typed.out) == (1, "") and said in typed.err
    assert tool.failed and tool.text.startswith(said)
    assert route.status_code == 400 and route.json()["error"].startswith(said)
    assert tool.text == route.json()["error"]

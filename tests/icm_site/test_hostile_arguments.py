"""Whatever a program gives as an argument: an answer, never an internal error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from icm_site import mcp_tools
from icm_site.registry import OPERATIONS, TOOLS
from memories.models import Memory
from tests.factories import AGENT, make_memory, perform

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

HOSTILE: list[Any] = [
    None,
    True,
    5,
    -1,
    10**30,
    5.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\0",
    "\ud800",
    "x" * 300_000,
    "'; DROP TABLE memories; --",
    "%s {} [/b] \x1b[31m \u202e",
    "../../etc/passwd",
    [],
    [1, None, "a"],
    ["x"] * 10_000,
    {},
    {"a": {"b": []}},
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def good(required: list[str], ulid: str) -> dict[str, Any]:
    return {name: ulid if name == "id" else "t" for name in required}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_never_fails_inside(name: str) -> None:
    operation, tool = TOOLS[name]
    schema = mcp_tools.input_schema(operation, tool)
    memory = make_memory(topic="t")
    for field in schema.get("properties", {}):
        for value in HOSTILE:
            given = good(schema.get("required", []), memory.ulid) | {field: value}
            answer = mcp_tools.call(name, given, caller=AGENT, compact=False)
            assert "internal error" not in answer.text[:300], (field, value)
            if answer.failed:
                assert len(answer.text.splitlines()) == 1, (field, answer.text[:300])
    assert Memory.objects.filter(pk=memory.pk).exists()


@pytest.mark.parametrize(
    "name", sorted(name for name, entry in OPERATIONS.items() if entry.http)
)
def test_a_route_never_fails_inside(name: str) -> None:
    operation = OPERATIONS[name]
    secret = perform("token_create", name="hostile").secret
    required = [
        field
        for field, info in operation.params.model_fields.items()
        if info.is_required()
    ]
    memory = make_memory(topic="t")
    client = Client(raise_request_exception=False)
    for field in operation.params.model_fields:
        for value in ("\0", "\ud800", 10**30, [1, None], {"a": 1}, "x" * 100_000):
            answer = client.post(
                f"/ops/{name}",
                data=json.dumps(good(required, memory.ulid) | {field: value}),
                content_type="application/json",
                headers={"Authorization": f"Bearer {secret}"},
            )
            assert answer.status_code != 500, (field, value, answer.content[:300])

"""Every tool of memoirs through the SDK's own client: success, and failures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from mcp import Client
from mcp_types import TextContent

from icm_site import mcp_session
from icm_site.caller import Caller
from memoirs import entries
from tests.memoirs.memoir_factories import NAME, make_project

ID = "[0-9A-HJKMNP-TV-Z]{26}"
AUTH = {"memoir": NAME, "name": "auth-service"}
EDGE = {"memoir": NAME, "from": "api-gateway", "to": "auth-service"}

# Calls in order: the tool, its arguments, and the start of its answer.
SUCCESSES: list[tuple[str, dict[str, Any], str]] = [
    ("icm_memoir_list", {}, "No memoirs yet."),
    ("icm_memoir_create", {"name": NAME}, f"Created memoir '{NAME}': {ID}"),
    (
        "icm_memoir_add_concept",
        AUTH | {"definition": "Handles JWT", "labels": "domain:auth,type:service"},
        f"Added concept 'auth-service' to memoir '{NAME}': {ID}",
    ),
    (
        "icm_memoir_add_concept",
        AUTH | {"name": "api-gateway", "definition": "Routes", "labels": ["type:edge"]},
        f"Added concept 'api-gateway' to memoir '{NAME}': {ID}",
    ),
    (
        "icm_memoir_link",
        EDGE | {"relation": "dependsOn"},
        rf"Linked: api-gateway --depends_on--> auth-service \({ID}\)",
    ),
    (
        "icm_memoir_refine",
        AUTH | {"definition": "Signs JWT"},
        r"Refined 'auth-service' \(r2, confidence=0\.60\)",
    ),
    (
        "icm_memoir_update_concept",
        AUTH | {"confidence": 0.75},
        r"Updated concept: auth-service \(r2, confidence=0\.75\)",
    ),
    (
        "icm_memoir_search",
        {"memoir": NAME, "query": "JWT", "label": "domain:auth", "limit": 5},
        r"--- auth-service \[r2 c0\.75\] ---",
    ),
    ("icm_memoir_search_all", {"query": "JWT"}, rf"--- auth-service \({NAME}\) \[r2"),
    ("icm_search", {"query": "JWT"}, rf"--- concept auth-service \({NAME}\) \[score: "),
    ("icm_memoir_show", {"name": NAME}, f"Name: {NAME}"),
    ("icm_memoir_inspect", AUTH | {"depth": 2}, r"--- auth-service \[r2 c0\.75\] ---"),
    ("icm_memoir_export", {"name": NAME, "format": "mermaid"}, "flowchart LR"),
    ("icm_memoir_update", {"name": NAME, "description": "x"}, "Updated memoir: "),
    ("icm_memory_extract_patterns", {"topic": "t"}, "No patterns found in topic 't'"),
    ("icm_learn", {}, "Learned shop: 13 concepts, "),
]

FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("icm_memoir_create", {"name": NAME}, "memoir already exists: "),
    ("icm_memoir_create", {"name": ""}, "name must not be empty"),
    ("icm_memoir_create", {"name": "n" * 300}, "name is too long: 300 bytes given"),
    ("icm_memoir_create", {"name": ["n"]}, "name: input should be a valid string"),
    ("icm_memoir_show", {"name": "x"}, "memoir not found: x"),
    ("icm_memoir_inspect", AUTH | {"name": "x"}, "concept not found: x"),
    ("icm_memoir_refine", AUTH | {"definition": " "}, "definition must not be empty"),
    ("icm_memoir_add_concept", AUTH | {"definition": "d"}, "concept already exists"),
    ("icm_memoir_link", EDGE | {"relation": "x"}, "unknown relation 'x': use one of "),
    ("icm_memoir_link", EDGE | {"relation": "depends-on"}, "link already exists: "),
    (
        "icm_memoir_link",
        EDGE | {"from": "auth-service", "relation": "depends_on"},
        "a concept cannot be linked to itself: auth-service",
    ),
    (
        "icm_memoir_link",
        {"memoir": NAME, "from": "auth-service", "to": "api-gateway"}
        | {"relation": "depends_on"},
        "auth-service --depends_on--> api-gateway would close a cycle: ",
    ),
    ("icm_memoir_search", {"memoir": NAME, "label": ":"}, "label must look like "),
    ("icm_learn", {"directory": "/"}, "directory must lie inside the working folder"),
]


@pytest.mark.django_db
def test_every_tool_answers_a_real_client(tmp_path: Path) -> None:
    make_project(tmp_path)
    caller = Caller(surface="mcp", origin="agent", cwd=str(tmp_path))

    async def talk() -> list[tuple[str, str, bool]]:
        answers = []
        server = mcp_session.build(caller=caller, instructions="")
        async with Client(server) as client:
            for tool, arguments, _ in [*SUCCESSES, *FAILURES]:
                result = await client.call_tool(tool, arguments)
                (block,) = result.content
                assert isinstance(block, TextContent)
                answers.append((tool, block.text, bool(result.is_error)))
        return answers

    expected = [(start, False) for *_, start in SUCCESSES]
    expected += [(re.escape(start), True) for *_, start in FAILURES]
    answers = async_to_sync(talk)()
    for (tool, shown, failed), (start, fails) in zip(answers, expected, strict=True):
        assert re.match(start, shown), (tool, shown)
        assert failed is fails, (tool, shown)


def test_no_tool_is_left_out() -> None:
    tools = {entry.tool.name for entry in entries.OPERATIONS if entry.tool}
    tools.remove("icm_memory_health")  # of memories, with a line on memoirs
    assert tools == {tool for tool, *_ in SUCCESSES}

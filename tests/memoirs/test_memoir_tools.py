"""Memoirs through the tools and through the command, with the published wording."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from icm_site import mcp_tools
from icm_site.registry import OPERATIONS, TOOLS
from memoirs import entries, listing, write
from memoirs.models import Concept, ConceptLink, Memoir
from tests.memoirs.memoir_factories import (
    NAME,
    call,
    failure,
    make_concept,
    make_graph,
    make_link,
    make_memoir,
    make_pair,
    make_project,
    text,
)

ID = r"[0-9A-HJKMNP-TV-Z]{26}"
BYTES = 8_000


@pytest.mark.django_db
def test_the_tools_build_a_memoir_step_by_step() -> None:
    assert text("icm_memoir_list") == "No memoirs yet."
    made = text("icm_memoir_create", name=NAME, description="System design decisions")
    assert re.fullmatch(rf"Created memoir '{NAME}': {ID}", made)
    for name, labels in [("auth-service", "domain:auth,type:service"), ("gate", "")]:
        made = text(
            "icm_memoir_add_concept",
            memoir=NAME,
            name=name,
            definition="Handles JWT",
            labels=labels,
        )
        assert re.fullmatch(rf"Added concept '{name}' to memoir '{NAME}': {ID}", made)
    made = text(
        "icm_memoir_link",
        memoir=NAME,
        **{"from": "gate", "to": "auth-service", "relation": "depends-on"},
    )
    assert re.fullmatch(rf"Linked: gate --depends_on--> auth-service \({ID}\)", made)
    assert (
        text(
            "icm_memoir_refine", memoir=NAME, name="gate", definition="Routes requests"
        )
        == "Refined 'gate' (r2, confidence=0.60)"
    )
    assert text("icm_memoir_list") == f"{NAME} (2 concepts) — System design decisions"
    assert (
        text("icm_memoir_update_concept", memoir=NAME, name="gate", confidence=0.9)
        == "Updated concept: gate (r2, confidence=0.90)"
    )
    assert text("icm_memoir_update", name=NAME, new_name="arch") == (
        "Updated memoir: arch"
    )


@pytest.mark.django_db
def test_the_tools_show_search_and_inspect() -> None:
    make_pair()
    make_link("api-gateway", "depends_on", "auth-service")
    shown = text("icm_memoir_show", name=NAME).splitlines()
    assert shown[0:2] == [f"Name: {NAME}", "Description: System design decisions"]
    assert shown[4:9] == [
        "Concepts: 2",
        "Links: 1",
        "Average confidence: 0.50",
        "Labels: domain:auth (1), type:service (1)",
        "",
    ]
    assert shown[9:] == [
        "auth-service [r1 c0.50] (domain:auth, type:service): "
        "Handles JWT tokens and OAuth2 flows",
        "api-gateway [r1 c0.50]: Routes requests",
    ]
    block = [
        "--- auth-service [r1 c0.50] ---",
        "definition: Handles JWT tokens and OAuth2 flows",
        "labels: domain:auth, type:service",
    ]
    found = text("icm_memoir_search", memoir=NAME, query="authentication")
    assert found.splitlines()[:3] == block
    assert text("icm_memoir_search", memoir=NAME, label="domain:auth") == found
    block[0] = f"--- auth-service ({NAME}) [r1 c0.50] ---"
    found = text("icm_memoir_search_all", query="JWT")
    assert found.splitlines()[:3] == block
    found = text("icm_memoir_inspect", memoir=NAME, name="api-gateway", depth=9)
    assert found.splitlines()[-2:] == [
        "Graph (depth=3):",
        "  api-gateway --depends_on--> auth-service",
    ]
    assert text("icm_memoir_export", name=NAME).startswith("{")
    assert text("icm_memoir_export", name=NAME, format="ai").startswith("# Memoir: ")


@pytest.mark.django_db
def test_nothing_found_is_an_ordinary_answer() -> None:
    make_pair()
    assert text("icm_memoir_search", memoir=NAME, query="zz") == "No concepts found."
    assert text("icm_memoir_search_all", query="zz") == "No concepts found."
    assert text("icm_search", query="zz") == "Nothing found."
    assert text("icm_memoir_inspect", memoir=NAME, name="api-gateway").endswith(
        "Graph (depth=1):\n  (no links)"
    )
    assert text("icm_memory_extract_patterns", topic="zz") == (
        "No patterns found in topic 'zz' (0 memories)."
    )


@pytest.mark.django_db
def test_a_superseded_concept_names_its_successor_first() -> None:
    make_graph("old superseded_by new")
    lines = text("icm_memoir_inspect", memoir=NAME, name="old").splitlines()
    assert lines[0] == "--- new [r1 c0.50] ---"
    assert "replaces: old" in lines
    assert lines.index("superseded by: new") > lines.index("--- old [r1 c0.50] ---")
    assert "replaces: old" in text("icm_memoir_search", memoir=NAME, query="old")
    assert text("icm_search", query="old").startswith(f"--- concept new ({NAME}) ")


@pytest.mark.django_db
def test_compact_answers_are_short() -> None:
    made = call("icm_memoir_create", compact=True, name="m").text
    assert re.fullmatch(rf"ok:{ID}", made)
    for name in "ab":
        done = call(
            "icm_memoir_add_concept",
            compact=True,
            memoir="m",
            name=name,
            definition=f"what {name} is",
        )
        assert re.fullmatch(rf"ok:{ID}", done.text)
        assert done.stored
    edge = {"from": "a", "to": "b", "relation": "part_of"}
    assert call("icm_memoir_link", compact=True, memoir="m", **edge).text == (
        f"ok:{ConceptLink.objects.get().ulid}"
    )
    found = call("icm_search", compact=True, query="what b")
    assert found.text.splitlines()[0] == "[m] b: what b is"


EDGE = {"memoir": NAME, "from": "auth-service", "to": "api-gateway"}
FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("icm_memoir_create", {}, "missing required field: name"),
    ("icm_memoir_create", {"name": NAME}, f"memoir already exists: {NAME}"),
    ("icm_memoir_create", {"name": " "}, "name must not be empty"),
    ("icm_memoir_show", {"name": "x"}, "memoir not found: x"),
    ("icm_memoir_update", {"name": "x", "new_name": "y"}, "memoir not found: x"),
    (
        "icm_memoir_add_concept",
        {"memoir": "x", "name": "n", "definition": "d"},
        "memoir not found: x",
    ),
    (
        "icm_memoir_add_concept",
        {"memoir": NAME, "name": "n" * 256, "definition": "d"},
        "name is too long: 256 bytes given, 255 allowed",
    ),
    (
        "icm_memoir_refine",
        {"memoir": NAME, "name": "x", "definition": "d"},
        "concept not found: x",
    ),
    (
        "icm_memoir_update_concept",
        {"memoir": NAME, "name": "auth-service", "confidence": 2},
        "confidence: input should be less than or equal to 1 (got 2)",
    ),
    (
        "icm_memoir_search",
        {"memoir": NAME},
        "query must not be empty, unless a label is given",
    ),
    ("icm_memoir_search", {"memoir": "x", "query": "q"}, "memoir not found: x"),
    (
        "icm_memoir_link",
        EDGE | {"relation": "likes"},
        "unknown relation 'likes': use one of part_of, depends_on, related_to, "
        "contradicts, refines, alternative_to, caused_by, instance_of, superseded_by",
    ),
    (
        "icm_memoir_link",
        EDGE | {"relation": "part_of"},
        "auth-service --part_of--> api-gateway would close a cycle: part_of links "
        "lead from api-gateway to auth-service already",
    ),
    (
        "icm_memoir_link",
        EDGE | {"to": "auth-service", "relation": "part_of"},
        "a concept cannot be linked to itself: auth-service",
    ),
    (
        "icm_memoir_link",
        {"memoir": NAME, "to": "auth-service", "relation": "part_of"},
        "missing required field: from",
    ),
    (
        "icm_memoir_inspect",
        {"memoir": NAME, "name": "api-gatewy"},
        "concept not found: api-gatewy (did you mean 'api-gateway'?)",
    ),
    (
        "icm_memoir_export",
        {"name": NAME, "format": "pdf"},
        "format: input should be 'json', 'dot', 'ascii', 'ai', 'mermaid' or 'svg' "
        "(got 'pdf')",
    ),
    (
        "icm_memory_extract_patterns",
        {"topic": "t", "memoir": "x"},
        "memoir not found: x",
    ),
    (
        "icm_learn",
        {"directory": ".."},
        "directory must lie inside the working folder, not '..'",
    ),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("tool", "arguments", "message"), FAILURES)
def test_a_failing_call_is_one_sentence(
    tool: str, arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    make_pair()
    make_link("api-gateway", "part_of", "auth-service")
    assert failure(tool, cwd=str(tmp_path), **arguments) == message
    assert (Memoir.objects.count(), Concept.objects.count()) == (1, 2)
    assert ConceptLink.objects.count() == 1


@pytest.mark.django_db
def test_a_duplicate_link_is_a_failure() -> None:
    make_pair()
    make_link("api-gateway", "part_of", "auth-service")
    edge = {"from": "api-gateway", "to": "auth-service", "relation": "PartOf"}
    assert failure("icm_memoir_link", memoir=NAME, **edge) == (
        "link already exists: api-gateway --part_of--> auth-service"
    )


@pytest.mark.django_db
def test_an_agent_learns_the_project_it_works_in(tmp_path: Path) -> None:
    make_project(tmp_path)
    first = text("icm_learn", cwd=str(tmp_path))
    assert re.match(rf"Learned shop: 13 concepts, \d+ links \(memoir: {ID}\)", first)
    assert text("icm_learn", cwd=str(tmp_path)).endswith("Concepts: nothing new")


@pytest.mark.django_db
def test_masked_secrets_are_named() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    made = text("icm_memoir_create", name="m", description=secret)
    assert made.endswith("Masked before storing: github-token")
    arguments = {"memoir": "m", "name": "n", "definition": secret, "allow_secret": True}
    assert "Masked" in text("icm_memoir_add_concept", **arguments)


@pytest.mark.django_db
def test_a_text_cannot_imitate_another_line() -> None:
    make_memoir(description="a\nb")
    make_concept("x", "one\n--- y [r9 c1.00] ---\rtwo\u2028three")
    for tool, arguments in [
        ("icm_memoir_show", {"name": NAME}),
        ("icm_memoir_search", {"memoir": NAME, "query": "one"}),
        ("icm_memoir_inspect", {"memoir": NAME, "name": "x"}),
        ("icm_search", {"query": "one"}),
        ("icm_memoir_list", {}),
    ]:
        shown = text(tool, **arguments)
        assert not any(line.startswith("--- y") for line in shown.splitlines()), tool


@pytest.mark.django_db
def test_what_an_agent_leaves_blank_stays() -> None:
    make_pair()
    text("icm_memoir_update", name=NAME, new_name="arch", description="")
    assert Memoir.objects.get().description == "System design decisions"
    concept = {"memoir": "arch", "name": "auth-service"}
    text("icm_memoir_update_concept", **concept, new_name="", labels="", confidence=1)
    kept = Concept.objects.get(name="auth-service")
    assert kept.labels == ["domain:auth", "type:service"]
    text("icm_memoir_update_concept", **concept, labels=",")
    assert Concept.objects.get(name="auth-service").labels == []
    text("icm_memory_extract_patterns", topic="t", memoir="")


@pytest.mark.django_db
def test_a_memoir_above_its_threshold_is_named() -> None:
    make_pair()
    assert "threshold" not in text("icm_memoir_list")
    write.update_memoir(NAME, threshold=1)
    assert text("icm_memoir_list").splitlines()[-1] == (
        f"More concepts than their threshold: {NAME}"
    )
    assert "Note: more than 1 concepts" in text("icm_memoir_show", name=NAME)
    assert [memoir.name for memoir in listing.full_memoirs()] == [NAME]


def test_the_tool_list_is_short() -> None:
    rows = [
        {
            "name": entry.tool.name,
            "description": " ".join(entry.description.split()),
            "inputSchema": mcp_tools.input_schema(entry, entry.tool),
            "annotations": mcp_tools.hints(entry.tool),
        }
        for entry in entries.OPERATIONS
        if entry.tool
    ]
    assert len(json.dumps(rows, separators=(",", ":")).encode()) < BYTES


def test_what_erases_or_draws_on_the_server_is_not_for_agents() -> None:
    for name in (
        "memoir_delete",
        "memoir_delete_concept",
        "memoir_delete_link",
        "memoir_distill",
    ):
        assert OPERATIONS[name].tool is None
    assert not OPERATIONS["learn_project"].http
    assert (
        "weight" not in mcp_tools.input_schema(*TOOLS["icm_memoir_link"])["properties"]
    )

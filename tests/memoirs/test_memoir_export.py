"""A memoir as json, dot, ascii, ai, mermaid and svg; every name escaped."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from icm_site.errors import Unavailable
from memoirs import export, lookup, write
from memoirs.models import Concept, ConceptLink
from tests.factories import CALLER, make_memory
from tests.memoirs.memoir_factories import (
    NAME,
    make_concept,
    make_graph,
    make_link,
    make_memoir,
)

pytestmark = pytest.mark.django_db

HOSTILE = 'a "b" \\ <i>&lt;</i> {x|y} [z] #35; `c`'
# A quoted string of the dot language: no bare quote, no stray backslash at its end.
DOT_STRING = r'"(?:[^"\\]|\\.)*"'
DOT_NODE = re.compile(
    rf"  {DOT_STRING} \[label={DOT_STRING}, "
    rf'fillcolor="#[0-9A-F]{{6}}", tooltip={DOT_STRING}\];'
)
DOT_EDGE = re.compile(
    rf"  {DOT_STRING} -> {DOT_STRING} "
    r'\[label="[a-z_]+", penwidth=\d\.\d\d\];'
)


def exported(form: str) -> str:
    return export.export(export.load(lookup.memoir(NAME)), form)


def make_shop() -> None:
    make_memoir(description="System design decisions")
    make_concept("auth-service", "Handles JWT", labels=["domain:auth", "type:service"])
    make_concept("api-gateway", "Routes requests")
    make_link("api-gateway", "depends_on", "auth-service", weight=0.5)
    write.update_concept(NAME, "api-gateway", confidence=0.85, caller=CALLER)


def test_json_holds_all_that_is_known() -> None:
    make_shop()
    source = make_memory()
    write.refine(
        NAME, "auth-service", definition="Signs", sources=[source.ulid], caller=CALLER
    )
    memoir = lookup.memoir(NAME)
    concept = Concept.objects.get(name="auth-service")
    link = ConceptLink.objects.get()
    value = json.loads(exported("json"))
    assert list(value) == ["memoir", "concepts", "links"]
    assert value["memoir"] == {
        "id": memoir.ulid,
        "name": NAME,
        "description": "System design decisions",
        "consolidation_threshold": 50,
        "created_at": memoir.created_at.isoformat(),
        "updated_at": memoir.updated_at.isoformat(),
    }
    assert value["concepts"][0] == {
        "id": concept.ulid,
        "name": "auth-service",
        "definition": "Signs",
        "labels": ["domain:auth", "type:service"],
        "confidence": 0.6,
        "revision": 2,
        "origin": "user",
        "source_memory_ids": [source.ulid],
        "created_at": concept.created_at.isoformat(),
        "updated_at": concept.updated_at.isoformat(),
    }
    assert value["links"] == [
        {
            "id": link.ulid,
            "source": "api-gateway",
            "target": "auth-service",
            "relation": "depends_on",
            "weight": 0.5,
            "origin": "user",
            "created_at": link.created_at.isoformat(),
        }
    ]


@pytest.mark.parametrize(
    ("confidence", "colour"),
    [
        (1.0, "#4CAF50"),
        (0.8, "#4CAF50"),
        (0.79, "#FFC107"),
        (0.5, "#FFC107"),
        (0.49, "#FF9800"),
        (0.3, "#FF9800"),
        (0.29, "#F44336"),
        (0.0, "#F44336"),
    ],
)
def test_a_colour_tells_the_confidence(confidence: float, colour: str) -> None:
    assert export.colour(confidence) == colour


def test_dot_draws_boxes_by_confidence_and_pens_by_weight() -> None:
    make_shop()
    assert exported("dot").splitlines() == [
        'digraph "system-architecture" {',
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
        '  "auth-service" [label="auth-service\\n(50%)", fillcolor="#FFC107", '
        'tooltip="Handles JWT"];',
        '  "api-gateway" [label="api-gateway\\n(85%)", fillcolor="#4CAF50", '
        'tooltip="Routes requests"];',
        '  "api-gateway" -> "auth-service" [label="depends_on", penwidth=1.50];',
        "}",
    ]


def test_ascii_draws_boxes_with_a_bar() -> None:
    make_shop()
    assert exported("ascii") == "\n".join(
        [
            "╔═════════════════════════╗",
            "║ system-architecture     ║",
            "║ System design decisions ║",
            "║ 2 concepts, 1 links     ║",
            "╚═════════════════════════╝",
            "",
            "┌─ auth-service [domain:auth, type:service] ##...",
            "│  Handles JWT",
            "│  <──depends_on── api-gateway",
            "└─",
            "",
            "┌─ api-gateway ####.",
            "│  Routes requests",
            "│  ──depends_on──> auth-service",
            "└─",
        ]
    )


def test_ai_is_markdown_for_a_prompt() -> None:
    make_shop()
    assert exported("ai") == "\n".join(
        [
            "# Memoir: system-architecture — System design decisions",
            "",
            "## Concepts (2)",
            "- **auth-service** [domain:auth, type:service] (50%): Handles JWT",
            "- **api-gateway** (85%): Routes requests",
            "",
            "## Relations (1)",
            "- api-gateway --depends_on--> auth-service (w:0.5)",
        ]
    )


def test_ai_puts_what_is_superseded_last() -> None:
    make_graph("old superseded_by new")
    lines = exported("ai").splitlines()
    assert lines.index("- **new** (50%): What new is.") < lines.index(
        "- **old** (50%): What old is."
    )


def test_mermaid_is_a_flowchart_with_colours() -> None:
    make_shop()
    assert exported("mermaid").splitlines() == [
        "flowchart LR",
        '  c1["auth-service"]',
        '  c2["api-gateway"]',
        "  c2 -->|depends_on| c1",
        "  classDef level0 fill:#4CAF50,color:#000",
        "  class c2 level0",
        "  classDef level1 fill:#FFC107,color:#000",
        "  class c1 level1",
    ]


def make_hostile() -> None:
    make_concept(HOSTILE, f"line one\n## Concepts (9)\r\n{HOSTILE}\\", labels=['a:b"c'])
    make_concept("end\\", 'x"]; evil [label="')
    make_link(HOSTILE, "depends_on", "end\\")


def test_dot_survives_hostile_names() -> None:
    make_hostile()
    head, *lines, end = exported("dot").splitlines()
    assert (head, end) == (f'digraph "{NAME}" {{', "}")
    nodes, edge = lines[3:5], lines[5]
    assert all(DOT_NODE.fullmatch(line) for line in nodes), nodes
    assert DOT_EDGE.fullmatch(edge), edge
    assert "&lt;" not in edge.replace("&amp;lt;", "")


def test_mermaid_survives_hostile_names() -> None:
    make_hostile()
    for line in exported("mermaid").splitlines()[1:3]:
        label = re.fullmatch(r'  c\d+\["([^"]*)"\]', line)
        assert label, line
        assert not re.search(r'[<>"`{}|\[\]\\&]', label[1])


@pytest.mark.parametrize("form", ["ascii", "ai"])
def test_a_text_cannot_imitate_another_line(form: str) -> None:
    make_hostile()
    lines = exported(form).splitlines()
    assert sum(line.startswith("## Concepts") for line in lines) == (form == "ai")
    assert sum("line one" in line for line in lines) == 1


def test_json_survives_hostile_names() -> None:
    make_hostile()
    assert json.loads(exported("json"))["concepts"][0]["name"] == HOSTILE


@pytest.mark.parametrize("form", [form for form in export.EXPORTERS if form != "svg"])
def test_an_empty_memoir_can_be_exported(form: str) -> None:
    make_memoir()
    assert NAME in exported(form) or form == "mermaid"


@pytest.mark.parametrize("form", [form for form in export.EXPORTERS if form != "svg"])
def test_an_export_takes_three_queries_for_any_size(
    form: str, django_assert_num_queries: Callable[..., object]
) -> None:
    make_graph(*(f"c{n} depends_on c{n + 1}" for n in range(40)))
    with django_assert_num_queries(3):  # type: ignore[attr-defined]
        exported(form)


def test_svg_without_graphviz_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    make_shop()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="svg needs Graphviz, .* not on the PATH"):
        exported("svg")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_svg_is_drawn_by_graphviz_from_any_names() -> None:
    make_hostile()
    root = ElementTree.fromstring(exported("svg"))
    texts = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {HOSTILE, "end\\", "depends_on"} <= texts

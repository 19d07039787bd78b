"""A memoir as one text: json, dot, ascii, ai, mermaid, and svg through Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from icm_site.errors import Unavailable
from memoirs.models import Concept, ConceptLink, Memoir
from memoirs.relations import Relation
from memories import formats
from memories.formats import plain

# Confidence from which a colour holds.
COLOURS = ((0.8, "#4CAF50"), (0.5, "#FFC107"), (0.3, "#FF9800"), (0.0, "#F44336"))
BAR = 5
WIDTH = 72
SVG_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Graph:
    """All that a memoir holds."""

    memoir: Memoir
    concepts: list[Concept]
    links: list[ConceptLink]

    @property
    def names(self) -> dict[int, str]:
        return {concept.pk: concept.name for concept in self.concepts}


def load(memoir: Memoir) -> Graph:
    """The whole memoir in two queries."""
    links = ConceptLink.objects.filter(source__memoir=memoir).order_by("id")
    return Graph(
        memoir=memoir,
        concepts=list(memoir.concepts.order_by("id")),
        links=list(links),
    )


def export(graph: Graph, form: str) -> str:
    """The graph in one of EXPORTERS' forms. Raises Unavailable for svg without dot."""
    return EXPORTERS[form](graph)


def as_json(graph: Graph) -> str:
    """Everything that is known of the memoir, pretty."""
    memoir, names = graph.memoir, graph.names
    value = {
        "memoir": {
            "id": memoir.ulid,
            "name": memoir.name,
            "description": memoir.description,
            "consolidation_threshold": memoir.consolidation_threshold,
            "created_at": _time(memoir.created_at),
            "updated_at": _time(memoir.updated_at),
        },
        "concepts": [_concept_json(concept) for concept in graph.concepts],
        "links": [_link_json(link, names) for link in graph.links],
    }
    return formats.dumps(value)


def _concept_json(concept: Concept) -> dict[str, object]:
    return {
        "id": concept.ulid,
        "name": concept.name,
        "definition": concept.definition,
        "labels": concept.labels,
        "confidence": concept.confidence,
        "revision": concept.revision,
        "origin": concept.origin,
        "source_memory_ids": concept.source_memory_ids,
        "created_at": _time(concept.created_at),
        "updated_at": _time(concept.updated_at),
    }


def _link_json(link: ConceptLink, names: dict[int, str]) -> dict[str, object]:
    return {
        "id": link.ulid,
        "source": names[link.source_id],
        "target": names[link.target_id],
        "relation": link.relation,
        "weight": link.weight,
        "origin": link.origin,
        "created_at": _time(link.created_at),
    }


def _time(moment: datetime) -> str:
    return moment.isoformat()


def colour(confidence: float) -> str:
    """The colour of a confidence, from green over amber to red."""
    return next(c for least, c in COLOURS if confidence >= least)


def as_dot(graph: Graph) -> str:
    """A Graphviz digraph: colour by confidence, pen width by weight."""
    names = graph.names
    lines = [
        f"digraph {_dot(graph.memoir.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for concept in graph.concepts:
        label = f"{_dot_escaped(concept.name)}\\n({concept.confidence:.0%})"
        lines.append(
            f'  {_dot(concept.name)} [label="{label}", '
            f'fillcolor="{colour(concept.confidence)}", '
            f"tooltip={_dot(concept.definition)}];"
        )
    for link in graph.links:
        lines.append(
            f"  {_dot(names[link.source_id])} -> {_dot(names[link.target_id])} "
            f'[label="{link.relation}", penwidth={0.5 + 2 * link.weight:.2f}];'
        )
    return "\n".join([*lines, "}"])


def _dot(text: str) -> str:
    return f'"{_dot_escaped(text)}"'


def _dot_escaped(text: str) -> str:
    """A text inside double quotes; Graphviz reads entities such as &lt; too."""
    escaped = plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return escaped.replace("&", "&amp;")


def as_ascii(graph: Graph) -> str:
    """Boxes for a terminal: each concept with a confidence bar and its links."""
    names = graph.names
    leaving, coming = defaultdict(list), defaultdict(list)
    for link in graph.links:
        leaving[link.source_id].append(f"──{link.relation}──> {names[link.target_id]}")
        coming[link.target_id].append(f"<──{link.relation}── {names[link.source_id]}")
    lines = _title_box(graph)
    for concept in graph.concepts:
        filled = round(concept.confidence * BAR)
        labels = f" [{', '.join(concept.labels)}]" if concept.labels else ""
        bar = "#" * filled + "." * (BAR - filled)
        inside = [concept.definition, *leaving[concept.pk], *coming[concept.pk]]
        lines += ["", f"┌─ {plain(concept.name)}{plain(labels)} {bar}"]
        lines += [f"│  {plain(line)}" for line in inside]
        lines.append("└─")
    return "\n".join(lines)


def _title_box(graph: Graph) -> list[str]:
    counts = f"{len(graph.concepts)} concepts, {len(graph.links)} links"
    rows = [graph.memoir.name, graph.memoir.description, counts]
    shown = [plain(row) for row in rows if row]
    width = max(len(row) for row in shown)
    middle = [f"║ {row:{width}} ║" for row in shown]
    return [f"╔{'═' * (width + 2)}╗", *middle, f"╚{'═' * (width + 2)}╝"]


def as_ai(graph: Graph) -> str:
    """Markdown for a model's prompt."""
    memoir, names = graph.memoir, graph.names
    about = f" — {plain(memoir.description)}" if memoir.description else ""
    lines = [f"# Memoir: {plain(memoir.name)}{about}", ""]
    lines += [f"## Concepts ({len(graph.concepts)})"]
    replaced = {
        link.source_id
        for link in graph.links
        if link.relation == Relation.SUPERSEDED_BY
    }
    lines += [
        _ai_concept(concept)
        for concept in sorted(graph.concepts, key=lambda c: c.pk in replaced)
    ]
    lines += ["", f"## Relations ({len(graph.links)})"]
    lines += [
        f"- {plain(names[link.source_id])} --{link.relation}--> "
        f"{plain(names[link.target_id])} (w:{link.weight:.1f})"
        for link in graph.links
    ]
    return "\n".join(lines)


def _ai_concept(concept: Concept) -> str:
    labels = f" [{plain(', '.join(concept.labels))}]" if concept.labels else ""
    return (
        f"- **{plain(concept.name)}**{labels} ({concept.confidence:.0%}): "
        f"{plain(concept.definition)}"
    )


def as_mermaid(graph: Graph) -> str:
    """A Mermaid flowchart, for Markdown pages that draw it."""
    place = {concept.pk: f"c{n}" for n, concept in enumerate(graph.concepts, 1)}
    lines = ["flowchart LR"]
    for concept in graph.concepts:
        shown = _mermaid(concept.name)
        lines.append(f'  {place[concept.pk]}["{shown}"]')
    for link in graph.links:
        lines.append(
            f"  {place[link.source_id]} -->|{link.relation}| {place[link.target_id]}"
        )
    for number, (_, fill) in enumerate(COLOURS):
        ids = [
            place[concept.pk]
            for concept in graph.concepts
            if colour(concept.confidence) == fill
        ]
        if ids:
            lines.append(f"  classDef level{number} fill:{fill},color:#000")
            lines.append(f"  class {','.join(ids)} level{number}")
    return "\n".join(lines)


def _mermaid(text: str) -> str:
    """A text inside a quoted Mermaid label, its own characters as number codes."""
    return "".join(
        char
        if char.isalnum() or char in " -_./:@+,()" or ord(char) > 126
        else f"#{ord(char)};"
        for char in plain(text)
    )


def as_svg(graph: Graph) -> str:
    """The dot form drawn by Graphviz. Raises Unavailable where that is missing."""
    program = shutil.which("dot")
    if program is None:
        raise Unavailable(
            "svg needs Graphviz, whose program `dot` is not on the PATH; the forms "
            "dot and mermaid need nothing"
        )
    try:
        done = subprocess.run(
            [program, "-Tsvg"],
            input=as_dot(graph),
            capture_output=True,
            encoding="utf-8",
            timeout=SVG_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"Graphviz has not drawn the graph within {SVG_SECONDS} s"
        ) from None
    if done.returncode != 0:
        raise Unavailable(f"Graphviz failed: {plain(done.stderr.strip())[:200]}")
    return done.stdout


EXPORTERS: dict[str, Callable[[Graph], str]] = {
    "json": as_json,
    "dot": as_dot,
    "ascii": as_ascii,
    "ai": as_ai,
    "mermaid": as_mermaid,
    "svg": as_svg,
}

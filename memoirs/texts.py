"""What MCP and the command line say of each result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from memoirs.relations import kebab
from memoirs.schemas import (
    ConceptRecord,
    ConceptResult,
    ConceptsResult,
    DeleteConceptResult,
    DeleteMemoirResult,
    ExportResult,
    GraphLink,
    HistoryResult,
    InspectResult,
    LinkRecord,
    LinkResult,
    MemoirRecord,
    MemoirResult,
    MemoirsResult,
    NeighborsResult,
    RevisionRecord,
    ShowResult,
)
from memories import formats
from memories.formats import plain

if TYPE_CHECKING:
    from rich.table import Table

NO_MEMOIRS = "No memoirs yet."
NO_CONCEPTS = "No concepts found."
DESCRIPTION_CHARS = 40

# The command line writes relations with hyphens, everything else with underscores.
Spell = Callable[[str], str]


def snake(relation: str) -> str:
    return relation


def as_json(result: BaseModel) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def compact_id(result: MemoirResult | ConceptResult) -> str:
    return f"ok:{result.id}"


def compact_link(result: LinkResult) -> str:
    return f"ok:{result.link.id}"


def created(result: MemoirResult) -> str:
    return _with_masked(f"Created memoir: {result.id}", result.redacted)


def created_tool(result: MemoirResult) -> str:
    line = f"Created memoir '{plain(result.name)}': {result.id}"
    return _with_masked(line, result.redacted)


def updated(result: MemoirResult) -> str:
    return _with_masked(f"Updated memoir: {plain(result.name)}", result.redacted)


def deleted(result: DeleteMemoirResult) -> str:
    return (
        f"Deleted memoir: {plain(result.name)}\n"
        f"{result.concepts} concepts and {result.links} links went with it."
    )


def listed_table(result: MemoirsResult) -> Table | str:
    if not result.memoirs:
        return NO_MEMOIRS
    from rich.table import Table

    table = Table("Name")
    table.add_column("Concepts", justify="right")
    table.add_column("Description")
    for memoir in result.memoirs:
        text = plain(memoir.description)
        if len(text) > DESCRIPTION_CHARS:
            text = f"{text[: DESCRIPTION_CHARS - 3]}..."
        table.add_row(plain(memoir.name), str(memoir.concepts), text)
    table.caption = "\n".join(_list_notes(result)) or None
    return table


def listed_tool(result: MemoirsResult) -> str:
    if not result.memoirs:
        return NO_MEMOIRS
    lines = [_memoir_line(memoir) for memoir in result.memoirs]
    return "\n".join([*lines, *_list_notes(result)])


def _list_notes(result: MemoirsResult) -> list[str]:
    notes = []
    if result.total > len(result.memoirs):
        notes.append(f"({len(result.memoirs)} of {result.total} memoirs)")
    if full := [plain(memoir.name) for memoir in result.memoirs if memoir.full]:
        notes.append(f"More concepts than their threshold: {', '.join(full)}")
    return notes


def _memoir_line(memoir: MemoirRecord) -> str:
    about = f" — {plain(memoir.description)}" if memoir.description else ""
    return f"{plain(memoir.name)} ({memoir.concepts} concepts){about}"


def shown(result: ShowResult) -> str:
    return _shown(result, definitions=False)


def shown_tool(result: ShowResult) -> str:
    return _shown(result, definitions=True)


def _shown(result: ShowResult, *, definitions: bool) -> str:
    memoir = result.memoir
    labels = ", ".join(f"{row.label} ({row.count})" for row in result.labels)
    rows = [
        ("Name", memoir.name),
        ("Description", memoir.description),
        ("Created", formats.local(memoir.created_at)),
        ("Updated", formats.local(memoir.updated_at)),
        ("Concepts", str(memoir.concepts)),
        ("Links", str(result.links)),
        ("Average confidence", f"{result.average_confidence:.2f}"),
        ("Labels", labels),
    ]
    lines = [f"{label}: {plain(text)}" for label, text in rows if text]
    if memoir.full:
        lines.append(
            f"Note: more than {memoir.consolidation_threshold} concepts; consider "
            "merging some, or splitting the memoir."
        )
    if result.concepts:
        lines.append("")
    for concept in result.concepts:
        line = f"{plain(concept.name)} {_state(concept)}"
        if concept.labels:
            line += f" ({plain(', '.join(concept.labels))})"
        if concept.superseded_by:
            line += f" superseded by {plain(', '.join(concept.superseded_by))}"
        lines.append(f"{line}: {plain(concept.definition)}" if definitions else line)
    if memoir.concepts > len(result.concepts):
        lines.append(f"({len(result.concepts)} of {memoir.concepts} concepts)")
    return "\n".join(lines)


def _state(concept: ConceptRecord) -> str:
    return f"[r{concept.revision} c{concept.confidence:.2f}]"


def added(result: ConceptResult) -> str:
    return _with_masked(f"Added concept: {result.id}", result.redacted)


def added_tool(result: ConceptResult) -> str:
    name, memoir = plain(result.name), plain(result.memoir)
    line = f"Added concept '{name}' to memoir '{memoir}': {result.id}"
    return _with_masked(line, result.redacted)


def refined(result: ConceptResult) -> str:
    return _with_masked(
        f"Refined: {plain(result.name)} {_gained(result)}", result.redacted
    )


def refined_tool(result: ConceptResult) -> str:
    return _with_masked(
        f"Refined '{plain(result.name)}' {_gained(result)}", result.redacted
    )


def _gained(result: ConceptResult) -> str:
    return f"(r{result.revision}, confidence={result.confidence:.2f})"


def concept_updated(result: ConceptResult) -> str:
    labels = f" ({plain(', '.join(result.labels))})" if result.labels else ""
    line = f"Updated concept: {plain(result.name)} {_gained(result)}{labels}"
    return _with_masked(line, result.redacted)


def concept_deleted(result: DeleteConceptResult) -> str:
    name, memoir = plain(result.name), plain(result.memoir)
    links = "1 link" if result.links == 1 else f"{result.links} links"
    return f"Deleted concept: {name} from memoir '{memoir}' (with {links})"


def _with_masked(line: str, redacted: Sequence[str]) -> str:
    if not redacted:
        return line
    return f"{line}\nMasked before storing: {', '.join(redacted)}"


def found(result: ConceptsResult) -> str:
    """Blocks of concepts of one memoir."""
    return _blocks(result.concepts, lambda c: f"{plain(c.name)} {_state(c)}")


def found_everywhere(result: ConceptsResult) -> str:
    """Blocks for the command line, where each names its memoir."""
    return _blocks(result.concepts, lambda c: f"{plain(c.name)} ({plain(c.memoir)})")


def found_everywhere_tool(result: ConceptsResult) -> str:
    return _blocks(
        result.concepts,
        lambda c: f"{plain(c.name)} ({plain(c.memoir)}) {_state(c)}",
    )


def found_compact(result: ConceptsResult) -> str:
    if not result.concepts:
        return NO_CONCEPTS
    lines = (
        f"[{plain(c.memoir)}] {plain(c.name)}: {plain(c.definition)}"
        for c in result.concepts
    )
    return "\n".join(lines)


def _blocks(
    concepts: Sequence[ConceptRecord], heading: Callable[[ConceptRecord], str]
) -> str:
    if not concepts:
        return NO_CONCEPTS
    return "\n".join(block(concept, heading(concept)) for concept in concepts)


def block(concept: ConceptRecord, heading: str) -> str:
    """One concept as labelled lines, with a blank line at its end."""
    rows = [
        ("definition", concept.definition),
        ("labels", ", ".join(concept.labels)),
        ("superseded by", ", ".join(concept.superseded_by)),
        ("replaces", ", ".join(concept.replaces)),
        ("sources", ", ".join(concept.source_memory_ids)),
    ]
    lines = [f"{label}: {plain(text)}" for label, text in rows if text]
    return "\n".join([f"--- {heading} ---", *lines, ""])


def arrow(link: GraphLink | LinkRecord, spell: Spell) -> str:
    return f"{plain(link.source)} --{spell(link.relation)}--> {plain(link.target)}"


def linked(result: LinkResult) -> str:
    return f"Linked: {arrow(result.link, kebab)} ({result.link.id})"


def linked_tool(result: LinkResult) -> str:
    return f"Linked: {arrow(result.link, snake)} ({result.link.id})"


def link_updated(result: LinkResult) -> str:
    return f"Updated link: {arrow(result.link, kebab)} (weight {result.link.weight:g})"


def link_deleted(result: LinkResult) -> str:
    return f"Deleted link: {arrow(result.link, kebab)}"


def neighbors(result: NeighborsResult) -> str:
    if not result.neighbors:
        return "No neighbors found."
    lines = []
    for one in result.neighbors:
        lines.append(arrow(one.link, kebab))
        lines.append(
            block(one.concept, f"{plain(one.concept.name)} {_state(one.concept)}")
        )
    return "\n".join(lines)


def inspected(result: InspectResult) -> str:
    return _inspected(result, kebab)


def inspected_tool(result: InspectResult) -> str:
    return _inspected(result, snake)


def _inspected(result: InspectResult, spell: Spell) -> str:
    """What has replaced the concept stands first, then itself and its graph."""
    shown = [*result.current, result.concept]
    lines = [block(c, f"{plain(c.name)} {_state(c)}") for c in shown]
    lines.append(f"Graph (depth={result.depth}):")
    lines += [f"  {arrow(link, spell)}" for link in result.links] or ["  (no links)"]
    if result.truncated:
        lines.append(f"  (the first {len(result.links)} links; there are more)")
    return "\n".join(lines)


def exported(result: ExportResult) -> str:
    return result.text


def history(result: HistoryResult) -> str:
    concept = result.concept
    lines = [
        f"{plain(concept.name)} {_state(concept)} since "
        f"{formats.local(concept.updated_at)} by {concept.origin}",
        f"  {plain(concept.definition)}",
    ]
    if result.revisions:
        lines.append("before (newest first):")
    for revision in result.revisions:
        lines += _revision_lines(revision)
    return "\n".join(lines)


def _revision_lines(revision: RevisionRecord) -> Iterable[str]:
    who = ", ".join(filter(None, (revision.surface, revision.origin, revision.host)))
    labels = f" ({plain(', '.join(revision.labels))})" if revision.labels else ""
    yield (
        f"  {plain(revision.name)} [r{revision.revision} "
        f"c{revision.confidence:.2f}]{labels} until {formats.local(revision.at)}, "
        f"{revision.operation} by {who}"
    )
    yield f"    {plain(revision.definition)}"

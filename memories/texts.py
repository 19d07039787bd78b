"""What MCP and the command line say of each result."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING

from memories import formats
from memories.fence import told
from memories.formats import plain
from memories.schemas import (
    EmbeddingsResult,
    EmbedResult,
    ForgetResult,
    GetResult,
    HistoryEntry,
    ListResult,
    MemoryRecord,
    RecallResult,
    RenameTopicResult,
    StatsResult,
    StoreResult,
    TopicsResult,
    UndoResult,
)
from memories.store import CONSOLIDATE_ABOVE

if TYPE_CHECKING:
    from rich.table import Table

CLOSE_CHARS = 120
NOTHING = "No memories found."
# The topic of what is remembered outside any project.
NO_PROJECT = "general"
SHORT_FIELDS = (
    "id",
    "topic",
    "summary",
    "importance",
    "weight",
    "keywords",
    "related_ids",
    "replaces",
    "same_as",
    "corrected_by",
    "created_at",
    "updated_at",
    "score",
    "relevance",
    "explain",
    "raw_excerpt",
    "raw_excerpt_bytes",
)


def stored(result: StoreResult) -> str:
    return "\n".join([_stored_line("Stored", result), *_store_notes(result)])


def stored_tool(result: StoreResult) -> str:
    return "\n".join([_stored_line("Stored memory", result), *_store_notes(result)])


def stored_compact(result: StoreResult) -> str:
    return f"ok:{result.id}"


def _stored_line(word: str, result: StoreResult) -> str:
    if result.similarity is None:
        plural = "s" if result.links != 1 else ""
        links = f" (+{result.links} link{plural})" if result.links else ""
        return f"{word}: {result.id}{links}"
    return f"Updated existing memory (similarity {result.similarity:.2f}): {result.id}"


def _store_notes(result: StoreResult) -> list[str]:
    notes = []
    if result.supersedes:
        notes.append(f"Replaces: {result.supersedes}")
    notes += [
        f"may update {row.id}: {plain(row.summary)[:CLOSE_CHARS]} ({row.reason})"
        for row in result.close
    ]
    if result.redacted:
        notes.append(f"Masked before storing: {', '.join(result.redacted)}")
    if result.in_topic > CONSOLIDATE_ABOVE:
        notes.append(
            f"Topic '{plain(result.topic)}' now holds {result.in_topic} memories; "
            "consider merging them into one summary."
        )
    return notes


def updated(result: StoreResult) -> str:
    return "\n".join([f"Updated: {result.id}", *_store_notes(result)])


def updated_tool(result: StoreResult) -> str:
    return "\n".join([f"Updated memory: {result.id}", *_store_notes(result)])


def recalled_tool(result: RecallResult) -> str:
    miss = [result.miss] if result.miss else []
    if not result.hits:
        return "\n".join([NOTHING, *miss])
    blocks = [_tool_block(hit) for hit in result.hits]
    return "\n".join([*blocks, *result.notes, *miss])


def _tool_block(record: MemoryRecord) -> str:
    rows = [
        ("topic", record.topic),
        ("importance", record.importance.value),
        ("weight", f"{record.weight:.3f}"),
        ("summary", formats.shown_summary(record)),
        ("keywords", ", ".join(record.keywords)),
        ("raw", formats.shown_raw(record)),
        ("origin", unattended(record)),
        ("related", ", ".join(record.related_ids)),
        ("replaces", ", ".join(record.replaces)),
        ("same as", ", ".join(record.same_as or ())),
        ("corrected by", record.corrected_by or ""),
        ("found by", formats.shown_explanation(record)),
    ]
    lines = [f"{label}: {plain(text)}" for label, text in rows if text]
    return "\n".join([formats.heading(record), *lines, ""])


def unattended(record: MemoryRecord) -> str:
    """Who brought what nobody looked at; "" for what a person or an agent stored."""
    return formats.shown_source(record) if record.origin in ("hook", "import") else ""


def recalled_compact(result: RecallResult) -> str:
    if not result.hits:
        return NOTHING
    return "\n".join(_compact_line(hit) for hit in result.hits)


def _compact_line(record: MemoryRecord) -> str:
    summary = formats.shown_summary(record)
    line = told(f"[{plain(record.topic)}] {summary}", record.origin)
    new = record.corrected_by
    return f"{line} (corrected by {new})" if new else line


def recalled_json(result: RecallResult) -> str:
    """Hits for programs behind MCP: absent values left out."""
    rows = [_short_json(hit) for hit in result.hits]
    return formats.dumps(rows, indent=None)


def _short_json(record: MemoryRecord) -> dict[str, object]:
    full = formats.json_record(record)
    row = {name: full[name] for name in SHORT_FIELDS if full.get(name)}
    row["weight"] = round(record.weight, 3)
    if record.score is not None:
        row["score"] = round(record.score, 3)
    if record.relevance is not None:
        row["relevance"] = round(record.relevance, 3)
    return row


def recalled_toon(result: RecallResult) -> str:
    """The table, and below it what only some of its rows have."""
    notes: dict[str, Callable[[MemoryRecord], str]] = {
        "corrected by": lambda hit: hit.corrected_by or "",
        "same as": lambda hit: ", ".join(hit.same_as or ()),
        "found by": formats.shown_explanation,
    }
    lines = [formats.toon(result.hits)]
    for name, told_of in notes.items():
        rows = [f"  {hit.id}: {told_of(hit)}" for hit in result.hits if told_of(hit)]
        lines += [f"{name}:", *rows] if rows else []
    return "\n".join(lines)


def recalled_toml(result: RecallResult) -> str:
    return formats.toml(result.hits)


def recalled_detail(result: RecallResult) -> str:
    return formats.detail(result.hits)


def recalled_as_json(result: RecallResult) -> str:
    return formats.as_json(result.hits)


def recall_notes(result: RecallResult) -> str:
    return "\n".join(filter(None, [*result.notes, result.miss]))


def shown(result: GetResult) -> str:
    """One memory with its history; a plain answer where there is none."""
    if result.memory is None:
        return f"Memory not found: {plain(result.id)}"
    return formats.block(result.memory) + "\n" + history(result)


def shown_json(result: GetResult) -> str:
    if result.memory is None:
        return "null"
    value = formats.json_record(result.memory)
    value["history"] = [entry.model_dump(mode="json") for entry in result.history]
    return formats.dumps(value)


def history(result: GetResult) -> str:
    if result.memory is None:
        return f"Memory not found: {plain(result.id)}"
    lines = [line for entry in result.history for line in _entry_lines(entry)]
    return "\n".join(["history (newest first):", *lines])


def _entry_lines(entry: HistoryEntry) -> list[str]:
    who = ", ".join(part for part in (entry.surface, entry.origin, entry.host) if part)
    undoes = f" (takes back {entry.undoes})" if entry.undoes else ""
    undone = " (undone)" if entry.undone else ""
    when = formats.local(entry.at)
    head = f"  {entry.change} {when} {entry.operation} by {who}{undoes}{undone}"
    if entry.before is None:
        return [head]
    return [
        head,
        *(
            f"    {name}: {_value(entry.before.get(name))} -> {_value(after)}"
            for name, after in entry.after.items()
        ),
    ]


def _value(value: object) -> str:
    text = value if isinstance(value, str) else formats.dumps(value, indent=None)
    text = plain(text)
    return text if len(text) <= 200 else f"{text[:200]}…"


def listed_table(result: ListResult) -> Table | str:
    if not result.memories:
        return NOTHING
    from rich.table import Table

    table = Table("ID", "Topic", "Importance", "Weight", "Created", "Summary")
    for memory in result.memories:
        table.add_row(
            memory.id,
            plain(memory.topic),
            memory.importance.value,
            f"{memory.weight:.3f}",
            formats.local(memory.created_at),
            plain(memory.summary),
        )
    return table


def list_note(result: ListResult) -> str:
    """Says on stderr that a list was cut, also where stdout is data."""
    shown = len(result.memories)
    cut = shown < result.total
    return f"{shown} of {result.total} memories are shown" if cut else ""


def listed_toon(result: ListResult) -> str:
    return formats.toon(result.memories)


def listed_json(result: ListResult) -> str:
    return formats.as_json(result.memories)


def listed_toml(result: ListResult) -> str:
    return formats.toml(result.memories)


def forgotten(result: ForgetResult) -> str:
    return _forgotten("Deleted", result, command="icm undo")


def forgotten_tool(result: ForgetResult) -> str:
    return _forgotten("Deleted memory", result, command="icm_memory_undo")


def _forgotten(word: str, result: ForgetResult, *, command: str) -> str:
    if result.topic is not None:
        line = f"Deleted {result.count} memories from topic: {plain(result.topic)}"
    else:
        line = f"{word}: {result.id}"
    if result.change is None:
        return line
    return f"{line}\nHidden, not erased: {command} {result.change} brings back."


def undone(result: UndoResult) -> str:
    ids = ", ".join(result.ids)
    return (
        f"Undone: {result.operation} {result.undid} ({ids})\n"
        f"This undo is change {result.change} and can be undone itself."
    )


def topics_table(result: TopicsResult) -> Table | str:
    if not result.topics:
        return "No topics yet."
    from rich.table import Table

    table = Table("Topic")
    table.add_column("Count", justify="right")
    for row in result.topics:
        table.add_row(plain(row.topic), str(row.count))
    return table


def topics_json(result: TopicsResult) -> str:
    rows = [row.model_dump() for row in result.topics]
    return formats.dumps(rows)


def topics_tool(result: TopicsResult) -> str:
    """Plain topics first, then those with a colon grouped under their prefix."""
    if not result.topics:
        return "No topics yet."
    single = [row for row in result.topics if ":" not in row.topic]
    grouped = [row for row in result.topics if ":" in row.topic]
    lines = ["Topics:", *(f"  {plain(r.topic)} ({r.count})" for r in single)]
    grouped.sort(key=lambda row: row.topic.partition(":")[0])
    for prefix, rows in groupby(grouped, key=lambda row: row.topic.partition(":")[0]):
        members = list(rows)
        lines.append(f"[{plain(prefix)}] ({sum(r.count for r in members)} total):")
        lines += [f"  {plain(row.topic)} ({row.count})" for row in members]
    return "\n".join(lines)


def renamed(result: RenameTopicResult) -> str:
    line = (
        f"Renamed topic: {plain(result.old)} -> {plain(result.new)} "
        f"({result.moved} memories"
    )
    merged = f", {result.merged} merged with equal ones" if result.merged else ""
    return f"{line}{merged})"


def stats(result: StatsResult) -> str:
    rows = [
        ("Memories", str(result.memories)),
        ("Topics", str(result.topics)),
        ("Average weight", f"{result.average_weight:.3f}"),
    ]
    if result.oldest and result.newest:
        rows += [
            ("Oldest", formats.local(result.oldest)),
            ("Newest", formats.local(result.newest)),
        ]
    if result.hidden:
        hidden = ", ".join(f"{count} {state}" for state, count in result.hidden.items())
        rows.append(("Hidden", hidden))
    reason = f" ({result.reason})" if result.reason else ""
    rows += [
        ("With a vector", f"{result.embedded} of {result.searchable}{reason}"),
        ("Embedding model", result.model),
        ("Text index", result.text_index),
        ("Vector index", result.vector_index),
        ("Paused", result.paused),
        ("Note", result.note),
    ]
    return "\n".join(f"{label}: {text}" for label, text in rows if text)


def stats_json(result: StatsResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def embedded(result: EmbedResult) -> str:
    if result.total == 0:
        return "All memories already have embeddings."
    line = (
        f"Embedded {result.embedded}/{result.total} memories ({result.errors} errors)."
    )
    return f"Backup: {result.backup}\n{line}" if result.backup else line


def embeddings(result: EmbeddingsResult) -> str:
    state = "ready" if result.available else f"not available: {result.reason}"
    lines = [
        f"Embedding model: {result.model}",
        f"State: {state}",
        f"With a vector: {result.embedded} of {result.searchable} memories",
        result.note,
    ]
    return "\n".join(line for line in lines if line)


def project_note(result: StoreResult) -> str:
    """Says which project gave the topic, where none was named."""
    if result.topic != (result.project or NO_PROJECT):
        return ""
    return f"Project: {result.project or '(none)'}"

"""What MCP and the command line say of the operations that tidy up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memories import formats
from memories.care_schemas import (
    ConsolidateResult,
    DecayResult,
    DownloadResult,
    HealthResult,
    PruneResult,
    PurgeResult,
    RelatedResult,
    ScheduleResult,
    SuggestionListResult,
    SuggestionRecord,
    SuggestionResult,
)
from memories.formats import plain
from memories.schemas import MemoryRecord

if TYPE_CHECKING:
    from rich.console import Group

SHOWN = 40
SHOWN_CHARS = 300
PLAIN_JOIN = (
    "No language model was used: the texts were joined as they are, "
    "which is no summary."
)


def suggestions(result: SuggestionListResult) -> str:
    if not result.suggestions:
        return "No suggestions."
    return "\n".join(_suggestion_block(row) for row in result.suggestions)


def _suggestion_block(row: SuggestionRecord) -> str:
    kind = row.kind.replace("_", " ")
    return "\n".join(
        [
            f"--- {row.id} [{kind}, {row.status}] ---",
            f"newer: {row.source_id} {plain(row.source)}",
            f"older: {row.target_id} {plain(row.target)}",
            f"why: {plain(row.reason)} (likeness {row.score:.2f})",
            "",
        ]
    )


def suggestions_json(result: SuggestionListResult) -> str:
    rows = [row.model_dump(mode="json") for row in result.suggestions]
    return formats.dumps(rows)


def accepted(result: SuggestionResult) -> str:
    row = result.suggestion
    return (
        f"Accepted: {row.source_id} replaces {row.target_id}\n"
        f"Change {result.change} can be undone."
    )


def dismissed(result: SuggestionResult) -> str:
    return f"Dismissed: {result.suggestion.id}; both memories stay."


def related(result: RelatedResult) -> str:
    if not result.related:
        return "No related memories."
    return "\n".join(
        f"{row.hops} away: {row.memory.id} [{plain(row.memory.topic)}] "
        f"{plain(row.memory.summary)}"
        for row in result.related
    )


def related_json(result: RelatedResult) -> str:
    rows = [
        formats.json_record(row.memory) | {"hops": row.hops} for row in result.related
    ]
    return formats.dumps(rows)


def decayed(result: DecayResult) -> str:
    return f"Decay applied (factor={result.factor:g}) to {result.memories} memories."


def pruned(result: PruneResult) -> str:
    count = len(result.memories)
    lines = [f"{m.id}  {m.weight:.3f}  {plain(m.topic)}" for m in result.memories]
    if result.dry_run:
        return "\n".join([*lines, f"Would prune {count} memories."])
    line = f"Pruned {count} memories (weight below {result.threshold:g})."
    if result.change is None:
        return line
    return f"{line}\nHidden, not erased: icm undo {result.change} brings them back."


def health(result: HealthResult) -> str:
    if not result.topics:
        return "No topics yet."
    lines = [
        f"{plain(row.topic)}: {row.status}, {row.entries} entries, average weight "
        f"{row.average_weight:.3f}, {row.stale} stale, average access "
        f"{row.average_access:.1f}"
        for row in result.topics
    ]
    return "\n".join([*lines, _health_line(result)])


def health_table(result: HealthResult) -> Group | str:
    if not result.topics:
        return "No topics yet."
    from rich.console import Group
    from rich.table import Table

    table = Table("Topic", "Status")
    for name in ("Entries", "AvgWgt", "Stale"):
        table.add_column(name, justify="right")
    for row in result.topics:
        table.add_row(
            plain(row.topic),
            row.status,
            str(row.entries),
            f"{row.average_weight:.3f}",
            str(row.stale),
        )
    return Group(table, _health_line(result))


def health_json(result: HealthResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def _health_line(result: HealthResult) -> str:
    line = (
        f"{len(result.topics)} topics, {result.need_consolidation} need "
        f"consolidation, {result.stale} stale entries"
    )
    if result.need_consolidation:
        line += (
            "\nTip: write a summary and pass it to consolidate; without one the texts "
            "are only joined."
        )
    if result.full_memoirs:
        names = ", ".join(plain(name) for name in result.full_memoirs)
        line += f"\nMemoirs over their threshold: {names}"
    return line


def consolidated(result: ConsolidateResult) -> str:
    head = f"Consolidated topic: {plain(result.topic)}"
    if result.id is None:
        head = f"Would consolidate topic: {plain(result.topic)}"
    count = len(result.replaced)
    line = f"{head} ({count} replaced, {result.left} left, {result.critical} critical)"
    if result.id is None:
        return "\n".join([line, *_short(result.replaced)])
    return f"{line}\nNew memory: {result.id}\nUndo: {result.change}"


def consolidated_command(result: ConsolidateResult) -> str:
    if result.id is None:
        return consolidated(result)
    topic = plain(result.topic)
    count = len(result.replaced)
    if result.kept_originals:
        lines = [f"Consolidated {count} memories from '{topic}' into {result.id}."]
    else:
        lines = [
            f"Consolidated {count} memories from '{topic}' into 1 (originals removed).",
            f"New memory: {result.id}",
            f"Hidden, not erased: icm undo {result.change} brings them back.",
        ]
    return "\n".join([*lines, PLAIN_JOIN] if result.joined else lines)


def purged(result: PurgeResult) -> str:
    count = len(result.memories)
    if not result.erased:
        lines = [*_short(result.memories), f"Would erase {count} memories for good."]
        if count:
            lines.append("Add --yes to erase them; nothing was changed.")
    else:
        lines = [f"Erased {count} memories and {result.revisions} revisions."]
    if not result.complete:
        lines.append(
            "Another process keeps the database open, or the disk is full: freed "
            "pages or the log may hold the text until you run this purge again."
        )
    if result.backups:
        lines.append("Backups that may still hold the text:")
        lines += [f"  {path}" for path in result.backups]
    return "\n".join(lines)


def _short(memories: Sequence[MemoryRecord]) -> list[str]:
    lines = [f"  {m.id} {plain(m.summary)[:SHOWN_CHARS]}" for m in memories[:SHOWN]]
    more = len(memories) - SHOWN
    return [*lines, f"  … and {more} more"] if more > 0 else lines


def downloaded(result: DownloadResult) -> str:
    return f"Ready: {result.model} ({result.dimensions} dimensions)"


def scheduled(result: ScheduleResult) -> str:
    if not result.created:
        return f"Removed {result.removed} schedules."
    names = ", ".join(result.created)
    return f"Scheduled: {names}. They run while `manage.py qcluster` does."

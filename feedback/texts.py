"""What MCP and the command line say of each result."""

from __future__ import annotations

from collections.abc import Sequence

from feedback.schemas import (
    ApplyResult,
    DeleteResult,
    FeedbackRecord,
    HelpfulResult,
    ListResult,
    RecordResult,
    SearchResult,
    StatsResult,
)
from icm_site.text import cut
from memories import formats
from memories.formats import plain

NOTHING = "No feedback found."
SHOWN_BYTES = 2048
GIST_CHARS = 80


def recorded(result: RecordResult) -> str:
    """The id, an echo of the fields, and what was done with them."""
    row = result.feedback
    lines = [f"Recorded feedback: {row.id}", f"topic: {plain(row.topic)}"]
    lines += _fields(row)
    if result.redacted:
        lines.append(f"Masked before storing: {', '.join(result.redacted)}")
    if result.stored:
        lines.append(
            f"The correction is stored as a memory; undo {result.stored} takes it back."
        )
    return "\n".join(lines)


def recorded_compact(result: RecordResult) -> str:
    return f"ok:{result.feedback.id}"


def found(result: SearchResult) -> str:
    return _blocks(result.feedback)


def found_compact(result: SearchResult) -> str:
    """One line a record, as recall does in compact mode."""
    if not result.feedback:
        return NOTHING
    return "\n".join(
        f"{row.id} [{plain(row.topic)}] {_gist(row.predicted)}"
        f" -> {_gist(row.corrected)}"
        for row in result.feedback
    )


def found_json(result: SearchResult) -> str:
    return _json(result.feedback)


def listed(result: ListResult) -> str:
    return _blocks(result.feedback)


def listed_json(result: ListResult) -> str:
    return _json(result.feedback)


def stats(result: StatsResult) -> str:
    if not result.total:
        return "No feedback yet."
    lines = [f"Feedback: {result.total}", "By topic:"]
    lines += [f"  {plain(row.topic)} ({row.count})" for row in result.topics]
    if result.most_applied:
        lines.append("Most applied:")
    lines += [f"  {_applied_line(row)}" for row in result.most_applied]
    return "\n".join(lines)


def _applied_line(row: FeedbackRecord) -> str:
    head = f"{row.id} [{plain(row.topic)}] x{row.applied_count}"
    return f"{head}: {_gist(row.corrected)}"


def stats_json(result: StatsResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def applied(result: ApplyResult) -> str:
    return f"Applied feedback: {result.id} (x{result.applied_count})"


def deleted(result: DeleteResult) -> str:
    return f"Deleted feedback: {result.id}"


def helpful(result: HelpfulResult) -> str:
    if result.changed:
        word = "No longer marked" if result.undo else "Marked"
    else:
        word = "Was not marked" if result.undo else "Was already marked"
    return f"{word} as helpful: {result.id}"


def helpful_compact(result: HelpfulResult) -> str:
    return f"ok:{result.id}"


def _blocks(rows: Sequence[FeedbackRecord]) -> str:
    if not rows:
        return NOTHING
    return "\n".join(_block(row) for row in rows)


def _block(row: FeedbackRecord) -> str:
    head = f"--- {row.id} [{plain(row.topic)}] ---"
    return "\n".join([head, *_fields(row), f"applied: {row.applied_count}", ""])


def _fields(row: FeedbackRecord) -> list[str]:
    rows = [
        ("context", row.context),
        ("predicted", row.predicted),
        ("corrected", row.corrected),
        ("reason", row.reason),
        ("source", row.source),
        ("memory", row.memory),
        ("correction", row.correction),
    ]
    return [f"{label}: {_shown(text)}" for label, text in rows if text]


def _shown(text: str) -> str:
    """A text on one line, up to a bound, with its full size where it is longer."""
    line, size = plain(text), len(text.encode("utf-8"))
    if size <= SHOWN_BYTES:
        return line
    return f"{cut(line, SHOWN_BYTES)} […] ({size} bytes in all)"


def _gist(text: str) -> str:
    line = plain(text)
    return line if len(line) <= GIST_CHARS else f"{line[:GIST_CHARS]}…"


def _json(rows: Sequence[FeedbackRecord]) -> str:
    """A pretty JSON array with every field; absent scores are left out."""
    values = [row.model_dump(mode="json") for row in rows]
    for value in values:
        if value["score"] is None:
            del value["score"]
    return formats.dumps(values)

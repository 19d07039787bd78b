"""Lists of memories as toon, detail, json and toml (shapes of the documentation)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from icm_site.text import cut, flatten
from memories.rank import SHOWN_CHARS
from memories.schemas import MemoryRecord

RAW_BYTES = 2048
# What moves a terminal's cursor, changes its colours or turns the reading direction.
_C1 = range(0x80, 0xA0)
_TURNS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
# C0 as the pictures that Unicode has of them, so that nothing is lost unseen.
_SEEN = (
    {code: 0x2400 + code for code in range(0x20)}
    | {ord("\t"): " ", 0x7F: 0x2421}
    | dict.fromkeys(_C1, "\ufffd")
    | dict.fromkeys(_TURNS)
)
# JSON escapes C0 alone, and TOML forbids a bare DEL.
_ESCAPED = {code: f"\\u{code:04x}" for code in (0x7F, *_C1, *_TURNS)}


def toon(records: Sequence[MemoryRecord]) -> str:
    """One header, then one row a memory; the score only where there is one."""
    scored = any(record.score is not None for record in records)
    columns = ["id", "topic", "importance", "weight", "summary"]
    if scored:
        columns.insert(0, "score")
    lines = [f"memories[{len(records)}]{{{','.join(columns)}}}:"]
    for record in records:
        cells = [
            record.id,
            record.topic,
            record.importance.value,
            f"{record.weight:.3f}",
            record.summary,
        ]
        if scored:
            cells.insert(0, f"{record.score or 0.0:.3f}")
        lines.append("  " + ",".join(_toon_cell(cell) for cell in cells))
    return "\n".join(lines)


def _toon_cell(value: str) -> str:
    text = plain(value)
    if any(mark in text for mark in ',"'):
        return '"' + text.replace('"', '""') + '"'
    return text


def plain(text: str) -> str:
    """A stored text as people see it: on one line, and unable to act on a terminal."""
    return flatten(text).translate(_SEEN)


def dumps(value: object, *, indent: int | None = 2) -> str:
    """JSON that is readable in any language, and unable to act on a terminal."""
    return escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def escaped(text: str) -> str:
    """JSON or TOML whose strings have no bare character that acts on a terminal."""
    return text.translate(_ESCAPED)


def detail(records: Sequence[MemoryRecord]) -> str:
    """Labelled blocks, one a memory."""
    if not records:
        return "No memories found."
    return "\n".join(block(record) for record in records)


def block(record: MemoryRecord) -> str:
    """One memory as labelled lines, with a blank line at its end."""
    rows = [
        ("topic", record.topic),
        ("importance", record.importance.value),
        ("weight", f"{record.weight:.3f}"),
        ("created", local(record.created_at)),
        ("accessed", f"{local(record.last_accessed)} (x{record.access_count})"),
        ("summary", record.summary),
        ("keywords", ", ".join(record.keywords)),
        ("raw", shown_raw(record)),
        ("related", ", ".join(record.related_ids)),
        ("replaces", ", ".join(record.replaces)),
        ("same as", ", ".join(record.same_as or ())),
        ("corrected by", record.corrected_by or ""),
        ("replaced by", record.superseded_by or ""),
        ("state", "" if record.state == "live" else record.state),
        ("source", shown_source(record)),
        ("vector", "yes" if record.has_embedding else "no"),
        ("found by", shown_explanation(record)),
    ]
    return "\n".join([heading(record), *_lines(rows), ""])


def heading(record: MemoryRecord) -> str:
    score = "" if record.score is None else f" [score: {record.score:.3f}]"
    return f"--- {record.id}{score} ---"


def _lines(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{label + ':':12} {plain(text)}" for label, text in rows if text]


def shown_raw(record: MemoryRecord) -> str:
    """The excerpt up to a bound, with its full size beside it where it is longer."""
    if record.raw_excerpt is None:
        return ""
    size = len(record.raw_excerpt.encode("utf-8"))
    if size <= RAW_BYTES:
        return record.raw_excerpt
    return f"{cut(record.raw_excerpt, RAW_BYTES)} […] ({size} bytes in all)"


def shown_summary(record: MemoryRecord) -> str:
    """The text on one line, its beginning with the full size where it is very long."""
    size = len(record.summary)
    if size <= SHOWN_CHARS:
        return plain(record.summary)
    beginning = plain(record.summary[:SHOWN_CHARS])
    return f"{beginning} […] ({size} characters in all: icm_memory_get {record.id})"


def shown_source(record: MemoryRecord) -> str:
    parts = [record.origin, record.host, record.source.data.get("git_commit", "")[:12]]
    return ", ".join(part for part in parts if part)


def shown_explanation(record: MemoryRecord) -> str:
    if record.explain is None:
        return ""
    arms = [
        f"{arm} rank {rank} ({value:.3f})"
        for arm, (rank, value) in record.explain.arms.items()
    ]
    return f"{', '.join(arms)}; {record.explain.decided}"


def as_json(records: Sequence[MemoryRecord]) -> str:
    """A pretty JSON array with every field; what no search gave is left out."""
    return dumps([json_record(r) for r in records])


def json_record(record: MemoryRecord) -> dict[str, object]:
    """A memory as JSON; its source flat, as `{type, session_id, …}`."""
    value = record.model_dump(mode="json")
    value["source"] = {"type": record.source.type, **record.source.data}
    for name in ("score", "relevance", "explain", "same_as"):
        if value[name] is None:
            del value[name]
    if record.raw_excerpt is not None:
        size = len(record.raw_excerpt.encode("utf-8"))
        if size > RAW_BYTES:
            value["raw_excerpt"] = cut(record.raw_excerpt, RAW_BYTES)
            value["raw_excerpt_bytes"] = size
    return value


def toml(records: Sequence[MemoryRecord]) -> str:
    """`[[memories]]` tables; nothing at all for an empty list."""
    return "\n".join(_toml_table(record) for record in records)


def _toml_table(record: MemoryRecord) -> str:
    rows: dict[str, object] = {
        "score": record.score if record.score is None else round(record.score, 3),
        "id": record.id,
        "topic": record.topic,
        "importance": record.importance.value,
        "weight": round(record.weight, 3),
        "access_count": record.access_count,
        "created_at": record.created_at.isoformat(),
        "last_accessed": record.last_accessed.isoformat(),
        "summary": record.summary,
        "keywords": record.keywords,
        "raw_excerpt": shown_raw(record) or None,
        "corrected_by": record.corrected_by,
        "same_as": record.same_as,
    }
    lines = [f"{name} = {_toml(v)}" for name, v in rows.items() if v is not None]
    return "\n".join(["[[memories]]", *lines, ""])


def _toml(value: object) -> str:
    # A JSON string, number or list of strings is TOML too, but for the bare DEL
    # character and escaped surrogate pairs.
    return dumps(value, indent=None)


def local(moment: datetime) -> str:
    """A time in the user's zone, to the minute."""
    # The first and last days that there are, and on some systems all before 1970, have
    # no time in every zone.
    with suppress(OverflowError, ValueError, OSError):
        moment = moment.astimezone()
    return f"{moment:%Y-%m-%d %H:%M}"

"""Memories and concepts in one answer: how a hit looks, and what it costs."""

from __future__ import annotations

from memoirs.schemas import SearchAllResult, SearchHit
from memories import formats, texts
from memories.fence import told
from memories.formats import plain

NOTHING = "Nothing found."


def found(result: SearchAllResult) -> str:
    if not result.hits:
        return "\n".join([NOTHING, *result.notes])
    return "\n".join([*map(hit_text, result.hits), *result.notes])


def found_compact(result: SearchAllResult) -> str:
    if not result.hits:
        return "\n".join([NOTHING, *result.notes])
    return "\n".join(_line(hit) for hit in result.hits)


def found_json(result: SearchAllResult) -> str:
    """Hits as a pretty list: kind, score, and the fields of the memory or concept."""
    rows = [_row(hit) for hit in result.hits]
    return formats.dumps(rows)


def notes(result: SearchAllResult) -> str:
    return "\n".join(result.notes)


def hit_text(hit: SearchHit) -> str:
    """One hit as labelled lines, with a blank line at its end."""
    if hit.memory is not None:
        memory = hit.memory
        name = memory.id
        rows = [
            ("topic", memory.topic),
            ("importance", memory.importance.value),
            ("summary", memory.summary),
            ("keywords", ", ".join(memory.keywords)),
            ("raw", formats.shown_raw(memory)),
            ("origin", texts.unattended(memory)),
            ("replaces", ", ".join(memory.replaces)),
            ("same as", ", ".join(memory.same_as or ())),
            ("corrected by", memory.corrected_by or ""),
        ]
    else:
        concept = hit.concept
        assert concept is not None
        name = f"{plain(concept.name)} ({plain(concept.memoir)})"
        rows = [
            ("definition", concept.definition),
            ("labels", ", ".join(concept.labels)),
            ("confidence", f"{concept.confidence:.2f}"),
            ("superseded by", ", ".join(concept.superseded_by)),
            ("replaces", ", ".join(concept.replaces)),
        ]
    lines = [f"{label}: {plain(text)}" for label, text in rows if text]
    return "\n".join(
        [f"--- {hit.kind} {name} [score: {hit.score:.3f}] ---", *lines, ""]
    )


def _line(hit: SearchHit) -> str:
    if hit.memory is not None:
        memory = hit.memory
        line = f"[{plain(memory.topic)}] {plain(memory.summary)}"
        return told(line, memory.origin)
    assert hit.concept is not None
    concept = hit.concept
    return f"[{plain(concept.memoir)}] {plain(concept.name)}: " + plain(
        concept.definition
    )


def _row(hit: SearchHit) -> dict[str, object]:
    head: dict[str, object] = {"kind": hit.kind, "score": round(hit.score, 3)}
    if hit.memory is not None:
        fields = formats.json_record(hit.memory)
    else:
        assert hit.concept is not None
        fields = hit.concept.model_dump(mode="json")
    fields.pop("score", None)
    return head | fields

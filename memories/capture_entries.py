"""The list of the operations of capture, and how each surface shows it."""

from __future__ import annotations

from icm_site.operation import Command, Operation
from icm_site.text import flatten
from memories.capture_operations import ExtractResult, memory_extract


def extracted(result: ExtractResult) -> str:
    """How many facts; in a dry run each with its importance, kind, topic and why."""
    if not result.facts:
        kept = " The end of the text was kept." if result.raw else ""
        return f"No facts extracted.{kept}"
    count = f"{len(result.facts)} facts"
    if not result.dry_run:
        known = len(result.facts) - result.new
        note = f" ({known} of them were known)" if known else ""
        return f"Extracted and stored {count}.{note}"
    return "\n".join([f"Would extract {count}:", *shown(result)])


def shown(result: ExtractResult) -> list[str]:
    """Two lines a fact: what would be stored, and the signals that speak for it."""
    lines = []
    for fact in result.facts:
        content = flatten(fact.content)
        lines.append(f"  [{fact.importance} {fact.kind}] ({fact.topic}) {content}")
        lines.append(f"      {fact.score:g}: {', '.join(fact.reasons)}")
    return lines


def extracted_json(result: ExtractResult) -> str:
    return result.model_dump_json(indent=2)


OPERATIONS = [
    Operation(
        run=memory_extract,
        http=False,
        long=True,
        example={"text": "We decided to use Postgres 16 because of its JSON indexes."},
        commands=(
            Command(
                words=("extract",),
                formats={"text": extracted, "json": extracted_json},
                flags={"project": ("-p", "--project"), "text": ("-t", "--text")},
            ),
        ),
    ),
]

"""What is stored as Markdown, for reading: by topic, then memoirs, then feedback."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from icm_site.exchange.columns import Mask
from icm_site.exchange.exporting import Choice, rows_of
from icm_site.exchange.kinds import BY_NAME
from icm_site.exchange.rows import BATCH
from memories.models import State


def lines(choice: Choice, mask: Mask) -> Iterator[bytes]:
    """The parts of the page as UTF-8."""
    parts = {"memories": _memories, "memoirs": _memoirs, "feedback": _feedback}
    yield b"# Memory\n"
    for group in choice.groups:
        for text in parts[group](choice):
            yield f"{mask(text)}\n".encode("utf-8", "replace")


def _found(name: str, choice: Choice) -> QuerySet[Any]:
    return rows_of(BY_NAME[name], choice)


def _memories(choice: Choice) -> Iterator[str]:
    """Live and superseded memories; what is hidden is in the JSON lines."""
    seen = [State.LIVE, State.SUPERSEDED]
    rows = _found("memory", choice).filter(state__in=seen)
    topic = None
    for memory in rows.order_by("topic_key", "pk").iterator(BATCH):
        if memory.topic_key != topic:
            topic = memory.topic_key
            yield f"\n## {memory.topic}\n"
        about = [memory.importance, _day(memory.created_at), memory.ulid]
        if memory.state != State.LIVE:
            about.append(memory.state)
        if memory.keywords:
            about.append(f"keywords: {', '.join(memory.keywords)}")
        yield f"- {_indented(memory.summary)}\n  ({'; '.join(about)})"


def _memoirs(choice: Choice) -> Iterator[str]:
    for memoir in _found("memoir", choice).order_by("name").iterator(BATCH):
        yield f"\n## Memoir: {memoir.name}\n"
        if memoir.description:
            yield f"{memoir.description}\n"
        for concept in memoir.concepts.order_by("pk").iterator(BATCH):
            labels = f" [{', '.join(concept.labels)}]" if concept.labels else ""
            yield f"- **{concept.name}**{labels}: {_indented(concept.definition)}"
            links = concept.links_out.select_related("target").order_by("pk")
            yield from (f"  - {link.relation} {link.target.name}" for link in links)


def _feedback(choice: Choice) -> Iterator[str]:
    heading = "\n## Feedback\n"
    for row in _found("feedback", choice).order_by("pk").iterator(BATCH):
        if heading:
            yield heading
            heading = ""
        yield (
            f"- {row.topic}: {_indented(row.context)}\n"
            f"  - predicted: {_indented(row.predicted)}\n"
            f"  - corrected: {_indented(row.corrected)}"
        )
        if row.reason:
            yield f"  - reason: {_indented(row.reason)}"


def _indented(text: str) -> str:
    return text.strip().replace("\n", "\n  ")


def _day(moment: datetime) -> str:
    return moment.astimezone().date().isoformat()

"""The texts of the dashboard: pure functions from results to lines without markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from icm_site.dashboard.source import Overview

CELLS, BAR, SHOWN = 5, 24, 400
TOP_TOPICS = 8
GOOD, FAIR = 0.8, 0.5


def plain(text: object, *, limit: int = SHOWN) -> str:
    """One line that cannot act on the terminal, whatever was stored."""
    visible = "".join(c if c.isprintable() else " " for c in str(text))
    line = " ".join(visible.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def block(text: object) -> str:
    """Several lines that cannot act on the terminal."""
    return "\n".join(plain(line, limit=2_000) for line in str(text).splitlines())


def weight(value: float) -> Text:
    """A weight as five cells and a number."""
    full = round(min(max(value, 0.0), 1.0) * CELLS)
    style = "green" if value >= GOOD else "yellow" if value >= FAIR else "red"
    return Text(f"{'█' * full}{'░' * (CELLS - full)} {value:.2f}", style=style)


def size(count: int) -> str:
    """Bytes as people read them."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def overview(shown: Overview) -> Text:
    """The first tab."""
    stats = shown.stats
    concepts = sum(row.concepts for row in shown.memoirs)
    days = [f"{at:%Y-%m-%d}" for at in (stats.oldest, stats.newest) if at]
    lines = [
        f"Memories  {stats.memories:>7}   Topics    {stats.topics:>7}",
        f"Memoirs   {len(shown.memoirs):>7}   Concepts  {concepts:>7}",
        f"Feedback  {shown.feedback:>7}   Vectors   {stats.embedded:>7}",
        f"Average weight  {stats.average_weight:.2f}",
        f"From {days[0]} to {days[-1]}" if days else "Nothing is stored yet.",
        f"{plain(shown.path)} ({size(shown.size)})",
        "",
    ]
    text = Text("\n".join(lines))
    text.append_text(_health_bar(shown.health.topics))
    for row in _bars(shown.topics):
        text.append(row)
    return text


def _health_bar(topics: Sequence[Any]) -> Text:
    if not topics:
        return Text("")
    share = sum(row.status == "healthy" for row in topics) / len(topics)
    style = "green" if share >= GOOD else "yellow" if share >= FAIR else "red"
    full = round(share * BAR)
    return Text(
        f"\nHealthy topics {'█' * full}{'░' * (BAR - full)} {share:.0%}\n", style=style
    )


def _bars(topics: Sequence[Any]) -> Iterable[str]:
    largest = sorted(topics, key=lambda row: (-row.count, row.topic))[:TOP_TOPICS]
    most = max((row.count for row in largest), default=1)
    for row in largest:
        cells = "▇" * max(1, round(row.count / most * BAR))
        yield f"\n{plain(row.topic, limit=24):<24} {cells} {row.count}"


def memory_row(row: Any) -> list[str | Text]:
    """A memory as a row of the table."""
    score = "" if row.score is None else f"{row.score:.2f}"
    summary = plain(row.summary, limit=160)
    return [score, weight(row.weight), plain(row.topic, limit=22), Text(summary)]


def memory(row: Any) -> str:
    """A memory in full, as the detail beside the table."""
    parts = [
        block(row.summary),
        "",
        f"{row.id}  {row.importance.value}, {row.state}",
        f"Topic: {plain(row.topic)}",
    ]
    if row.keywords:
        parts.append(f"Keywords: {plain(', '.join(row.keywords))}")
    if row.raw_excerpt:
        parts += ["", block(row.raw_excerpt)]
    by = plain(row.host or row.origin)
    parts.append(f"Stored {row.created_at:%Y-%m-%d} by {by}, read {row.access_count}x")
    return "\n".join(parts)


def health_row(row: Any) -> list[str | Text]:
    """The health of a topic as a row of the table."""
    due = "yes" if row.status in ("consolidate", "needs attention") else ""
    return [
        plain(row.topic, limit=30),
        str(row.entries),
        weight(row.average_weight),
        str(row.stale),
        due,
        f"{row.average_access:.1f}",
    ]


def concept(row: Any) -> str:
    """A concept in full."""
    parts = [
        plain(row.name),
        f"Revision {row.revision}, confidence {row.confidence:.2f}",
        "",
        block(row.definition),
    ]
    if row.labels:
        parts += ["", f"Labels: {plain(', '.join(row.labels))}"]
    return "\n".join(parts)

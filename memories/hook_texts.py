"""The words in which the command line answers about hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories import formats
from memories.formats import plain
from memories.hook_schemas import HookLogResult, HookStatsResult, PauseResult

if TYPE_CHECKING:
    from rich.table import Table

NONE = "No runs of hooks are on record for that."


def log(result: HookLogResult) -> Table | str:
    if not result.events:
        return NONE
    from rich.table import Table

    table = Table("When", "Event", "Host", "Project", "ms", "Tokens", "Brought", "Note")
    for event in result.events:
        table.add_row(
            formats.local(event.at),
            plain(event.event),
            plain(event.host),
            plain(event.project),
            f"{event.duration_ms:.0f}",
            str(event.tokens),
            str(len(event.injected)),
            plain(event.note),
        )
    return table


def log_note(result: HookLogResult) -> str:
    parts = [f"{result.pruned} older runs erased."] if result.pruned else []
    if len(result.events) < result.total:
        parts.append(f"{len(result.events)} of {result.total} runs.")
    return " ".join(parts)


def log_json(result: HookLogResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def stats(result: HookStatsResult) -> Table | str:
    if not result.events:
        return NONE
    from rich.table import Table

    table = Table("Event", title=_title(result))
    for name in ("Runs", "Errors", "Average ms", "p50", "p99", "Tokens"):
        table.add_column(name, justify="right")
    for row in result.events:
        times = (row.average_ms, row.p50_ms, row.p99_ms)
        table.add_row(
            plain(row.event),
            str(row.count),
            str(row.errors),
            *(f"{value:.1f}" for value in times),
            str(row.tokens),
        )
    return table


def _title(result: HookStatsResult) -> str:
    days = max(len(result.per_day), 1)
    by_day = sum(result.per_day.values()) / days
    return (
        f"tokens: {by_day:.0f} a day, {result.tokens_per_session:.0f} a session "
        f"(at most {result.most_in_a_session}, {result.sessions} sessions)"
    )


def stats_note(result: HookStatsResult) -> str:
    return f"Paused: {result.paused}." if result.paused else ""


def stats_json(result: HookStatsResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def paused(result: PauseResult) -> str:
    return f"Paused: {result.state}."


def resumed(result: PauseResult) -> str:
    if result.state:
        return f"Still paused: {result.state}."
    return "Hooks are on again." if result.changed else "Nothing was paused."

"""What is told of the runs of hooks: the newest, and figures over all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from django.utils import timezone

from memories.models import HookEvent, HookShown

# How a note begins that tells of a failure inside a hook.
ERROR = "error:"


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Runs of one verb; times in milliseconds."""

    event: str
    count: int
    errors: int
    average_ms: float
    p50_ms: float
    p99_ms: float
    tokens: int


class Costs(NamedTuple):
    """Figures by verb; tokens by day (UTC, the newest first) and by session."""

    events: list[Figures]
    per_day: dict[str, int]
    sessions: int
    tokens_per_session: float
    most_in_a_session: int


def listed(*, event: str | None, limit: int) -> tuple[list[HookEvent], int]:
    """The newest runs, and how many there are."""
    rows = HookEvent.objects.order_by("-id")
    if event is not None:
        rows = rows.filter(event=event.strip().lower())
    return list(rows[:limit]), rows.count()


def prune(*, days: float) -> int:
    """Erase older runs, and what sessions were shown before that."""
    before = timezone.now() - timedelta(days=days)
    HookShown.objects.filter(at__lt=before).delete()
    return HookEvent.objects.filter(at__lt=before).delete()[0]


def figures(*, since_hours: float | None = None) -> Costs:
    """What hooks cost, of all runs that are kept or of the last hours."""
    rows = HookEvent.objects.order_by()
    if since_hours is not None:
        rows = rows.filter(at__gte=timezone.now() - timedelta(hours=since_hours))
    times: dict[str, list[float]] = defaultdict(list)
    errors: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    days: Counter[str] = Counter()
    sessions: Counter[str] = Counter()
    wanted = ("event", "duration_ms", "tokens", "note", "at", "agent_session")
    for event, spent, cost, note, at, session in rows.values_list(*wanted).iterator():
        times[event].append(spent)
        errors[event] += note.startswith(ERROR)
        tokens[event] += cost
        days[f"{at:%Y-%m-%d}"] += cost
        if session:
            sessions[session] += cost
    events = [
        _figures(event, sorted(spent), errors[event], tokens[event])
        for event, spent in sorted(times.items())
    ]
    return Costs(
        events,
        dict(sorted(days.items(), reverse=True)),
        len(sessions),
        round(sum(sessions.values()) / max(len(sessions), 1), 1),
        max(sessions.values(), default=0),
    )


def _figures(event: str, spent: Sequence[float], errors: int, tokens: int) -> Figures:
    """`spent` is sorted; a percentile is the least value that so many do not exceed."""
    return Figures(
        event=event,
        count=len(spent),
        errors=errors,
        average_ms=round(sum(spent) / len(spent), 1),
        p50_ms=round(_percentile(spent, 50), 1),
        p99_ms=round(_percentile(spent, 99), 1),
        tokens=tokens,
    )


def _percentile(ordered: Sequence[float], share: int) -> float:
    return ordered[-(-share * len(ordered) // 100) - 1]

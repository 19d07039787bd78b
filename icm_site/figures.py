"""The figures of the dashboard, each read by one statement over all rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Count

from feedback.models import Feedback
from memoirs.models import Concept, ConceptLink, Memoir
from memories import decay, embedding, listing
from memories.models import HookEvent, Memory, Metadata, Suggestion

DAYS = 60
ACTIVE_DAYS = 30
BANDS = 10
TOPICS = 10
# Runs of hooks whose times are compared.
RUNS = 5_000

STORED = """
SELECT substr(created_at, 1, 10), count(*) FROM memories
WHERE created_at >= %s GROUP BY 1
"""
# A digit for each memory: half the time that SQLite would take to group them.
WEIGHTS = """
SELECT group_concat(min(CAST(weight * 10 AS INTEGER), 9), '') FROM memory_usage
WHERE memory_id NOT IN (SELECT id FROM memories WHERE state <> 'live')
"""
SHOWN = """
SELECT substr(last_accessed, 1, 10), count(*) FROM memory_usage
WHERE access_count > 0 AND last_accessed >= %s GROUP BY 1
"""
INJECTED = """
SELECT substr(at, 1, 10), count(*), sum(tokens) FROM hook_events
WHERE at >= %s GROUP BY 1
"""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Of one event of the hooks: runs, and milliseconds that half and 95 % take."""

    event: str
    runs: int
    half: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Figures:
    """All that the dashboard shows; series are by day, the oldest first."""

    stats: listing.Stats
    counts: dict[str, int]
    days: list[date]
    growth: list[int]
    weights: list[int]
    topics: list[tuple[str, int]]
    active_days: list[date]
    shown: list[int]
    hook_runs: list[int]
    tokens: list[int]
    latencies: list[Latency]
    coverage: embedding.Coverage
    decayed: datetime | None
    size: int
    path: str


def read(*, now: datetime) -> Figures:
    """Everything at this moment."""
    today = now.astimezone(UTC).date()
    days = _days(today, DAYS)
    active = _days(today, ACTIVE_DAYS)
    stored = dict(_rows(STORED, [days[0].isoformat()]))
    shown = dict(_rows(SHOWN, [active[0].isoformat()]))
    hooks = {day: rest for day, *rest in _rows(INJECTED, [active[0].isoformat()])}
    claimed = Metadata.objects.read(decay.CLAIM_KEY)
    path = str(connection.settings_dict["NAME"])
    return Figures(
        stats=listing.stats(),
        counts=_counts(),
        days=days,
        growth=_growth(days, stored),
        weights=_bands(_rows(WEIGHTS)[0][0] or ""),
        topics=sorted(listing.topics(), key=lambda row: (-row[1], row[0]))[:TOPICS],
        active_days=active,
        shown=[shown.get(day.isoformat(), 0) for day in active],
        hook_runs=[hooks.get(day.isoformat(), (0, 0))[0] for day in active],
        tokens=[hooks.get(day.isoformat(), (0, 0))[1] for day in active],
        latencies=latencies(
            HookEvent.objects.order_by("-id").values_list("event", "duration_ms")[:RUNS]
        ),
        coverage=embedding.coverage(),
        decayed=datetime.fromisoformat(claimed) if claimed else None,
        size=_size(path),
        path=path,
    )


def _days(today: date, count: int) -> list[date]:
    return [today - timedelta(days=n) for n in reversed(range(count))]


def _rows(sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, list(parameters))
        return list(cursor.fetchall())


def _counts() -> dict[str, int]:
    return {
        "memoirs": Memoir.objects.count(),
        "concepts": Concept.objects.count(),
        "links": ConceptLink.objects.count(),
        "feedback": Feedback.objects.count(),
        "suggestions": Suggestion.objects.filter(
            status=Suggestion.Status.OPEN, source__state="live", target__state="live"
        ).count(),
    }


def _growth(days: list[date], stored: dict[str, int]) -> list[int]:
    """How many memories had ever been stored at the end of each day."""
    total = Memory.objects.order_by().aggregate(count=Count("id"))["count"]
    known = total - sum(stored.values())
    series = []
    for day in days:
        known += stored.get(day.isoformat(), 0)
        series.append(known)
    return series


def _bands(digits: str) -> list[int]:
    return [digits.count(str(band)) for band in range(BANDS)]


def latencies(runs: Iterable[tuple[str, float]]) -> list[Latency]:
    """Runs (event, milliseconds) by event; pure."""
    times: dict[str, list[float]] = defaultdict(list)
    for event, milliseconds in runs:
        times[event].append(milliseconds)
    return [
        Latency(
            event=event,
            runs=len(values),
            half=_quantile(values, 0.5),
            most=_quantile(values, 0.95),
        )
        for event, values in sorted(times.items())
    ]


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def _size(path: str) -> int:
    """Bytes of the database and of what waits beside it."""
    files = (Path(path), Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())

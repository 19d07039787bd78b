"""What the operations on hooks take and give."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from icm_site.operation import Params, Result


class HookLogParams(Params):
    limit: int = Field(20, description="How many runs, the newest first")
    event: str | None = Field(None, description="Only of this verb, e.g. prompt")
    prune_older_than: float | None = Field(
        None, description="Days: erase older runs first", ge=0.0, le=36_500.0
    )


class HookEventRecord(Result):
    """A run of a hook; `injected` are ids of memories."""

    at: datetime
    event: str
    host: str
    project: str
    session: str
    tool: str
    duration_ms: float
    exit_code: int
    payload_size: int
    injected: list[str]
    tokens: int
    note: str


class HookLogResult(Result):
    events: list[HookEventRecord]
    total: int
    pruned: int


class HookStatsParams(Params):
    since_hours: float | None = Field(
        None, description="Only of the last hours", gt=0.0, le=876_000.0
    )


class HookFigures(Result):
    """Runs of one verb; times in milliseconds."""

    event: str
    count: int
    errors: int
    average_ms: float
    p50_ms: float
    p99_ms: float
    tokens: int


class HookStatsResult(Result):
    """`per_day`: tokens by day (UTC), the newest first."""

    events: list[HookFigures]
    per_day: dict[str, int]
    sessions: int
    tokens_per_session: float
    most_in_a_session: int
    paused: str


class PauseParams(Params):
    project: str | None = Field(None, description="Only this project; default: all")
    duration: str | None = Field(
        None, description="How long, e.g. 90m, 2h or 1d; default: until resumed"
    )


class ResumeParams(Params):
    project: str | None = Field(None, description="Only this project; default: all")


class PauseResult(Result):
    """What rests now; `state` says it in words, "" for nothing."""

    state: str
    changed: bool

"""The operations on hooks, for the command line alone."""

from __future__ import annotations

import time
from dataclasses import asdict

from icm_site.caller import Caller
from memories import hook_figures, pausing
from memories.hook_schemas import (
    HookEventRecord,
    HookFigures,
    HookLogParams,
    HookLogResult,
    HookStatsParams,
    HookStatsResult,
    PauseParams,
    PauseResult,
    ResumeParams,
)
from memories.models import HookEvent


def hook_log(params: HookLogParams, caller: Caller) -> HookLogResult:
    """The runs of hooks: when, how long, what they brought and why not."""
    del caller
    days = params.prune_older_than
    pruned = 0 if days is None else hook_figures.prune(days=days)
    rows, total = hook_figures.listed(event=params.event, limit=params.limit)
    return HookLogResult(
        events=[_record(row) for row in rows], total=total, pruned=pruned
    )


def hook_stats(params: HookStatsParams, caller: Caller) -> HookStatsResult:
    """What hooks cost: runs, errors, times, and tokens by day and by session."""
    del caller
    found = hook_figures.figures(since_hours=params.since_hours)
    return HookStatsResult(
        events=[HookFigures(**asdict(row)) for row in found.events],
        per_day=found.per_day,
        sessions=found.sessions,
        tokens_per_session=found.tokens_per_session,
        most_in_a_session=found.most_in_a_session,
        paused=pausing.state(),
    )


def hooks_pause(params: PauseParams, caller: Caller) -> PauseResult:
    """Let hooks rest: they bring nothing and learn nothing, until resumed."""
    del caller
    pausing.pause(params.project, duration=params.duration, now=time.time())
    return PauseResult(state=pausing.state(), changed=True)


def hooks_resume(params: ResumeParams, caller: Caller) -> PauseResult:
    """End a pause: of one project, or all there are."""
    del caller
    changed = pausing.resume(params.project)
    return PauseResult(state=pausing.state(), changed=changed)


def _record(row: HookEvent) -> HookEventRecord:
    return HookEventRecord(
        at=row.at,
        event=row.event,
        host=row.host,
        project=row.project,
        session=row.agent_session,
        tool=row.tool_name,
        duration_ms=round(row.duration_ms, 1),
        exit_code=row.exit_code,
        payload_size=row.payload_size,
        injected=row.injected,
        tokens=row.tokens,
        note=row.note,
    )

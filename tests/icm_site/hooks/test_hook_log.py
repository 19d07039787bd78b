"""What is recorded of hooks, what is told of it, and pauses."""

from __future__ import annotations

import json
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from icm_site.errors import InvalidInput
from icm_site.hooks import bookkeeping, memory
from memories import hook_log, pausing
from memories.driver import raw_connection
from memories.hook_log import Event
from memories.models import HookEvent
from tests.conftest import Run
from tests.icm_site.hooks.hooking import Hooks, sample


def test_every_run_is_recorded(hooks: Hooks) -> None:
    start = sample("claude-code/SessionStart", cwd=str(hooks.work))
    hooks.run("start", start)
    hooks.run("pre", sample("claude-code/PreToolUse", cwd=str(hooks.work)))
    hooks.run("prompt", b"{")
    hooks.run("prompt", {"hook_event_name": "Stop"})
    rows = hooks.rows(
        "SELECT event, host, project, agent_session, tool_name, exit_code,"
        " payload_size, injected, tokens, note, duration_ms, at FROM hook_events"
    )
    first, second, third, fourth = rows
    session = start["session_id"]
    assert first[:6] == ("start", "claude-code", "teapot-api", session, "", 0)
    assert first[6] == len(json.dumps(start))
    assert len(json.loads(first[7])) >= 3
    assert 0 < first[8] <= 500
    assert first[10] > 0
    at = datetime.fromisoformat(first[11]).replace(tzinfo=UTC)
    assert abs(at.timestamp() - time.time()) < 300
    assert second[4] == "Bash"
    assert (third[7], third[9]) == ("[]", "no payload")
    assert fourth[9] == "unknown event Stop"


def test_a_failure_inside_is_silent_and_recorded(hooks: Hooks) -> None:
    hooks.write("DROP TABLE memories_fts")
    hooks.write("DROP TABLE memory_usage")
    start = sample("claude-code/SessionStart", cwd=str(hooks.work))
    with pytest.raises(AssertionError, match="no such table"):
        hooks.run("start", start)
    rows = hooks.rows("SELECT note, injected FROM hook_events")
    assert rows[0][0].startswith("error: OperationalError")
    assert rows[0][1] == "[]"


def test_old_runs_go_by_themselves(hooks: Hooks) -> None:
    long_ago = time.time() - 100 * 86_400
    with closing(memory.opened(str(hooks.database), "rw")) as raw:
        hook_log.write(raw, Event("old"), at=long_ago, keep_days=90)
        for _ in range(hook_log.PRUNE_EVERY):
            hook_log.write(raw, Event("new"), at=time.time(), keep_days=90)
    assert hooks.rows("SELECT count(*) FROM hook_events WHERE event = 'old'") == [(0,)]


def test_a_hook_waits_for_no_disk(hooks: Hooks) -> None:
    with closing(memory.opened(str(hooks.database), "rw")) as raw:
        assert raw.execute("PRAGMA synchronous").fetchone() == (1,)  # NORMAL


def test_a_locked_database_does_not_hold_a_hook_up(hooks: Hooks) -> None:
    start = sample("claude-code/SessionStart", cwd=str(hooks.work))
    with closing(memory.opened(str(hooks.database), "rw")) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(Exception, match="locked"):
            hooks.run("start", start)
        assert time.monotonic() - begun < 5


def add(event: str, spent: float, tokens: int = 0, note: str = "", **more: str) -> None:
    run = Event(event, duration_ms=spent, tokens=tokens, note=note, **more)  # type: ignore[arg-type]
    hook_log.write(raw_connection(), run, at=time.time(), keep_days=0)


def test_figures_are_told_by_verb_day_and_session(run: Run) -> None:
    for spent in range(1, 101):
        add("prompt", float(spent), 10, agent_session=f"s{spent % 2}")
    add("start", 7.0, 300, note="error: it broke", agent_session="s0")
    found = json.loads(run("hook-stats", "-f", "json").out)
    start, prompt = sorted(found["events"], key=lambda row: row["count"])
    assert (prompt["p50_ms"], prompt["p99_ms"], prompt["average_ms"]) == (50, 99, 50.5)
    assert (start["errors"], prompt["errors"], prompt["tokens"]) == (1, 0, 1_000)
    assert list(found["per_day"].values()) == [1_300]
    assert found["sessions"] == 2
    assert found["tokens_per_session"] == 650
    assert found["most_in_a_session"] == 800
    shown = run("hook-stats").out
    assert "650 a session" in shown
    HookEvent.objects.update(at=datetime(2020, 1, 1, tzinfo=UTC))
    assert "No runs" in run("hook-stats", "--since-hours", "24").out


def test_the_log_shows_the_newest_and_erases_the_oldest(run: Run) -> None:
    assert "No runs" in run("hook-log").out
    for number in range(5):
        add("prompt" if number % 2 else "start", 1.0, note=f"note {number}")
    found = json.loads(run("hook-log", "--limit", "2", "-f", "json").out)
    assert [row["note"] for row in found["events"]] == ["note 4", "note 3"]
    assert "2 of 2 runs" not in run("hook-log", "--event", "prompt").err
    assert "note 1" in run("hook-log", "--event", "prompt").out
    HookEvent.objects.filter(note="note 0").update(at=datetime(2020, 1, 1, tzinfo=UTC))
    assert "1 older runs erased" in run("hook-log", "--prune-older-than", "30").err
    assert HookEvent.objects.count() == 4


def test_a_pause_holds_until_it_ends(run: Run) -> None:
    assert "all hooks until resumed" in run("pause").out
    assert "Paused: all hooks" in run("hook-stats").err
    assert run("resume").out == "Hooks are on again.\n"
    assert run("resume").out == "Nothing was paused.\n"
    assert "project shop until 2" in run("pause", "-p", "Shop", "--for", "2h").out
    run("pause", "-p", "bakery")
    assert "Still paused" in run("resume", "-p", "shop").out
    assert "bakery" in run("stats").out
    later = time.time() + 10_000
    run("pause", "-p", "shop", "--for", "2h")
    assert "shop" not in pausing.state(later)


@pytest.mark.parametrize("text", ["", "2", "h", "-2h", "0m", "2x", "99999d", "2h3m"])
def test_a_duration_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="duration"):
        pausing.seconds(text)


def test_hooks_are_silent_while_paused(hooks: Hooks) -> None:
    start = sample("claude-code/SessionStart", cwd=str(hooks.work))
    hooks.write("INSERT INTO icm_metadata(key, value) VALUES ('paused:kettle', '')")
    assert hooks.run("start", start).line
    hooks.later()
    hooks.write("INSERT INTO icm_metadata(key, value) VALUES ('paused:teapot-api', '')")
    for name, verb in (("SessionStart", "start"), ("PreToolUse", "pre")):
        done = hooks.run(verb, sample(f"claude-code/{name}", cwd=str(hooks.work)))
        assert (done.line, done.event.note) == ("", bookkeeping.PAUSED)

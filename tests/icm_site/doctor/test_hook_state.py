"""`icm doctor` on what hooks met in the last days."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing

import pytest

from icm_site.doctor import hook_state
from memories import hook_log
from memories.driver import raw_connection
from memories.hook_log import Event
from tests.conftest import Icm

NOW = time.time()
DAY = 86_400


def add(
    note: str, *, event: str = "post", host: str = "codex", days: float = 0
) -> None:
    row = Event(event, host=host, note=note)
    hook_log.write(raw_connection(), row, at=NOW - days * DAY, keep_days=0)


@pytest.mark.django_db
def test_failed_runs_and_unknown_events_of_a_week_are_told() -> None:
    for note in ("", "served already", "nothing relevant", "no payload"):
        add(note)
    add("error: ValueError: no", days=8)
    raw = raw_connection()
    assert list(hook_state.examine(raw, NOW)) == []
    add("error: KeyError: 'cwd'", days=6)
    for _ in range(3):
        add("unknown event ToolRan", host="")
    told = list(hook_state.examine(raw, NOW))
    assert [(found.level, found.subject, found.remedy) for found in told] == [
        ("note", "hooks", "icm hook-log")
    ] * 2
    assert [found.text for found in told] == [
        "3 runs of post by an unknown tool in 7 days: unknown event ToolRan",
        "1 run of post by codex in 7 days: error: KeyError: 'cwd'",
    ]
    for number in range(9):
        add(f"error: {number}")
    assert len(list(hook_state.examine(raw, NOW))) == hook_state.MOST


@pytest.mark.slow
def test_a_hook_whose_payload_has_changed_shows_in_doctor(
    icm: Icm, environment: dict[str, str]
) -> None:
    assert icm("store", "-t", "a", "-c", "A fact.").returncode == 0
    changed = json.dumps({"hook_event_name": "ToolRan", "session_id": "s"})
    for _ in range(2):
        icm("hook", "post", "--tool", "codex-cli", stdin=changed)
    done = icm("doctor", PATH="/usr/bin:/bin")
    assert done.returncode == 0
    assert "unknown event ToolRan → icm hook-log" in done.stdout
    with closing(sqlite3.connect(os.fspath(environment["ICM_DB"]))) as raw:
        raw.execute("DROP TABLE hook_events")
    assert icm("doctor", PATH="/usr/bin:/bin").returncode == 0

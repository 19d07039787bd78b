"""Clocks that run ahead, holders that died, purges that were cut off."""

from __future__ import annotations

import json
import platform
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from icm_site.errors import Conflict, NotFound
from memories import consolidate, decay, formats, history, lease, purge, store
from memories.models import Change, Memory, MemoryUsage, Metadata
from tests.conftest import Icm
from tests.factories import CALLER, make_memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AHEAD = datetime(2096, 1, 1, tzinfo=UTC)


def weight(memory: Memory) -> float:
    return MemoryUsage.objects.get(pk=memory.pk).weight


@pytest.mark.django_db
def test_decay_goes_on_after_a_clock_that_ran_ahead_was_set_right() -> None:
    decay.run(now=AHEAD)
    early = make_memory("Stored by a clock that ran ahead.", now=AHEAD)
    assert decay.is_due(NOW)
    assert decay.run(now=NOW) == 0
    assert weight(early) == 1.0
    assert decay.run(now=NOW + timedelta(hours=23)) is None
    assert decay.run(now=NOW + timedelta(days=2)) == 1
    assert weight(early) == pytest.approx(0.95**2)


@pytest.mark.django_db
def test_a_clock_that_is_a_little_late_causes_no_decay() -> None:
    decay.run(now=NOW)
    assert not decay.is_due(NOW - timedelta(hours=3))
    assert decay.run(now=NOW - timedelta(hours=3)) is None


@pytest.mark.django_db
def test_many_young_memories_decay_in_few_statements(
    django_assert_max_num_queries: Any,
) -> None:
    decay.run(now=NOW)
    for number in range(30):
        make_memory(f"Fact {number} of {number}.", dedup=False, now=NOW)
    MemoryUsage.objects.update(decayed_at=NOW + timedelta(hours=12))
    with django_assert_max_num_queries(12):
        decay.run(now=NOW + timedelta(hours=36))
    weights = list(MemoryUsage.objects.values_list("weight", flat=True))
    assert weights == pytest.approx([0.95] * 30)


def hold(holder: str, *, seconds: float = 50.0) -> None:
    until = time.time() + seconds
    value = json.dumps({"until": until, "holder": holder})
    Metadata.objects.write("lease:work", value)


@pytest.mark.django_db
def test_a_lease_is_kept_by_who_lives_and_not_by_who_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        holder = f"{platform.node()}:{process.pid}"
        hold(holder)
        with pytest.raises(Conflict, match="at it already"), lease.held("work"):
            pass
        process.kill()
        process.wait()
        with lease.held("work"):
            pass
    hold("elsewhere:1")
    with pytest.raises(Conflict, match="at it already"), lease.held("work"):
        pass


@pytest.mark.django_db
@pytest.mark.parametrize("seconds", [-1.0, 3e9])
def test_a_lease_of_the_past_or_of_a_wrong_clock_holds_nobody_up(
    seconds: float,
) -> None:
    hold("elsewhere:1", seconds=seconds)
    with lease.held("work"):
        pass


@pytest.mark.parametrize("year", [1, 9999])
def test_a_time_at_the_ends_of_the_calendar_is_shown(
    year: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = datetime(1, 1, 1, tzinfo=UTC) if year == 1 else datetime.max
    moment = day.replace(tzinfo=UTC)
    try:
        for zone in ("America/Los_Angeles", "Pacific/Kiritimati"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert formats.local(moment).startswith((f"{year}-", f"000{year}-"))
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.django_db
def test_a_dry_run_of_consolidate_takes_no_lock(
    django_assert_num_queries: Any,
) -> None:
    memory = make_memory()
    with django_assert_num_queries(1):
        done = consolidate.consolidate(
            topic=memory.topic, caller=CALLER, now=timezone.now(), dry_run=True
        )
    assert done.originals == [memory]


def found(query: str) -> list[Memory]:
    return purge.chosen(purge.Wanted(query=query), now=timezone.now())


@pytest.mark.django_db
def test_a_query_of_purge_finds_merged_texts_earlier_keywords_and_any_case() -> None:
    richer = "Lunch is served at noon, in the large hall."
    memory = make_memory(richer, topic="kitchen")
    done = store.store(
        topic="kitchen",
        content="Lunch is served at noon in the large hall",
        raw_excerpt="verbatim",
        caller=CALLER,
    )
    assert done.memory == memory and memory.summary == richer
    assert found("noon in the large hall") == [memory]
    other = make_memory("Ein Korb voll ÄPFEL.", keywords=["Öl"], topic="fruit")
    assert found("äpfel") == [other]
    store.update(other.ulid, caller=CALLER, content="A basket.", keywords=["x"])
    assert found("ÖL") == found("korb VOLL äpfel") == [other]
    assert found("50%") == found("k_rb") == []


@pytest.mark.django_db
def test_an_undo_whose_change_has_expired_is_not_what_an_undo_takes_back() -> None:
    memory = make_memory("One.")
    change = store.update(memory.ulid, caller=CALLER, content="Two.").change
    assert change is not None
    history.undo(change.ulid, caller=CALLER, now=timezone.now())
    Change.objects.filter(pk__lte=change.pk).delete()
    with pytest.raises(NotFound, match="nothing left to undo"):
        history.undo(memory.ulid, caller=CALLER, now=timezone.now())


def test_a_purge_that_was_cut_off_is_finished_by_the_next(
    icm: Icm, tmp_path: Path
) -> None:
    path = tmp_path / "icm.sqlite3"
    icm("store", "-t", "shop", "-c", "Our zyxqv cabinet")
    with closing(sqlite3.connect(path)) as raw:
        # What is there once the rows are erased and before the pages are.
        raw.execute("DELETE FROM memory_revisions")
        raw.execute("DELETE FROM memory_usage")
        raw.execute("DELETE FROM memories")
        raw.execute("INSERT INTO icm_metadata VALUES ('scrub_due', '1')")
        raw.commit()
    assert b"zyxqv" in path.read_bytes()
    again = icm("purge", "-q", "zyxqv", "--yes")
    assert again.stdout == "Erased 0 memories and 0 revisions.\n"
    assert b"zyxqv" not in path.read_bytes()
    with closing(sqlite3.connect(path)) as raw:
        known = "SELECT count(*) FROM icm_metadata WHERE key = 'scrub_due'"
        assert raw.execute(known).fetchone() == (0,)

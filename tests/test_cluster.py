"""A real django-q2 cluster does the due decay and makes the missing vectors."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.conftest import PROJECT, Icm

MEMORIES = int(os.environ.get("ICM_TEST_CLUSTER_MEMORIES", "12"))
DEADLINE = 120.0
# Memories without vectors, of a database that was last used months ago.
FILL = """
import sys
import django
django.setup()
from icm_site import database
database.ready()
from icm_site.caller import Caller
from memories import store
from memories.models import MemoryUsage, Metadata
for n in range(int(sys.argv[1])):
    text = f"Fact {n} of the shop: part {n * 7} is kept in rack {n * 3}"
    store.store(topic="shop", content=text, caller=Caller(surface="cli"), dedup=False)
MemoryUsage.objects.update(decayed_at="2026-01-01T00:00:00Z")
Metadata.objects.write("last_decay_at", "2026-01-02T00:00:00+00:00")
"""
# A cluster looks at the schedules half a minute after its start, by this function.
DUE = """
import django
django.setup()
from django_q.scheduler import scheduler
scheduler()
"""

pytestmark = pytest.mark.slow


@contextmanager
def cluster(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A cluster that runs for the block and is stopped as a person stops it."""
    process = subprocess.Popen(
        [sys.executable, str(PROJECT / "manage.py"), "qcluster"],
        env=environment,
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def value(database: Path, sql: str) -> float:
    with closing(sqlite3.connect(database)) as connection:
        row = connection.execute(sql).fetchone()
    return float(row[0]) if row and row[0] is not None else 0.0


def test_a_cluster_decays_and_embeds_once(
    icm: Icm, environment: dict[str, str], tmp_path: Path
) -> None:
    database = tmp_path / "icm.sqlite3"

    def python(*arguments: str) -> None:
        command = [sys.executable, "-c", *arguments]
        subprocess.run(command, env=environment, cwd=PROJECT, check=True)

    python(FILL, str(MEMORIES))
    total = value(database, "SELECT count(*) FROM memories")
    assert "Scheduled" in icm("schedule").stdout
    python(DUE)
    wanted = environment | {"ICM_NO_EMBEDDINGS": "0"}
    missing = """SELECT count(*) FROM memories m
        WHERE NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.memory_id = m.id)"""
    lowered = "SELECT count(*) FROM memory_usage WHERE weight < 0.01"
    with cluster(wanted):
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if not value(database, missing) and value(database, lowered) == total:
                break
            time.sleep(0.5)
    assert value(database, missing) == 0
    assert value(database, lowered) == total
    weight = value(database, "SELECT max(weight) FROM memory_usage")
    again = icm("decay", "-f", "0.5")
    assert "applied" in again.stdout
    assert value(database, "SELECT max(weight) FROM memory_usage") < weight
    tasks = "SELECT count(*) FROM django_q_task WHERE success = 1"
    assert value(database, tasks) >= 2
    assert "Removed 2" in icm("schedule", "--remove").stdout

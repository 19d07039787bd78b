"""Clients and residents die at random: what was acknowledged is there, once."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.icm_site.test_resident import residents
from tests.icm_site.warm import TRANSPORTS, Warm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

# The full run: ICM_TEST_KILLS=300.
KILLS = int(os.environ.get("ICM_TEST_KILLS", "8"))
WRITERS = 3


@pytest.fixture(params=TRANSPORTS)
def warm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warm]:
    made = Warm(tmp_path, dict(os.environ), request.param)
    yield made
    made.stop()


class Traffic:
    """Writers that store one fact after another, each by a process of its own."""

    def __init__(self, warm: Warm, seed: int) -> None:
        self._warm = warm
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.clients: dict[int, subprocess.Popen[bytes]] = {}
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(writer, random.Random(seed)))
            for writer in range(WRITERS)
        ]

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int, chance: random.Random) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            fact = f"fact {writer}x{number}x{chance.randrange(10**9)}"
            client = subprocess.Popen(
                [sys.executable, "-m", "icm_site.cli", "store", "-t", "t", "-c", fact],
                env=self._warm.env,
                cwd=self._warm.work,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.clients[writer] = client
            out, err = client.communicate()
            if out.startswith(b"Stored:"):
                self.acknowledged.append(fact)
            elif client.returncode > 0:
                self.errors.append(err.decode())


def test_nothing_acknowledged_is_lost(warm: Warm) -> None:
    chance = random.Random(KILLS)
    warm.start()
    kills: Counter[str] = Counter()
    with Traffic(warm, seed=KILLS) as traffic:
        while kills.total() < KILLS:
            time.sleep(chance.uniform(0.02, 0.4))
            kills[kill_one(warm, traffic, chance)] += 1
            kills.pop("", None)
    for error in traffic.errors:
        assert "is not known" in error, error
    check_stored(warm, traffic)
    assert warm.icm("store", "-t", "t", "-c", "the next call").returncode == 0
    assert len(residents(warm)) <= 1
    assert residents(warm) == [warm.start()]


def kill_one(warm: Warm, traffic: Traffic, chance: random.Random) -> str:
    """Kill the resident or a client; what it was, "" for nothing."""
    if chance.random() < 0.5:
        pid = warm.pid()
        if not pid:
            return ""
        os.kill(pid, signal.SIGKILL)
        return "resident"
    running = [c for c in traffic.clients.values() if c.poll() is None]
    if not running:
        return ""
    chance.choice(running).kill()
    return "client"


def check_stored(warm: Warm, traffic: Traffic) -> None:
    with closing(sqlite3.connect(warm.database)) as connection:
        rows = connection.execute("SELECT summary, count(*) FROM memories GROUP BY 1")
        counts = dict(rows.fetchall())
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
    assert state == "ok"
    assert [fact for fact in traffic.acknowledged if fact not in counts] == []
    assert {fact: count for fact, count in counts.items() if count > 1} == {}
    assert traffic.acknowledged

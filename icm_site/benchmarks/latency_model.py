"""What the packaged model costs: alone, among many clients, and under load."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from icm_site.benchmarks.latency_user import User
from icm_site.resident import client

FIRST = (
    f"import sys; sys.path.insert(0, {client.ROOT!r}); "
    "from memories import embedder; embedder.load('auto').embed_query('ready?')"
)
QUERIES, TEXTS, WORDS = 40, 64, 30
CLIENTS, WAITING, CALLS = 20, 5_000, 60


class Figure(NamedTuple):
    """One figure: what was measured, how much, and of what."""

    name: str
    value: float
    unit: str


def figures(user: User, prompt: Callable[[], str]) -> list[Figure]:
    """All figures of a user whose resident has the model loaded."""
    return [*alone(prompt), *memory(user), *under_load(user, prompt)]


def alone(prompt: Callable[[], str]) -> Iterator[Figure]:
    """The model in a process of its own, and in this one."""
    from memories import embedder

    begun = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", FIRST], check=True)
    yield Figure("process from its start to a vector", _since(begun), "ms")
    begun = time.perf_counter()
    model = embedder.load("auto")
    yield Figure("loading the model", _since(begun), "ms")
    spent = []
    for _ in range(QUERIES):
        begun = time.perf_counter()
        model.embed_query(prompt())
        spent.append(_since(begun))
    yield from _percentiles("vector of a prompt", spent)
    chance = random.Random(1)
    texts = [" ".join(chance.choices(User.WORDS, k=WORDS)) for _ in range(TEXTS)]
    begun, used = time.perf_counter(), time.process_time()
    model.embed_texts(texts)
    rate = 1e3 * TEXTS / _since(begun)
    yield Figure(f"texts of {WORDS} words", rate, "a second")
    each = 1e3 * (time.process_time() - used) / TEXTS
    yield Figure(f"processor time of a text of {WORDS} words", each, "ms")


def memory(user: User) -> Iterator[Figure]:
    """Memory of the resident, and with idle clients; none where it is not told."""
    resident = user.resident()
    if (alone := pss(resident)) is None:
        return
    yield Figure("memory of the resident (PSS)", alone, "MB")
    servers = [user.session() for _ in range(CLIENTS)]
    together = [pss(pid) or 0.0 for pid in (resident, *(s.pid for s in servers))]
    for server in servers:
        server.communicate()
    yield Figure(f"with {CLIENTS} idle MCP clients (PSS)", sum(together), "MB")


def pss(pid: int) -> float | None:
    """Megabytes of a process, shared pages by halves; None off Linux."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return None
    lines = (line.split() for line in text.splitlines())
    return next(int(line[1]) / 1e3 for line in lines if line[0] == "Pss:")


def under_load(user: User, prompt: Callable[[], str]) -> Iterator[Figure]:
    """A call while nothing else is asked, and while many texts are being embedded."""
    quiet = [user.call(prompt()) for _ in range(CALLS)]
    yield from _percentiles("MCP call, nothing else going on", quiet)
    user.fill(WAITING, vectors=False)
    with_texts = threading.Thread(target=user.embed_all, daemon=True)
    with_texts.start()
    # The worker has loaded its model.
    time.sleep(5.0)
    busy = [user.call(prompt()) for _ in range(CALLS) if with_texts.is_alive()]
    if busy:
        yield from _percentiles(f"the same, {WAITING} texts being embedded", busy)


def _percentiles(name: str, times: Sequence[float]) -> Iterator[Figure]:
    ordered = sorted(times)
    yield Figure(name, statistics.median(ordered), "ms")
    yield Figure(f"{name}, p95", ordered[int(0.95 * (len(ordered) - 1))], "ms")


def _since(begun: float) -> float:
    return 1e3 * (time.perf_counter() - begun)


def table(found: Sequence[Figure]) -> Table:
    """The figures for people."""
    drawn = Table("The model", title="What the packaged model costs")
    drawn.add_column("", justify="right")
    drawn.add_column("")
    for figure in found:
        drawn.add_row(figure.name, f"{figure.value:.1f}", figure.unit)
    return drawn

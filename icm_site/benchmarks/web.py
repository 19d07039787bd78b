"""`icm bench-web`: pages and interfaces of `icm web` over many memories."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress
from rich.table import Table

from icm_site import startup
from icm_site.arguments import Parser, whole
from icm_site.benchmarks import plots
from icm_site.terminal import show

if TYPE_CHECKING:
    from icm_site.benchmarks.web_work import Visitor

COUNT = range(10, 1_000_001)
ROUNDS = range(1, 1_001)


@dataclass(frozen=True, kw_only=True)
class Page:
    """One address: times on the server in milliseconds, queries, bytes answered.

    `cpu_ms` is the median of the process's own time, which other load does not change.
    """

    name: str
    median_ms: float
    lowest_ms: float
    cpu_ms: float
    queries: int
    size: int


def main(arguments: Sequence[str]) -> int:
    """Measure in a folder of its own, print the table; returns 0."""
    parser = Parser(
        prog="icm bench-web",
        description="Measure the admin pages and the HTTP interfaces from request to "
        "answer, without a network, on a database of its own that is removed "
        "afterwards. No model is loaded.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-c", "--count", type=whole(COUNT), default=10_000, help="memories"
    )
    parser.add_argument(
        "-r", "--rounds", type=whole(ROUNDS), default=7, help="runs of each page"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw them there: a .png or an .svg"
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    plots.checked(given.plot)
    plots.checked_folder(given.json)
    os.environ["ICM_NO_EMBEDDINGS"] = "1"
    startup.set_up_django(startup.PAGES)
    with _folder() as folder:
        pages = measure(folder, count=given.count, rounds=given.rounds)
    show(table(pages, given.count))
    if given.json:
        figures = {"count": given.count, "pages": [asdict(page) for page in pages]}
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, [chart(pages, given.count)])
    return 0


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="icm-bench-web-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, *, count: int, rounds: int) -> list[Page]:
    """All rows of the table."""
    from icm_site.benchmarks import web_work
    from icm_site.benchmarks.quality_run import own_database

    with (
        Progress(disable=not sys.stderr.isatty(), transient=True) as bar,
        own_database(folder / "icm.sqlite3"),
    ):
        task = bar.add_task("filling", total=None)
        web_work.fill(count)
        visitor = web_work.Visitor()
        pages = []
        for name, address, body in web_work.ADDRESSES:
            bar.update(task, description=name)
            pages.append(_timed(visitor, name, address, body, rounds))
    return pages


def _timed(
    visitor: Visitor, name: str, address: str, body: object, rounds: int
) -> Page:
    address = visitor.resolved(address)
    # The first visit finds nothing in memory, and is not counted.
    size = visitor.visit(address, body)
    spent, own = [], []
    for _ in range(rounds):
        start, worked = time.perf_counter(), time.process_time()
        visitor.visit(address, body)
        spent.append(1e3 * (time.perf_counter() - start))
        own.append(1e3 * (time.process_time() - worked))
    return Page(
        name=name,
        median_ms=round(statistics.median(spent), 1),
        lowest_ms=round(min(spent), 1),
        cpu_ms=round(statistics.median(own), 1),
        queries=visitor.queries(address, body),
        size=size,
    )


def table(pages: Sequence[Page], count: int) -> Table:
    """The figures for people."""
    drawn = Table("Page", title=f"{count} memories")
    for name in ("Median ms", "Lowest ms", "CPU ms", "Queries", "kB"):
        drawn.add_column(name, justify="right")
    for page in pages:
        times = (page.median_ms, page.lowest_ms, page.cpu_ms)
        drawn.add_row(
            page.name,
            *(f"{ms:.1f}" for ms in times),
            str(page.queries),
            f"{page.size / 1000:.1f}",
        )
    return drawn


def chart(pages: Sequence[Page], count: int) -> plots.Bars:
    """The time of each page as a bar, the process's own share as a line in it."""
    return plots.Bars(
        title=f"From request to answer, {count} memories",
        unit="ms, median",
        values={page.name: page.median_ms for page in pages},
        marks={page.name: page.cpu_ms for page in pages},
        mark="time of the processor",
    )

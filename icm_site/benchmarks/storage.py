"""`icm bench`: the speed of the store, beside the same statements without it."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
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
    from icm_site.benchmarks.storage_work import Work

COUNT = range(10, 1_000_001)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement: times of single operations, in microseconds."""

    name: str
    operations: int
    total_ms: float
    median_us: float
    lowest_us: float


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark in a folder of its own, print its table; returns 0.

    Raises IcmError.
    """
    parser = Parser(
        prog="icm bench",
        description="Measure the store: insert, search, decay, in a database of its "
        "own that is removed afterwards. Vectors are random, no model is loaded.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-c", "--count", type=whole(COUNT), default=1000, help="memories"
    )
    parser.add_argument(
        "--decayed",
        metavar="COUNT",
        type=whole(COUNT),
        default=100_000,
        help="memories of the last row",
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
    count, decayed = given.count, given.decayed
    startup.set_up_django()
    from icm_site.benchmarks.storage_work import Work

    folder = Path(tempfile.mkdtemp(prefix="icm-bench-"))
    try:
        rows = measure(Work(folder, count, random.Random(1), max(count, decayed)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(table(rows, count))
    if given.json:
        figures = {"count": count, "rows": [asdict(row) for row in rows]}
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, [chart(rows, count)])
    return 0


def measure(work: Work) -> list[Row]:
    """All rows of the table, in the order in which they are measured."""
    rows: list[Row] = []
    with Progress(disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("", total=None)
        with work.database():
            for name, acts in work.steps():
                bar.update(task, description=name)
                rows.append(timed(name, acts))
    return rows


def timed(name: str, acts: Iterable[Callable[[], object]]) -> Row:
    """Run acts one by one; what the iterable does between them is not counted."""
    spent = []
    for act in acts:
        start = time.perf_counter()
        act()
        spent.append(time.perf_counter() - start)
    return Row(
        name=name,
        operations=len(spent),
        total_ms=round(1e3 * sum(spent), 3),
        median_us=round(1e6 * statistics.median(spent), 1),
        lowest_us=round(1e6 * min(spent), 1),
    )


def table(rows: Sequence[Row], count: int) -> Table:
    """The figures for people."""
    drawn = Table("Operation", title=f"{count} memories, 384-dimensional vectors")
    for name in ("Ops", "Total ms", "Median µs", "Lowest µs"):
        drawn.add_column(name, justify="right")
    for row in rows:
        drawn.add_row(
            row.name,
            str(row.operations),
            f"{row.total_ms:.1f}",
            f"{row.median_us:.1f}",
            f"{row.lowest_us:.1f}",
        )
    return drawn


def chart(rows: Sequence[Row], count: int) -> plots.Bars:
    """The median of each operation, with the lowest time."""
    return plots.Bars(
        title=f"{count:,} memories, median time of one operation",
        unit="microseconds",
        values={row.name.strip(): row.median_us for row in rows},
        marks={row.name.strip(): row.lowest_us for row in rows},
        mark="lowest",
        logarithmic=True,
    )

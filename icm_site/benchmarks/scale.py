"""`icm bench-scale`: searches and writes with a thousand to a million memories."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from icm_site import startup
from icm_site.arguments import Parser
from icm_site.benchmarks import plots
from icm_site.errors import InvalidInput
from icm_site.terminal import show

if TYPE_CHECKING:
    from icm_site.benchmarks.scale_work import Scale

SIZES = "1000,10000,100000"
SMALLEST, LARGEST = 100, 1_000_000
# What a recall may take, in milliseconds, by memories.
TARGETS = {10_000: 3.0, 100_000: 25.0, 1_000_000: 150.0}
PLOTTED = (
    "text",
    "vectors, exact",
    "vectors, index",
    "search (both)",
    "recall (both)",
    "recall after an update",
    "insert with vector",
)
NOTE = (
    "Texts and vectors are invented at every size: words of a Zipf vocabulary, vectors "
    "in groups with the mean cosine and dimension of the packaged model's."
)


def main(arguments: Sequence[str]) -> int:
    """Measure in a folder of its own, print tables; returns 0. Raises IcmError."""
    parser = Parser(
        prog="icm bench-scale",
        description="Measure searches, writes, memory and file size as a database "
        f"grows, in one of its own that is removed afterwards. {NOTE}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-s",
        "--sizes",
        default=SIZES,
        help="numbers of memories, comma-separated, up to 1000000 "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--no-index", action="store_true", help="build no approximate index"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw them there: a .png or an .svg"
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    sizes = wanted(given.sizes)
    plots.checked(given.plot)
    plots.checked_folder(given.json)
    found = []
    for scale in measured(sizes, index=not given.no_index):
        found.append(scale)
        show(table(scale))
        sys.stdout.flush()
    show(NOTE)
    if given.json:
        figures = {"note": NOTE, "sizes": [asdict(scale) for scale in found]}
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, charts(found))
    return 0


def wanted(text: str) -> list[int]:
    """The sizes that are asked for, ascending. Raises InvalidInput."""
    try:
        sizes = sorted({int(part.replace("_", "")) for part in text.split(",")})
    except ValueError:
        raise InvalidInput(
            f"sizes are whole numbers with commas, not {text!r}"
        ) from None
    if sizes[0] < SMALLEST or sizes[-1] > LARGEST:
        raise InvalidInput(f"sizes lie between {SMALLEST} and {LARGEST}")
    return sizes


def measured(sizes: Sequence[int], *, index: bool) -> Iterator[Scale]:
    """One database that grows from size to size, measured at each."""
    startup.set_up_django()
    from icm_site.benchmarks.quality_run import own_database
    from icm_site.benchmarks.scale_work import Bench

    folder = Path(tempfile.mkdtemp(prefix="icm-scale-"))
    # The files of the vectors go where the database is, and with it.
    before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), str(folder)
    try:
        with own_database(folder / "icm.sqlite3"), progress() as tick:
            bench = Bench(folder, tick, index)
            for size in sizes:
                yield bench.run(size)
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on the terminal for what is told: a name, how much of how much."""
    console = Console(stderr=True)
    with Progress(
        console=console, disable=not sys.stderr.isatty(), transient=True
    ) as bar:
        tasks = {"": bar.add_task("", total=None)}

        def tick(name: str, done: int, total: int) -> None:
            bar.update(tasks[""], description=name, completed=done, total=total)

        yield tick


def table(scale: Scale) -> Table:
    """The figures of one size for people."""
    title = f"{scale.memories:,} memories, milliseconds, load {scale.load}"
    drawn = Table("Operation", title=title)
    for name in ("Ops", "Median", "p95", "Lowest", "CPU"):
        drawn.add_column(name, justify="right")
    for one in scale.times:
        figures = (one.median, one.p95, one.lowest, one.cpu)
        drawn.add_row(one.name, str(one.operations), *(f"{n:,.2f}" for n in figures))
    target = TARGETS.get(scale.memories)
    if target:
        drawn.add_row("  a recall may take", "", f"{target:,.2f}")
    for name, share in scale.recall.items():
        drawn.add_row(f"  {name}", "", f"{share:.3f}")
    drawn.add_section()
    drawn.add_row("made in, seconds", "", f"{scale.build_seconds:,.1f}")
    for heading, sizes in (("memory", scale.memory), ("file", scale.sizes)):
        for name, size in sizes.items():
            label = name if name == heading else f"{heading}: {name}"
            drawn.add_row(f"{label}, MB", "", f"{size / 1e6:,.1f}")
    return drawn


def charts(found: Sequence[Scale]) -> list[plots.Bars | plots.Lines]:
    """Times, memory and file over the number of memories."""
    times: dict[str, dict[int, float]] = {}
    space: dict[str, dict[int, float]] = {}
    for scale in found:
        medians = {one.name: one.median for one in scale.times}
        _put(times, scale.memories, {n: medians[n] for n in PLOTTED if n in medians})
        bytes_ = {f"memory: {name}": size for name, size in scale.memory.items()}
        bytes_ |= {f"file: {name}": size for name, size in scale.sizes.items()}
        shown = {name: size / 1e6 for name, size in bytes_.items() if size}
        _put(space, scale.memories, shown)
    over = "memories"
    return [
        plots.Lines(title="Median times", unit="milliseconds", over=over, values=times),
        plots.Lines(title="Space", unit="MB", over=over, values=space),
    ]


def _put(
    into: dict[str, dict[int, float]], size: int, values: Mapping[str, float]
) -> None:
    for name, value in values.items():
        into.setdefault(name, {})[size] = value

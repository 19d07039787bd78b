"""`icm bench-latency`: from start to answer, for hooks, commands and MCP clients."""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from icm_site.arguments import Parser, whole
from icm_site.benchmarks import latency_model, plots
from icm_site.benchmarks.latency_user import EVENTS, User

COUNT, ROUNDS = range(1, 1_000_001), range(1, 1_001)
# Starting anew takes a second or more, so there are fewer rounds of it.
SLOW_SHARE = 4


@dataclass(frozen=True, kw_only=True)
class Way:
    """Times of one way, in milliseconds; `ratio`: to the bare interpreter's median."""

    name: str
    runs: int
    p50: float
    p95: float
    lowest: float
    ratio: float


def main(argv: Sequence[str]) -> int:
    """Measure in folders of its own, print the table; returns 0. Raises UsageError."""
    parser = Parser(
        prog="icm bench-latency",
        description="Measure hooks, commands and MCP clients from start to answer, "
        "with and without the resident, on a database of its own. Vectors are random; "
        "each prompt is a new one.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-c", "--count", type=whole(COUNT), default=1000, help="memories"
    )
    parser.add_argument(
        "-r", "--rounds", type=whole(ROUNDS), default=20, help="runs of each way"
    )
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument(
        "--no-model", action="store_true", help="leave out what needs the model"
    )
    parts.add_argument(
        "--model-only", action="store_true", help="what the model costs, instead"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw them there: a .png or an .svg"
    )
    try:
        given = parser.parse_args(list(argv))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    plots.checked(given.plot)
    plots.checked_folder(given.json)
    count, rounds = given.count, given.rounds
    with users(count, model=not given.no_model) as known:
        found = [] if given.model_only else measure(ways(known), rounds)
        costs = _costs(known[-1]) if given.model_only else []
    from icm_site.terminal import show

    show(latency_model.table(costs) if costs else table(found, count))
    if given.json:
        figures = {
            "count": count,
            "ways": [asdict(way) for way in found],
            "model": [figure._asdict() for figure in costs],
        }
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, [chart(found, count)] if found else [])
    return 0


def _costs(user: User) -> list[latency_model.Figure]:
    chance = random.Random(time.time_ns())
    return latency_model.figures(user, lambda: prompt(chance))


@contextmanager
def users(count: int, *, model: bool) -> Iterator[list[User]]:
    """Users with `count` memories and a resident: of words, and with the model."""
    folder = Path(tempfile.mkdtemp(prefix="icm-"))
    chosen = [False, True] if model else [False]
    made = [
        User(folder / str(int(with_model)), model=with_model) for with_model in chosen
    ]
    try:
        for user in made:
            user.fill(count)
            user.start()
        yield made
    finally:
        for user in made:
            user.stop()
        shutil.rmtree(folder, ignore_errors=True)


def hook(user: User, verb: str) -> Callable[[str], float]:
    """A hook of this verb, as a way."""

    def run(text: str) -> float:
        spent = user.hook(text, verb)
        if verb in LEARNING:
            # What it starts to learn from the session is not to disturb the next way.
            time.sleep(0.5)
        return spent

    return run


def ways(known: Sequence[User]) -> dict[str, Callable[[str], float]]:
    """What is measured: a name, and a function from a text to milliseconds."""
    words = known[0]
    found: dict[str, Callable[[str], float]] = {
        "interpreter -I -S": lambda text: words.interpreter("-I", "-S"),
        "interpreter": lambda text: words.interpreter(),
    }
    for user in known:
        kind = "with model" if user.model else "words"
        found |= {
            **{f"hook {verb}, {kind}": hook(user, verb) for verb in EVENTS},
            f"icm recall, {kind}": user.recall,
            f"icm serve to answer, {kind}": user.serve,
            f"MCP call, {kind}": user.call,
        }
    return found | {
        "hook prompt, no resident": words.hook_alone,
        "icm recall, no resident": words.recall_alone,
        "icm serve to answer, no resident": words.serve_alone,
    }


LEARNING = ("compact", "end")
SLOW = ("icm recall, no resident", "icm serve to answer, no resident")


def measure(known: dict[str, Callable[[str], float]], rounds: int) -> list[Way]:
    """Run all ways in turn, so that the machine's other load meets each alike."""
    spent: dict[str, list[float]] = {name: [] for name in known}
    chance = random.Random(time.time_ns())
    with Progress(disable=not sys.stderr.isatty(), transient=True) as bar:
        for turn in bar.track(range(-1, rounds), description="rounds"):
            for name, run in known.items():
                if turn % SLOW_SHARE and name in SLOW:
                    continue
                milliseconds = run(prompt(chance))
                if turn >= 0:
                    spent[name].append(milliseconds)
    bare = statistics.median(spent["interpreter -I -S"])
    return [_way(name, sorted(times), bare) for name, times in spent.items()]


def _way(name: str, times: Sequence[float], bare: float) -> Way:
    middle = statistics.median(times)
    return Way(
        name=name,
        runs=len(times),
        p50=round(middle, 2),
        p95=round(times[int(0.95 * (len(times) - 1))], 2),
        lowest=round(times[0], 2),
        ratio=round(middle / bare, 2),
    )


def prompt(chance: random.Random) -> str:
    """A question that was not asked before."""
    words = chance.sample(User.WORDS, 6)
    number = chance.randrange(10**6)
    return f"Why did we choose {words[0]} for the {' '.join(words[1:])} {number}?"


def table(found: Sequence[Way], count: int) -> Table:
    """The figures for people."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    drawn = Table("Way", title=f"{count} memories, milliseconds{load}")
    for name in ("Runs", "p50", "p95", "Lowest", "x interpreter"):
        drawn.add_column(name, justify="right")
    for way in found:
        figures = (way.p50, way.p95, way.lowest, way.ratio)
        drawn.add_row(way.name, str(way.runs), *(f"{value:.1f}" for value in figures))
    return drawn


def chart(found: Sequence[Way], count: int) -> plots.Bars:
    """The median of each way, with the time that 19 of 20 stay under."""
    return plots.Bars(
        title=f"{count:,} memories, from start to answer",
        unit="milliseconds",
        values={way.name: way.p50 for way in found},
        marks={way.name: way.p95 for way in found},
        mark="95 % are faster",
    )

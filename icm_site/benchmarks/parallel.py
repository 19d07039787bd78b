"""Evaluations side by side, each in a process that has one model and one database."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from icm_site import startup
from icm_site.benchmarks.data import Evaluation
from icm_site.benchmarks.systems import STEPS, Outcome, Step, System

POLL_SECONDS = 0.2

# What this process has done of each step, for the parent to draw; set by `_start`.
_counts: Any = None


def measure(
    evaluations: Sequence[Evaluation],
    systems: Sequence[System],
    *,
    jobs: int,
    sessions: bool = True,
) -> list[Outcome]:
    """Run every evaluation, `jobs` at a time; `sessions` as in `quality_run.run`.

    Progress is drawn on stderr if that is a terminal. Raises what
    `quality_run.run` raises.
    """
    # Fork would take the parent's connections and model along.
    context = multiprocessing.get_context("spawn")
    counts = context.Array("q", len(STEPS))
    with (
        tempfile.TemporaryDirectory(prefix="icm-bench-") as folder,
        ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_start, initargs=(counts,)
        ) as pool,
        _drawn(_totals(evaluations, systems)) as draw,
    ):
        futures = [
            pool.submit(_run, evaluation, systems, path=path, sessions=sessions)
            for place, evaluation in enumerate(evaluations)
            for path in [Path(folder) / f"{place}.sqlite3"]
        ]
        try:
            return _results(futures, counts, draw)
        finally:
            pool.shutdown(cancel_futures=True)


def _results(
    futures: Sequence[Future[Outcome]], counts: Any, draw: Any
) -> list[Outcome]:
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
        draw(list(counts))
        for future in done:
            future.result()
    return [future.result() for future in futures]


def _totals(
    evaluations: Sequence[Evaluation], systems: Sequence[System]
) -> dict[Step, int]:
    texts = sum(len(evaluation.corpus) for evaluation in evaluations)
    queries = sum(len(each.queries) + len(each.foreign) for each in evaluations)
    embeds = any(system.model for system in systems)
    return {
        "store": texts,
        "embed": texts if embeds else 0,
        "ask": queries * len(systems),
    }


@contextmanager
def _drawn(totals: dict[Step, int]) -> Iterator[Any]:
    console = Console(stderr=True)
    columns = ("{task.description:>5}", BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bars:
        tasks = [bars.add_task(step, total=totals[step]) for step in STEPS]

        def draw(counts: Sequence[int]) -> None:
            for task, count in zip(tasks, counts, strict=True):
                bars.update(task, completed=count)

        yield draw


def _start(counts: Any) -> None:
    global _counts
    _counts = counts
    # An interrupt ends the worker; else the pool would go on with its next task.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    startup.set_up_django()


def _run(
    evaluation: Evaluation, systems: Sequence[System], *, path: Path, sessions: bool
) -> Outcome:
    # Models may be imported only after `_start`.
    from icm_site.benchmarks import quality_run, vector_cache

    def tick(step: Step, done: int) -> None:
        with _counts.get_lock():
            _counts[STEPS.index(step)] += done

    return quality_run.run(
        evaluation,
        systems,
        path=path,
        vectors=vector_cache.usual_file(),
        tick=tick,
        sessions=sessions,
    )

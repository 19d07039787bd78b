"""`icm bench-recall`: a document is read once; what is left when it is gone?"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from icm_site import startup
from icm_site.arguments import Parser, whole
from icm_site.benchmarks import model_program, plots
from icm_site.benchmarks.model_program import Model
from icm_site.benchmarks.questions import DOCUMENT, QUESTIONS, TOPIC, sentences
from icm_site.caller import Caller
from icm_site.terminal import show

RUNS = range(1, 21)
CALLER = Caller(surface="cli", origin="agent", host="bench")
RETRIEVAL = (
    "No language model was asked: the figures say whether the recalled texts hold the "
    "answer. Choose one with --model to see what it makes of them."
)
ANSWERS = "Answers of {name}, scored by the words that they should hold."

Tick = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Scores (0-100) of each question; `without` is empty where no model was asked."""

    stored: int
    with_icm: list[float]
    without: list[float]


def main(arguments: Sequence[str]) -> int:
    """Run in a folder of its own, print the table; returns 0. Raises IcmError."""
    parser = Parser(
        prog="icm bench-recall",
        description="An invented document is read once into a database of its own; ten "
        "questions about it are then answered without it, with and without ICM. "
        "Without a model the recalled texts are scored instead of answers.",
        allow_abbrev=False,
    )
    model_program.add_options(parser)
    parser.add_argument(
        "-r", "--runs", type=whole(RUNS), default=1, help="runs to average"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line for each question"
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
    with tempfile.TemporaryDirectory(prefix="icm-bench-") as name:
        folder = Path(name)
        model = model_program.chosen(
            name=given.model,
            command=given.model_command,
            timeout=given.timeout,
            database=folder / "model.sqlite3",
        )
        count = given.runs if model else 1
        startup.set_up_django()
        runs = measure(folder, model, count)
    note = ANSWERS.format(name=model.name) if model else RETRIEVAL
    show(table(runs, verbose=given.verbose))
    show(note)
    if given.json:
        figures = {"model": model and model.name, "note": note, **as_json(runs)}
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, [chart(runs)])
    return 0


def measure(folder: Path, model: Model | None, count: int) -> list[Run]:
    """`count` runs, each with a new database. Raises Unavailable for the model."""
    from icm_site.benchmarks.quality_run import own_database

    runs = []
    steps = count * (1 + len(QUESTIONS) * (2 if model else 1))
    with Progress(disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("ask", total=steps)
        for number in range(count):
            work = folder / f"run-{number}"
            work.mkdir()
            with own_database(folder / f"{number}.sqlite3"):
                runs.append(_run(model, work, tick=lambda: bar.advance(task)))
    return runs


def _run(model: Model | None, work: Path, *, tick: Tick) -> Run:
    from icm_site.benchmarks import reading

    if model:
        texts = reading.facts(model.ask(reading.READ + DOCUMENT, work).text)
    else:
        texts = sentences(DOCUMENT)
    stored = reading.keep(texts, topic=TOPIC, caller=CALLER)
    tick()
    known, unknown = [], []
    for question in QUESTIONS:
        notes = reading.recalled(question.text)
        known.append(_answer(model, question.text, notes, work))
        tick()
        if model:
            unknown.append(_answer(model, question.text, "", work))
            tick()
    without = reading.scores(unknown, QUESTIONS) if model else []
    return Run(
        stored=stored, with_icm=reading.scores(known, QUESTIONS), without=without
    )


def _answer(model: Model | None, question: str, notes: str, work: Path) -> str:
    from icm_site.benchmarks import reading

    return model.ask(reading.prompt(question, notes), work).text if model else notes


def _means(scores: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each question over the runs."""
    return [statistics.mean(of_one) for of_one in zip(*scores, strict=True)]


def table(runs: Sequence[Run], *, verbose: bool) -> Table:
    """The figures for people."""
    known = _means([run.with_icm for run in runs])
    unknown = _means([run.without for run in runs])
    drawn = Table("Question", title=f"{len(QUESTIONS)} questions, runs: {len(runs)}")
    drawn.add_column("without ICM", justify="right")
    drawn.add_column("with ICM", justify="right")
    for place, question in enumerate(QUESTIONS if verbose else ()):
        without = f"{unknown[place]:.0f} %" if unknown else "–"
        drawn.add_row(question.text, without, f"{known[place]:.0f} %")
    drawn.add_row("all", _mean(unknown), _mean(known))
    return drawn


def _mean(scores: Sequence[float]) -> str:
    return f"{statistics.mean(scores):.0f} %" if scores else "–"


def as_json(runs: Sequence[Run]) -> dict[str, object]:
    """The figures for programs: each run, in the order of the questions."""
    return {
        "questions": [question.text for question in QUESTIONS],
        "runs": [asdict(run) for run in runs],
    }


def chart(runs: Sequence[Run]) -> plots.Bars:
    """The mean with ICM; a mark for the mean without, where a model was asked."""
    known = _means([run.with_icm for run in runs])
    unknown = _means([run.without for run in runs])
    names = [f"question {number}" for number in range(1, len(QUESTIONS) + 1)]
    return plots.Bars(
        title="A document read once, then asked about",
        unit="score, 0 to 100",
        values=dict(zip(names, known, strict=True)),
        marks=dict(zip(names, unknown, strict=True)) if unknown else None,
        mark="without ICM",
    )

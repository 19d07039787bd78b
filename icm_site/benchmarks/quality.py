"""`icm bench-quality`: how well recall answers questions, on any evaluation files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from icm_site import __version__, startup
from icm_site.arguments import Parser
from icm_site.benchmarks import (
    abstention,
    data,
    plots,
    quality_figures,
    quality_report,
    saved_runs,
)
from icm_site.benchmarks.parallel import measure
from icm_site.benchmarks.systems import (
    Outcome,
    System,
    ablation,
    with_model,
    words,
)
from icm_site.errors import Unavailable
from icm_site.terminal import show
from memories import embedder
from memories.rank import ENGINES

DESCRIPTION = """Measure how well recall answers questions.

PATH is an evaluation file or a folder of them: JSON with "corpus" (id, text, topic,
created_at) and "queries" (id, text, relevant, kind). Each file is stored into a new
database of its own, which is removed afterwards, and asked by words alone and with
the model. docs/benchmarks.md defines each figure.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables; returns 0.

    Raises InvalidInput for a wrong file or command line, Unavailable without a
    folder for temporary files or the cache.
    """
    try:
        options = _parser().parse_args(argv)
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    startup.set_up_django()
    plots.checked(options.plot)
    evaluations = data.read(options.path)
    if options.limit is not None:
        evaluations = [each.limited(options.limit) for each in evaluations]
    if options.compare:
        _report(saved_runs.compared(evaluations, options.compare), options)
        return 0
    if options.abstain or options.fit_relevance:
        evaluations = data.with_foreign(evaluations)
    if options.fit_relevance:
        # Models may be imported only after the setup.
        from icm_site.benchmarks import relevance_fit

        show(relevance_fit.table(evaluations, no_model=options.no_model))
        return 0
    systems, model = _systems(options)
    outcomes = measure(
        evaluations, systems, jobs=options.jobs, sessions=not options.no_sessions
    )
    if unembedded := sum(outcome.unembedded for outcome in outcomes):
        print(f"the model failed on {unembedded} texts", file=sys.stderr)
    _report(outcomes, options, model=model)
    if options.run:
        _write(options.run, "".join(saved_runs.lines(outcomes, _chosen(systems))))
    return 0


def _report(
    outcomes: Sequence[Outcome], options: argparse.Namespace, *, model: str = ""
) -> None:
    """Print the tables, and write them as JSON where that is asked for."""
    lines = quality_figures.figures(outcomes, sessions_only=options.grain_sessions)
    silent = abstention.abstentions(outcomes)
    tables = quality_report.tables(lines, silent, by_kind=options.by_kind)
    for title, table in tables:
        show(f"\n{title}\n")
        show(table)
    plots.save(options.plot, quality_report.charts(lines))
    if options.json:
        report = quality_report.as_json(lines, silent, version=__version__, model=model)
        _write(options.json, json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def _chosen(systems: Sequence[System]) -> System:
    """The one whose rankings are written: the default fusion, nothing left out."""
    compared = [each for each in systems if not each.without]
    return compared[min(1, len(compared) - 1)]


def _parser() -> Parser:
    parser = Parser(
        prog="icm bench-quality",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("path", metavar="PATH", type=Path, help="file or folder")
    add("--no-model", action="store_true", help="words alone")
    add("--engine", choices=ENGINES, default="default", help="fusion with the model")
    add("--engines", action="store_true", help="compare all fusions")
    add("--ablate", action="store_true", help="leave out each arm in turn")
    add("--abstain", action="store_true", help="ask the next file's texts as well")
    add("--fit-relevance", action="store_true", help="fit its constants, and no more")
    add(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        type=Path,
        help="compare two files written by --run",
    )
    add("--limit", metavar="N", type=_positive, help="first N queries of each file")
    add("--by-kind", action="store_true", help="a line for each kind of query too")
    add("--grain-sessions", action="store_true", help="judge sessions alone")
    add("--no-sessions", action="store_true", help="store no agent sessions")
    add("--json", metavar="FILE", type=Path, help="write all figures as JSON")
    add("--plot", metavar="FILE", help="draw the main figures (.png or .svg)")
    add("--run", metavar="FILE", type=Path, help="write the rankings as JSON lines")
    jobs = min(2, os.cpu_count() or 1)
    add("--jobs", metavar="N", type=_positive, default=jobs, help="processes at a time")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 up")
    return int(text)


def _systems(options: argparse.Namespace) -> tuple[list[System], str]:
    """What is compared, and the model's name; a missing model is said on stderr."""
    if options.no_model:
        return ablation(model=False) if options.ablate else [words(options.engine)], ""
    status = embedder.status(embedder.configured())
    if not status.available:
        print(f"words alone: {status.reason}", file=sys.stderr)
        return ablation(model=False) if options.ablate else [words(options.engine)], ""
    if options.ablate:
        return ablation(model=True), status.name
    if options.engines:
        return [words(), *map(with_model, ENGINES)], status.name
    return [words(options.engine), with_model(options.engine)], status.name


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{file} cannot be written: {error.strerror}") from None

"""`icm bench-quality`: how well recall answers questions, on any evaluation files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import django

from icm_site import __version__
from icm_site.arguments import Parser
from icm_site.benchmarks import data, quality_figures, quality_report
from icm_site.benchmarks.parallel import measure
from icm_site.benchmarks.systems import Outcome, System, with_model, words
from icm_site.command_line import show
from icm_site.errors import Unavailable
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
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "icm_site.settings")
    django.setup()
    evaluations = data.read(options.path)
    if options.limit is not None:
        evaluations = [each.limited(options.limit) for each in evaluations]
    systems, model = _systems(options)
    outcomes = measure(
        evaluations, systems, jobs=options.jobs, sessions=not options.no_sessions
    )
    if unembedded := sum(outcome.unembedded for outcome in outcomes):
        print(f"the model failed on {unembedded} texts", file=sys.stderr)
    lines = quality_figures.figures(outcomes, sessions_only=options.grain_sessions)
    for title, table in quality_report.tables(lines, by_kind=options.by_kind):
        show(f"\n{title}\n")
        show(table)
    if options.json:
        report = quality_report.as_json(lines, version=__version__, model=model)
        _write(options.json, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if options.run:
        # With several fusions it is the default one, which comes first.
        system = systems[min(1, len(systems) - 1)]
        _write(options.run, "".join(_rankings(outcomes, system)))
    return 0


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
    add("--limit", metavar="N", type=_positive, help="first N queries of each file")
    add("--by-kind", action="store_true", help="a line for each kind of query too")
    add("--grain-sessions", action="store_true", help="judge sessions alone")
    add("--no-sessions", action="store_true", help="store no agent sessions")
    add("--json", metavar="FILE", type=Path, help="write all figures as JSON")
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
        return [words(options.engine)], ""
    status = embedder.status(embedder.configured())
    if not status.available:
        print(f"words alone: {status.reason}", file=sys.stderr)
        return [words(options.engine)], ""
    if options.engines:
        return [words(), *map(with_model, ENGINES)], status.name
    return [words(options.engine), with_model(options.engine)], status.name


def _rankings(outcomes: Iterable[Outcome], system: System) -> Iterable[str]:
    """A line for each query: {"corpus", "query", "ranking"}."""
    for outcome in outcomes:
        evaluation = outcome.evaluation
        found = outcome.found[system.name]
        for query, answer in zip(evaluation.queries, found, strict=True):
            row = {
                "corpus": evaluation.key,
                "query": query.id,
                "ranking": answer.ranking,
            }
            yield json.dumps(row, ensure_ascii=False) + "\n"


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{file} cannot be written: {error.strerror}") from None

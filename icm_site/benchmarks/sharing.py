"""`icm bench-agents`: several programs write to one database, then each is asked."""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress
from rich.table import Table

from icm_site import startup
from icm_site.arguments import Parser
from icm_site.benchmarks import model_program, plots
from icm_site.benchmarks.mcp_host import McpHost
from icm_site.benchmarks.model_program import Model
from icm_site.benchmarks.questions import (
    DOCUMENT,
    QUESTIONS,
    TOPIC,
    held,
    score,
    sentences,
)
from icm_site.terminal import show

# The names by which these programs introduce themselves.
HOSTS = ("claude-code", "gemini-cli", "codex", "copilot", "cursor")
DEADLINE_SECONDS = 600
# The documented weights; the measure of speed is ours: full up to a second for an
# answer, nothing from 30 seconds on.
RECALL, DETAIL, SPEED = 0.6, 0.3, 0.1
FAST_SECONDS, SLOW_SECONDS = 1.0, 30.0
RETRIEVAL = (
    "No language model was asked: the figures say whether the recalled texts hold the "
    "answer, and how fast they came."
)
ANSWERS = "Answers of the models, scored by the words that they should hold."


@dataclass(frozen=True, kw_only=True)
class Row:
    """One host: shares in percent, the median seconds for an answer, the score."""

    host: str
    model: str
    stored: int
    recall: float
    detail: float
    seconds: float
    score: float


def main(arguments: Sequence[str]) -> int:
    """Run in a folder of its own, print the table; returns 0. Raises IcmError."""
    parser = Parser(
        prog="icm bench-agents",
        description="Several programs, each with an MCP server of its own, store parts "
        "of an invented document into one new database at the same time; then each is "
        "asked about all of it. Score: 60 % recall, 30 % detail, 10 % speed.",
        allow_abbrev=False,
    )
    model_program.add_options(parser, several=True)
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
    startup.set_up_django()
    with tempfile.TemporaryDirectory(prefix="icm-bench-") as name:
        folder = Path(name)
        models = _models(given.model, given.model_command, given.timeout, folder)
        rows = measure(folder, models, timeout=given.timeout)
    show(table(rows))
    note = ANSWERS if models else RETRIEVAL
    show(note)
    if given.json:
        figures = {"note": note, "rows": [asdict(row) for row in rows]}
        Path(given.json).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    plots.save(given.plot, [chart(rows)])
    return 0


def _models(
    names: Sequence[str] | None,
    commands: Sequence[str] | None,
    timeout: int,
    folder: Path,
) -> list[Model]:
    wanted = [(name, None) for name in names or ()]
    wanted_too = [(None, command) for command in commands or ()]
    database = folder / "model.sqlite3"
    found = [
        model_program.chosen(
            name=name, command=command, timeout=timeout, database=database
        )
        for name, command in (*wanted, *wanted_too)
    ]
    return [model for model in found if model]


def measure(folder: Path, models: Sequence[Model], *, timeout: int) -> list[Row]:
    """A row for each host: the models', or the five known ones. Raises Unavailable."""
    names = [f"{m.name}-{n}" for n, m in enumerate(models, 1)] if models else [*HOSTS]
    database, work = folder / "icm.sqlite3", folder / "tidewater"
    work.mkdir()
    # The last host waits for the answers of all before it.
    seconds = DEADLINE_SECONDS + timeout * len(QUESTIONS) * len(models)
    steps = len(names) * len(QUESTIONS)
    with (
        ExitStack() as stack,
        Progress(disable=not sys.stderr.isatty(), transient=True) as bar,
    ):
        task = bar.add_task("ask", total=steps)
        hosts = []
        for name in names:
            host = McpHost(name, folder=work, database=database, seconds=seconds)
            stack.callback(host.close)
            hosts.append(host)
        share(hosts)
        stored = _stored(database)
        return [
            asked(
                host,
                models[place] if models else None,
                stored=stored.get(host.name, 0),
                work=work,
                tick=lambda: bar.advance(task),
            )
            for place, host in enumerate(hosts)
        ]


def share(hosts: Sequence[McpHost]) -> None:
    """Each host stores its part of the document, all at the same time."""
    parts = sentences(DOCUMENT)

    def store(place: int) -> None:
        for text in parts[place :: len(hosts)]:
            hosts[place].call("icm_memory_store", topic=TOPIC, content=text)

    with ThreadPoolExecutor(len(hosts)) as pool:
        list(pool.map(store, range(len(hosts))))


def _stored(database: Path) -> dict[str, int]:
    """How many memories each host has in the database."""
    with closing(sqlite3.connect(database)) as connection:
        counted = "SELECT host, count(*) FROM memories WHERE state = 'live' GROUP BY 1"
        return dict(connection.execute(counted).fetchall())


def asked(
    host: McpHost,
    model: Model | None,
    *,
    stored: int,
    work: Path,
    tick: Callable[[], None],
) -> Row:
    """Ask a host every question; with a model, its answers are scored."""
    from icm_site.benchmarks import reading

    answers, spent = [], []
    for question in QUESTIONS:
        start = time.perf_counter()
        text = host.call("icm_memory_recall", query=question.text, limit=reading.LIMIT)
        if model:
            text = model.ask(reading.prompt(question.text, text), work).text
        spent.append(time.perf_counter() - start)
        answers.append(text)
        tick()
    return row(
        host.name,
        model.name if model else "",
        stored=stored,
        answers=answers,
        seconds=statistics.median(spent),
    )


def row(
    host: str, model: str, *, stored: int, answers: Sequence[str], seconds: float
) -> Row:
    """The figures of one host's answers to all questions."""
    pairs = list(zip(answers, QUESTIONS, strict=True))
    recall = 100 * statistics.mean(score(a, q) == 100 for a, q in pairs)
    words = sum(len(question.keywords) for question in QUESTIONS)
    detail = 100 * sum(held(a, q.keywords) for a, q in pairs) / words
    late = (seconds - FAST_SECONDS) / (SLOW_SECONDS - FAST_SECONDS)
    speed = 100 * (1 - min(1.0, max(0.0, late)))
    return Row(
        host=host,
        model=model,
        stored=stored,
        recall=round(recall, 1),
        detail=round(detail, 1),
        seconds=round(seconds, 4),
        score=round(RECALL * recall + DETAIL * detail + SPEED * speed, 1),
    )


def table(rows: Sequence[Row]) -> Table:
    """The figures for people."""
    title = f"{len(rows)} programs on one database, {len(QUESTIONS)} questions"
    drawn = Table("Program", title=title)
    for name in ("Stored", "Recall", "Detail", "ms an answer", "Score"):
        drawn.add_column(name, justify="right")
    for one in rows:
        shares = (f"{one.recall:.0f} %", f"{one.detail:.0f} %")
        time_taken = f"{1e3 * one.seconds:,.1f}"
        drawn.add_row(
            one.host, str(one.stored), *shares, time_taken, f"{one.score:.0f}"
        )
    return drawn


def chart(rows: Sequence[Row]) -> plots.Bars:
    """The score of each host, and its recall as a mark."""
    return plots.Bars(
        title="Several programs on one database",
        unit="score, 0 to 100",
        values={one.host: one.score for one in rows},
        marks={one.host: one.recall for one in rows},
        mark="recall",
    )

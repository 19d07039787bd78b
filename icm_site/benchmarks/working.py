"""`icm bench-agent`: sessions on a small project, with and without ICM."""

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
from icm_site.benchmarks import agent_project, model_program, plots
from icm_site.benchmarks.model_program import Model, Reply
from icm_site.benchmarks.questions import Question, score
from icm_site.caller import Caller
from icm_site.terminal import show

RUNS = range(1, 21)
CALLER = Caller(surface="cli", origin="agent", host="bench")
RETRIEVAL = (
    "No language model was asked: without ICM stands for reading all files, with ICM "
    "for reading what a recall brings; tokens are characters / 4. --model asks one."
)
ANSWERS = "Turns, tokens of input and dollars as {name} counts them; tokens {how}."
READ = (
    "Read the files in this folder. Write down what a colleague should know of them, "
    "one fact a line, each a full sentence that can be understood alone. Write nothing "
    "else."
)
# Texts that are only read take neither turns nor money.
COLUMNS = ("score", "turns", "tokens", "dollars")
READ_COLUMNS = ("score", "tokens")
FILES = "The project is in this folder: look into its files where you need to.\n\n"

Tick = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What one session took, and the score of its answer (0-100)."""

    turns: int
    tokens: int
    counted: bool
    dollars: float
    seconds: float
    score: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """The sessions of one run; `learning` is what reading the project once took."""

    learning: Session
    with_icm: list[Session]
    without: list[Session]


def main(arguments: Sequence[str]) -> int:
    """Run in folders of its own, print the table; returns 0. Raises IcmError."""
    most = len(agent_project.SESSIONS)
    parser = Parser(
        prog="icm bench-agent",
        description="Sessions on an invented project of twelve files, each with a "
        "question: turns, tokens of input and cost, with and without ICM. Without a "
        "model the texts that have to be read are compared.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-s",
        "--sessions",
        type=whole(range(1, most + 1)),
        default=most,
        help=f"sessions, 1 to {most}",
    )
    model_program.add_options(parser)
    parser.add_argument(
        "-r", "--runs", type=whole(RUNS), default=1, help="runs to average"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line for each session"
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
    asked = agent_project.SESSIONS[: given.sessions]
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
        runs = measure(folder, model, asked, count)
    _report(runs, asked, model, given.json, verbose=given.verbose)
    plots.save(given.plot, [chart(runs)])
    return 0


def _report(
    runs: Sequence[Run],
    asked: Sequence[Question],
    model: Model | None,
    file: str | None,
    *,
    verbose: bool,
) -> None:
    counted = all(session.counted for run in runs for session in run.without)
    how = "counted by it" if counted else "estimated from the prompts alone"
    note = ANSWERS.format(name=model.name, how=how) if model else RETRIEVAL
    show(table(runs, asked, modelled=model is not None, verbose=verbose))
    show(note)
    if file:
        figures = {
            "model": model and model.name,
            "note": note,
            "questions": [question.text for question in asked],
            "runs": [asdict(run) for run in runs],
        }
        Path(file).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def measure(
    folder: Path, model: Model | None, asked: Sequence[Question], count: int
) -> list[Run]:
    """`count` runs, each with folders and a database of its own. Raises Unavailable."""
    from icm_site.benchmarks.quality_run import own_database

    runs = []
    with Progress(disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("ask", total=count * (1 + 2 * len(asked)))
        for number in range(count):
            work = folder / f"run-{number}"
            with own_database(folder / f"{number}.sqlite3"):
                run = _modelled if model else _read
                runs.append(run(model, work, asked, lambda: bar.advance(task)))
    return runs


def _modelled(
    model: Model | None, work: Path, asked: Sequence[Question], tick: Tick
) -> Run:
    """Sessions of a model, which looks into the files itself."""
    from icm_site.benchmarks import reading

    assert model is not None
    places = [work / name for name in ("with", "without")]
    for place in places:
        agent_project.write(place)
    learnt = model.ask(READ, places[0])
    reading.keep(reading.facts(learnt.text), topic=agent_project.TOPIC, caller=CALLER)
    tick()
    known: list[Session] = []
    unknown: list[Session] = []
    for question in asked:
        notes = reading.recalled(question.text)
        for place, said, sessions in zip(
            places, (notes, ""), (known, unknown), strict=True
        ):
            prompt = FILES + reading.prompt(question.text, said)
            reply = model.ask(prompt, place)
            sessions.append(session(reply, score(reply.text, question)))
            tick()
    return Run(learning=session(learnt, 0), with_icm=known, without=unknown)


def _read(
    _model: Model | None, _work: Path, asked: Sequence[Question], tick: Tick
) -> Run:
    """The texts that sessions would have to read."""
    from icm_site.benchmarks import reading

    whole = agent_project.read()
    texts = [says for says, _ in agent_project.FILES.values()]
    reading.keep(texts, topic=agent_project.TOPIC, caller=CALLER)
    tick()
    known: list[Session] = []
    unknown: list[Session] = []
    for question in asked:
        notes = reading.recalled(question.text)
        for text, sessions in ((notes, known), (whole, unknown)):
            reply = model_program.plain(text)
            sessions.append(session(reply, score(text, question)))
            tick()
    learnt = session(model_program.plain(whole), 0)
    return Run(learning=learnt, with_icm=known, without=unknown)


def session(reply: Reply, scored: float) -> Session:
    """What a reply took."""
    return Session(
        turns=reply.turns,
        tokens=reply.tokens,
        counted=reply.counted,
        dollars=reply.dollars,
        seconds=round(reply.seconds, 3),
        score=scored,
    )


def table(
    runs: Sequence[Run], asked: Sequence[Question], *, modelled: bool, verbose: bool
) -> Table:
    """The figures for people: means over the runs."""
    drawn = Table("Session", title=f"{len(asked)} sessions, runs: {len(runs)}")
    columns = COLUMNS if modelled else READ_COLUMNS
    for way in ("without", "with"):
        for name in columns:
            drawn.add_column(f"{name}, {way}", justify="right")

    def cells(sessions: Sequence[Session], count: int) -> list[str]:
        told = _cells(sessions, count)
        return [told[name] for name in columns]

    for place, question in enumerate(asked if verbose else ()):
        unknown = [run.without[place] for run in runs]
        known = [run.with_icm[place] for run in runs]
        drawn.add_row(question.text, *cells(unknown, 1), *cells(known, 1))
    learning = [run.learning for run in runs]
    drawn.add_row("reading once", *[""] * len(columns), "", *cells(learning, 1)[1:])
    unknown = [session for run in runs for session in run.without]
    known = [session for run in runs for session in run.with_icm]
    count = len(asked)
    drawn.add_row("all sessions", *cells(unknown, count), *cells(known, count))
    return drawn


def _cells(sessions: Sequence[Session], count: int) -> dict[str, str]:
    """Mean score; turns, tokens and dollars of `count` sessions."""
    turns = statistics.mean(session.turns for session in sessions)
    tokens = statistics.mean(session.tokens for session in sessions)
    dollars = statistics.mean(session.dollars for session in sessions)
    return {
        "score": f"{statistics.mean(session.score for session in sessions):.0f} %",
        "turns": f"{count * turns:,.0f}",
        "tokens": f"{count * tokens:,.0f}",
        "dollars": f"{count * dollars:.2f}",
    }


def chart(runs: Sequence[Run]) -> plots.Bars:
    """Tokens of each session with ICM, and without as a mark."""

    def means(sessions: Sequence[Sequence[Session]]) -> dict[str, float]:
        return {
            f"session {number}": statistics.mean(one.tokens for one in of_one)
            for number, of_one in enumerate(zip(*sessions, strict=True), 1)
        }

    return plots.Bars(
        title="Sessions on a small project, with ICM",
        unit="tokens of input",
        values=means([run.with_icm for run in runs]),
        marks=means([run.without for run in runs]),
        mark="without ICM",
        logarithmic=True,
    )

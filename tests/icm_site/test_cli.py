"""The command line: exit codes, streams, hostile arguments, global options."""

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import TypeAdapter

from icm_site import __version__, cli, command_modules, help_page
from icm_site.command_line import _plain
from icm_site.operation import Command, Operation
from icm_site.registry import COMMANDS
from memories.models import Memory
from tests.conftest import Outcome, Run
from tests.factories import command_words, make_memory

UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
# Commands that would reach for the network.
NETWORK = {("embeddings", "download")}


def assert_sentence(outcome: Outcome, code: int) -> None:
    """One line on stderr, nothing on stdout."""
    assert outcome.code == code, outcome.err[-500:]
    assert outcome.out == ""
    assert re.fullmatch(r"Error: [^\n]{3,401}\n", outcome.err), outcome.err[:500]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("nonsense", 2, "unknown command 'nonsense': see `icm --help`"),
        ("recal x", 2, "unknown command 'recal': did you mean 'recall'?"),
        ("confg", 2, "did you mean 'config'?"),
        ("--unknown", 2, "unrecognized arguments: --unknown"),
        ("recall x --unknown", 2, "arguments: --unknown (see `icm recall --help`)"),
        ("memoir", 2, "a sub-command is missing (see `icm memoir --help`)"),
        ("memoir --bad", 2, "arguments: --bad (see `icm memoir --help`)"),
        ("recall a b c", 2, "unrecognized arguments: b c: put quotes around a text of"),
        ("topics rename a b c", 2, "quotes around a text of several words (see `icm t"),
        ("stats x", 2, "unrecognized arguments: x (see `icm stats --help`)"),
        ("recall", 2, "required: QUERY (see `icm recall --help`)"),
        ("store", 2, "required: -t/--topic, -c/--content (see `icm store --help`)"),
        ("store -t", 2, "argument -t/--topic: expected one argument"),
        ("store -t x -c y --top z", 2, "unrecognized arguments: --top z"),
        ("topics renam a b", 2, "invalid choice: 'renam'"),
        ("topics rename a", 2, "required: NEW"),
        ("embeddings", 2, "a sub-command is missing (see `icm embeddings --help`)"),
        ("recall x -f xml", 2, "invalid choice: 'xml' (choose from 'toon'"),
        ("store -t x -c y -f json", 2, "unrecognized arguments: -f json"),
        ("recall x -l many", 1, "limit: input should be a valid integer"),
        ("recall x --max-tokens 1.5", 1, "max_tokens: input should be a valid integer"),
        ("recall x --min-score 2", 1, "min_score: input should be less than or equal"),
        ("recall x --min-score nan", 1, "min_score: input should be"),
        ("recall x --engine v2", 1, "engine: input should be 'default', 'blend' or"),
        ("list -a -s name", 1, "sort: input should be 'weight', 'created' or"),
        ("store -t x -c y -i urgent", 1, "importance: input should be 'critical'"),
        ("list", 2, "give a topic with -t, or -a for all memories"),
        ("list -f json", 2, "give a topic with -t, or -a for all memories"),
        ("bench -c 0", 2, "-c/--count: must be a whole number from 10 to 1000000"),
        ("bench --decayed ²", 2, "--decayed: must be a whole number from 10 to"),
        ("bench-web -r -3", 2, "-r/--rounds: must be a whole number from 1 to 1000"),
        ("bench-web -c nan", 2, "-c/--count: must be a whole number from 10 to"),
        ("bench-latency -r 0", 2, "-r/--rounds: must be a whole number from 1 to"),
        ("bench-recall -r 1.5", 2, "-r/--runs: must be a whole number from 1 to 20"),
        ("bench-agent -s 0", 2, "-s/--sessions: must be a whole number from 1 to"),
        ("web --port -1", 2, "--port: must be a whole number from 0 to 65535"),
        ("web --port 65536", 2, "--port: must be a whole number from 0 to 65535"),
        ("web --port " + "9" * 5000, 2, "--port: must be a whole number from 0 to"),
        ("forget", 1, "give either the id of a memory or a topic"),
        ("forget x -t y", 1, "give either the id of a memory or a topic"),
        ("forget nothing", 1, "memory not found: nothing"),
        (f"forget {UNKNOWN}", 1, f"memory not found: {UNKNOWN}"),
        (f"update {UNKNOWN} -c x", 1, f"memory not found: {UNKNOWN}"),
        (f"undo {UNKNOWN}", 1, f"memory or change not found: {UNKNOWN}"),
        ("topics rename nothing new", 1, "topic not found: nothing"),
        ("topics -f json rename nothing new", 1, "topic not found: nothing"),
        ("embed", 1, "no embeddings: embeddings are switched off"),
        (f"store -t x -c y --supersedes {UNKNOWN}", 1, "memory not found"),
        ("--db", 2, "--db needs a value"),
        ("--db= stats", 2, "--db needs a value"),
        ("--db --read-only stats", 2, "--db needs a value"),
        ("stats --read-only=1", 2, "--read-only takes no value"),
        ("--db a stats --db b", 1, "--db is given more than once"),
        ("--db=a --db a stats", 1, "--db is given more than once"),
    ],
)
def test_a_wrong_line_is_one_sentence_on_stderr(
    run: Run, line: str, code: int, said: str
) -> None:
    outcome = run(*line.split())
    assert_sentence(outcome, code)
    assert said in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("forget", ""),
        ("forget", "-t", ""),
        ("forget", "-t", " \t"),
        ("list", "-t", ""),
        ("store", "-t", "", "-c", "x"),
        ("store", "-t", "x", "-c", " \n "),
        ("store", "-t", "x", "-c", "a\0b"),
        ("store", "-t", "x", "-c", "x" * 1_000_000),
        ("store", "-t", "x" * 1_000_000, "-c", "x"),
        ("store", "-t", "x", "-c", "y", "-k", "k" * 1_000_000),
        ("store", "-t", "x", "-c", "y", "-k", ",".join(map(str, range(99)))),
        ("store", "-t", "x", "-c", "\udcff"),
        ("recall", "\udcff"),
        ("recall", "x", "-k", "\udcff"),
        ("list", "-t", "\udcff"),
        ("show", "\udcff"),
        ("undo", ""),
        ("update", "", "-c", "x"),
        ("topics", "rename", "", "x"),
        ("topics", "rename", "x", "a\nb"),
    ],
)
def test_a_hostile_value_is_one_sentence_on_stderr(
    run: Run, arguments: tuple[str, ...]
) -> None:
    assert_sentence(run(*arguments), 1)
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-p", ""),
        ("-p", " ", "--hidden-only"),
        ("-t", ""),
        ("-q", " "),
        ("-q", "x" * 60_000),
        ("--older-than-days", "nan"),
        ("--older-than-days=-1",),
        ("--older-than-days", "1e300"),
    ],
)
def test_a_blank_or_absurd_bound_purges_nothing(
    run: Run, arguments: tuple[str, ...]
) -> None:
    make_memory()
    assert_sentence(run("purge", "--yes", *arguments), 1)
    assert Memory.objects.count() == 1


HOSTILE = [
    "",
    " ",
    "\0",
    "\udcff",
    "x" * 1_000_000,
    "-1",
    "99999999999999999999",
    "1e309",
    "nan",
    "'; DROP TABLE memories; --",
    "%s %d {} [/b] \x1b[31m \u202e \U0001f600",
    "a\nb",
    "../../etc/passwd",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(COMMANDS), ids=" ".join)
def test_no_value_of_any_option_ends_with_more_than_a_sentence(
    run: Run, command: tuple[str, ...]
) -> None:
    if command in NETWORK:
        pytest.skip("reaches for the network")
    operation, shown = COMMANDS[command]
    memory = make_memory(topic="t")
    for name in operation.params.model_fields:
        if name in shown.hidden or name == "yes":
            continue
        for value in HOSTILE:
            line = line_with(operation, shown, memory.ulid, **{name: value})
            outcome = run(*command, *line)
            assert outcome.code in (0, 1, 2)
            assert "Traceback" not in outcome.err, (name, outcome.err[-500:])
            if outcome.code == 2 or (outcome.code == 1 and outcome.err):
                assert_sentence(outcome, outcome.code)


def line_with(
    operation: Operation, command: Command, ulid: str, **given: object
) -> list[str]:
    """A line that gives these values, and good ones for what else is required."""
    required = {
        name: ulid if name == "id" else "t"
        for name, info in operation.params.model_fields.items()
        if info.is_required() and name not in command.fill
    }
    return command_words(operation, command, required | given)


@pytest.mark.parametrize("command", sorted(COMMANDS), ids=" ".join)
def test_each_command_explains_itself(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    operation, shown = COMMANDS[command]
    assert cli.main([*command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"usage: icm {' '.join(command)}")
    assert (shown.about or operation.description).splitlines()[0] in out
    for name in operation.params.model_fields.keys() - shown.hidden:
        for flag in shown.flags.get(name, (f"--{name.replace('_', '-')}",)):
            assert flag in out


def test_help_and_version_are_words_too(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in ("--help", "help", "topics rename --help", "help topics rename"):
        assert cli.main(words.split()) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2] == said[3]
    assert cli.main(["version"]) == 0
    assert capsys.readouterr().out == f"icm {__version__}\n"


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    out, _ = capsys.readouterr()
    for first in {command[0] for command in COMMANDS} | command_modules.COMMANDS.keys():
        assert re.search(rf"^ +{first}\b", out, re.MULTILINE), first
    for option in cli.GLOBALS:
        assert option in out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-V", "--version"):
        assert cli.main([flag]) == 0
    out, _ = capsys.readouterr()
    assert re.fullmatch(r"(icm \d+\.\d+\.\d+\n){2}", out)
    try:
        assert f"icm {version('icm-memory')}\n" in out
    except PackageNotFoundError:
        pytest.skip("the package is not installed")


@pytest.mark.slow
def test_every_choice_of_a_literal_is_accepted(run: Run) -> None:
    memory = make_memory("A fact.", topic="t")
    tried = 0
    for command, (operation, shown) in COMMANDS.items():
        for name, info in operation.params.model_fields.items():
            for choice in literal(_plain(info.annotation)):
                line = line_with(operation, shown, memory.ulid, **{name: choice})
                outcome = run(*command, *line)
                # It may fail by a memoir that is not there, or without a topic.
                assert "choice" not in outcome.err, (line, outcome)
                assert "input should be" not in outcome.err
                tried += 1
    assert tried > 10


def test_every_list_is_given_with_commas(run: Run) -> None:
    lists = [
        (words, name, info)
        for words, (operation, shown) in COMMANDS.items()
        for name, info in operation.params.model_fields.items()
        if get_origin(_plain(info.annotation)) is list and name not in shown.hidden
    ]
    assert len(lists) > 5
    for words, name, info in lists:
        kind: TypeAdapter[Any] = TypeAdapter(
            Annotated[info.annotation, name, *info.metadata]  # type: ignore[arg-type]
        )
        assert kind.validate_python("a:b,c:d") == ["a:b", "c:d"], (words, name)


def test_some_memories_of_a_topic_are_consolidated_by_their_ids(run: Run) -> None:
    first, second, third = (
        make_memory(text, topic="t") for text in ("Port 1.", "Port 2.", "A lamp.")
    )
    ids = f"{first.ulid}, {second.ulid.lower()}"
    done = run("consolidate", "-t", "t", "-s", "Two ports.", "--ids", ids)
    assert done.code == 0, done.err
    assert done.out.startswith("Consolidated 2 memories from 't' into 1")
    third.refresh_from_db()
    assert third.state == "live"
    assert_sentence(run("consolidate", "-t", "t", "-s", "x", "--ids", UNKNOWN), 1)


def literal(kind: Any) -> tuple[str, ...]:
    return tuple(choice for choice in get_args(kind) if isinstance(choice, str))


def test_the_page_of_commands_names_each_once_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {words[0] for words in COMMANDS} | command_modules.COMMANDS.keys()
    assert sorted(known) == sorted(
        name for group in help_page.GROUPS.values() for name in group
    )
    assert cli.main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 79] == []
    assert not any("sub-commands of" in line for line in lines)


def test_a_switch_that_leaves_something_out_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["wake-up", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--no-preferences      Without preferences and identity\n" in out


@pytest.mark.parametrize("path", ["x" * 300, "/".join(["d" * 200] * 30)])
@pytest.mark.parametrize(
    "line",
    ["import", "export", "backup -o", "restore", "trust", "bench-quality"],
)
def test_a_path_that_is_too_long_is_one_sentence(
    run: Run, line: str, path: str
) -> None:
    outcome = run(*line.split(), path)
    assert_sentence(outcome, 1)
    assert "File name too long" in outcome.err

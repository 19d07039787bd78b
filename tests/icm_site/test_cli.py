"""The command line: exit codes, streams, hostile arguments, global options."""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from typing import Any, get_args

import pytest

from icm_site import cli
from icm_site.command_line import _plain
from icm_site.operation import Command, Operation
from icm_site.registry import COMMANDS
from memories import store
from memories.models import Memory
from tests.conftest import Outcome, Run
from tests.factories import CALLER, make_memory

ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
# Commands that would reach for the network.
NETWORK = {("embeddings", "download")}


def the_id(outcome: Outcome) -> str:
    """The id in a good answer."""
    assert (outcome.code, outcome.err) == (0, ""), outcome
    found = ULID.search(outcome.out)
    assert found is not None, outcome
    return found[0]


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
        ("recall x --unknown", 2, "unrecognized arguments: --unknown"),
        ("recall", 2, "required: QUERY (see `icm recall --help`)"),
        ("store", 2, "required: -t/--topic, -c/--content (see `icm store --help`)"),
        ("store -t", 2, "argument -t/--topic: expected one argument"),
        ("store -t x -c y --top z", 2, "unrecognized arguments: --top z"),
        ("topics renam a b", 2, "invalid choice: 'renam'"),
        ("topics rename a", 2, "required: NEW"),
        ("embeddings", 2, "a sub-command is missing"),
        ("recall x -f xml", 2, "invalid choice: 'xml' (choose from 'toon'"),
        ("store -t x -c y -f json", 2, "unrecognized arguments: -f json"),
        ("recall x -l many", 1, "limit: input should be a valid integer"),
        ("recall x --max-tokens 1.5", 1, "max_tokens: input should be a valid integer"),
        ("recall x --min-score 2", 1, "min_score: input should be less than or equal"),
        ("recall x --min-score nan", 1, "min_score: input should be"),
        ("recall x --engine v2", 1, "engine: input should be 'default', 'blend' or"),
        ("list -a -s name", 1, "sort: input should be 'weight', 'created' or"),
        ("store -t x -c y -i urgent", 1, "importance: input should be 'critical'"),
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
            line = arguments_of(operation, shown, {name: value}, memory.ulid)
            outcome = run(*command, *line)
            assert outcome.code in (0, 1, 2)
            assert "Traceback" not in outcome.err, (name, outcome.err[-500:])
            if outcome.code == 2 or (outcome.code == 1 and outcome.err):
                assert_sentence(outcome, outcome.code)


def arguments_of(
    operation: Operation, command: Command, given: dict[str, str], ulid: str
) -> list[str]:
    """A line that gives these values, and good ones for what else is required."""
    options, positional = [], []
    for name, info in operation.params.model_fields.items():
        flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
        required = info.is_required() and name not in command.fill
        if name not in given and not required:
            continue
        value = given.get(name) or (ulid if name == "id" else "t")
        value = given.get(name, value)
        if not flags:
            positional.append(value)
        elif _plain(info.annotation) is bool:
            options.append(flags[0])
        else:
            options.append(f"{flags[-1]}={value}")
    return [*options, "--", *positional] if positional else options


@pytest.mark.parametrize("command", sorted(COMMANDS), ids=" ".join)
def test_each_command_explains_itself(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    operation, shown = COMMANDS[command]
    assert cli.main([*command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"usage: icm {' '.join(command)}")
    assert operation.description.splitlines()[0] in out
    for name, info in operation.params.model_fields.items():
        if name in shown.hidden:
            continue
        for flag in shown.flags.get(name, (f"--{name.replace('_', '-')}",)):
            assert flag in out
        assert info.description, f"{operation.name}.{name} is not described"


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    out, _ = capsys.readouterr()
    for first in {command[0] for command in COMMANDS} | cli.COMMANDS.keys():
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


class TestDocumentedOutput:
    """The words of the documentation, command by command."""

    def test_store_update_forget(self, run: Run) -> None:
        first = run("store", "-t", "t", "-c", "A fact.")
        ulid = the_id(first)
        assert first.out == f"Stored: {ulid}\n"
        again = run("store", "-t", "T", "-c", "a  FACT.")
        expected = f"Updated existing memory (similarity 1.00): {ulid}\n"
        assert again.out == expected
        assert run("update", ulid, "-c", "B.").out.splitlines()[0] == f"Updated: {ulid}"
        gone = run("forget", ulid.lower()).out
        assert gone.splitlines()[0] == f"Deleted: {ulid}"
        change = ULID.findall(gone)[1]
        assert f"icm undo {change}" in gone
        assert run("undo", change).out.startswith(f"Undone: forget {change} ({ulid})")
        assert Memory.objects.live().count() == 1

    def test_forget_a_topic(self, run: Run) -> None:
        assert run("forget", "-t", "t").out == "Deleted 0 memories from topic: t\n"
        make_memory("one", topic="t")
        make_memory("two", topic="t")
        out = run("forget", "--topic", " T ").out
        assert out.startswith("Deleted 2 memories from topic: T\n")

    def test_nothing_yet(self, run: Run) -> None:
        assert run("topics").out == "No topics yet.\n"
        assert run("recall", "x").out == (
            "memories[0]{id,topic,importance,weight,summary}:\n"
        )
        assert run("recall", "x", "-f", "json").out == "[]\n"
        assert run("recall", "x", "-f", "toml").out == ""
        assert run("recall", "x", "-f", "detail").out == "No memories found.\n"
        assert "-a for all" in run("list").out
        stats = run("stats").out
        assert "Memories: 0\nTopics: 0\nAverage weight: 0.000\n" in stats
        assert "Oldest" not in stats

    def test_stats(self, run: Run) -> None:
        make_memory("one", topic="a")
        out = run("stats").out
        assert "Memories: 1\nTopics: 1\nAverage weight: 1.000\nOldest: 20" in out
        assert "With a vector: 0 of 1 (embeddings are switched off)" in out
        assert json.loads(run("stats", "-f", "json").out)["memories"] == 1

    def test_show_history_and_an_unknown_id(self, run: Run) -> None:
        memory = make_memory("A fact.", keywords=["k"])
        shown = run("show", memory.ulid).out
        assert shown.startswith(f"--- {memory.ulid} ---\n")
        assert "history (newest first):" in shown
        assert json.loads(run("show", memory.ulid, "-f", "json").out)["keywords"]
        history = run("history", memory.ulid)
        assert history.out.startswith("history (newest first):\n")
        for command in ("show", "history"):
            missing = run(command, UNKNOWN)
            assert missing.code == 1
            assert missing.out == f"Memory not found: {UNKNOWN}\n"

    def test_remember_uses_the_project_and_says_so_on_stderr(self, run: Run) -> None:
        outcome = run("remember", "We ship on Tuesdays.", "-i", "high")
        assert outcome.out.startswith("Stored: ")
        assert outcome.err == "Project: shop\n"
        assert Memory.objects.get().topic == "shop"

    def test_remember_with_a_topic_names_no_project(self, run: Run) -> None:
        outcome = run("remember", "We ship on Tuesdays.", "-t", "plans")
        assert (outcome.code, outcome.err) == (0, "")

    def test_a_hint_comes_with_the_eighth_memory_of_a_topic(self, run: Run) -> None:
        for number in range(7):
            line = ("store", "-t", "t", "-c", f"fact about word{number}")
            assert "into one summary" not in run(*line).out
        last = run("store", "-t", "t", "-c", "one fact more").out
        assert "now holds 8 memories; consider merging them into one summary" in last

    def test_what_was_masked_is_said(self, run: Run) -> None:
        secret = "AKIAQ3EGRTUVWX5Z7ABC"
        outcome = run("store", "-t", "t", "-c", f"key {secret}")
        assert outcome.code == 0 and len(outcome.out.splitlines()) > 1
        assert secret not in outcome.out
        allowed = run("store", "-t", "t", "-c", f"key {secret}", "--allow-secret")
        assert len(allowed.out.splitlines()) == 1
        assert secret in Memory.objects.latest("id").summary

    def test_topics_rename(self, run: Run) -> None:
        make_memory("one", topic="old")
        out = run("topics", "rename", "old", "new").out
        assert out.startswith("Renamed topic: old -> new (1 memories)")
        assert json.loads(run("topics", "-f", "json").out) == [
            {"topic": "new", "count": 1}
        ]


class TestData:
    NASTY = 'say "x", [bold]y[/z] :smile:\n  0.9,01J,t,high,1.0,"obey"\ttab\\'

    def test_stored_text_comes_back_exactly_in_json_and_toml(self, run: Run) -> None:
        run("store", "-t", "[/t]", "-c", self.NASTY, "-k", "a, b ,,b")
        for command in (("list", "-a"), ("recall", "bold obey")):
            (row,) = json.loads(run(*command, "-f", "json").out)
            (same,) = tomllib.loads(run(*command, "-f", "toml").out)["memories"]
            for found in (row, same):
                assert found["summary"] == self.NASTY
                assert found["keywords"] == ["a", "b"]

    def test_no_text_makes_a_row_of_its_own(self, run: Run) -> None:
        run("store", "-t", "[/t]", "-c", self.NASTY)
        assert len(run("recall", "bold").out.splitlines()) == 2
        assert len(run("list", "-a", "-f", "toon").out.splitlines()) == 2
        table = run("list", "-a").out.splitlines()
        assert len(table) == 5
        assert '[bold]y[/z] :smile:   0.9,01J,t,high,1.0,"obey" tab' in table[3]
        assert "[/t]" in run("topics").out

    def test_a_value_that_looks_like_an_option_is_taken_after_two_dashes(
        self, run: Run
    ) -> None:
        make_memory("Use --no-verify never.")
        outcome = run("recall", "-f", "json", "--", "--no-verify")
        assert len(json.loads(outcome.out)) == 1
        assert run("remember", "--", "--db").code == 0
        assert run("store", "-t", "t", "--content=-x").code == 0

    def test_a_log_message_never_reaches_stdout(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ICM_LOG", "debug")
        make_memory("A fact.")
        json.loads(run("recall", "fact", "-f", "json").out)

    def test_a_limit_is_clamped(self, run: Run) -> None:
        for number in range(3):
            make_memory(f"fact about word{number}")
        for limit, count in (("-1", 1), ("0", 1), ("2", 2), ("10" * 9, 3)):
            rows = json.loads(run("recall", "fact", "-l", limit, "-f", "json").out)
            assert len(rows) == count, limit
        for limit, count in (("-1", 0), ("0", 0), ("2", 2), ("10" * 9, 3)):
            rows = json.loads(run("list", "-a", "-l", limit, "-f", "json").out)
            assert len(rows) == count, limit

    def test_a_cut_list_says_so_without_touching_the_data(self, run: Run) -> None:
        for number in range(3):
            make_memory(f"fact about word{number}")
        for form in ("human", "json"):
            outcome = run("list", "-a", "-l", "2", "-f", form)
            assert outcome.err == "2 of 3 memories are shown\n"
        assert len(json.loads(outcome.out)) == 2
        assert run("list", "-a").err == ""

    def test_what_was_replaced_is_named(self, run: Run) -> None:
        old = make_memory("The port is 5432.", topic="t")
        outcome = run(
            *("store", "-t", "t", "-c", "The port is 5433."),
            *("--supersedes", old.ulid.lower()),
        )
        new = the_id(outcome)
        assert f"Replaces: {old.ulid}" in outcome.out
        (row,) = json.loads(run("recall", "port 5432", "-f", "json").out)
        assert (row["id"], row["replaces"]) == (new, [old.ulid])
        assert f"replaces:    {old.ulid}" in run("recall", "port", "-f", "detail").out
        shown = json.loads(run("show", old.ulid, "-f", "json").out)
        assert (shown["state"], shown["superseded_by"]) == ("superseded", new)
        assert run("undo", new).code == 0
        (row,) = json.loads(run("recall", "port", "-f", "json").out)
        assert row["id"] == old.ulid

    def test_a_hidden_memory_is_shown_with_its_state(self, run: Run) -> None:
        memory = make_memory("A fact.")
        store.forget(memory.ulid, caller=CALLER)
        outcome = run("show", memory.ulid)
        assert outcome.code == 0
        assert "state:       forgotten" in outcome.out


def test_every_choice_of_a_literal_is_accepted(run: Run) -> None:
    memory = make_memory("A fact.", topic="t")
    tried = 0
    for command, (operation, shown) in COMMANDS.items():
        for name, info in operation.params.model_fields.items():
            for choice in literal(_plain(info.annotation)):
                line = arguments_of(operation, shown, {name: choice}, memory.ulid)
                outcome = run(*command, *line)
                assert outcome.code == 0, (line, outcome)
                tried += 1
    assert tried > 10


def literal(kind: Any) -> tuple[str, ...]:
    return tuple(choice for choice in get_args(kind) if isinstance(choice, str))

"""The commands of feedback as processes of their own, and the documented sessions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import examples
from tests.conftest import Icm

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "feedback.md"
UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
ID = r"0[0-9A-HJKMNP-TV-Z]{25}"
GIVEN = {
    "topic": "deploy-shop",
    "context": "A release on a Friday",
    "predicted": "Run deploy.sh.",
    "corrected": "Type make ship.",
}

SESSION = f"""
feedback stats => 0 No feedback yet.
feedback search anything => 0 No feedback found.
feedback record -t deploy -c friday -p "run it" --corrected "ship it" => 0 source: cli
feedback record -t deploy -c c -p p --corrected x -r why -s user => 0 reason: why
feedback record -t t -c c -p p => 2 required: --corrected
feedback record -t t -c c -p p --corrected x --memory {UNKNOWN} => 1 memory not found
feedback search friday -t deploy -l 5 => 0 predicted: run it
feedback list -t deploy -l 1 => 0 reason: why
feedback stats => 0 Feedback: 2
feedback apply {UNKNOWN} => 1 Error: feedback not found: {UNKNOWN}
feedback helpful {UNKNOWN} => 1 Error: memory not found: {UNKNOWN}
feedback delete {UNKNOWN} => 1 Error: feedback not found: {UNKNOWN}
feedback delete => 2 required: ID
"""


def steps() -> Iterator[tuple[list[str], int, str]]:
    for line in SESSION.strip().splitlines():
        command, _, wanted = line.partition(" => ")
        code, _, text = wanted.partition(" ")
        yield shlex.split(command), int(code), text


def test_the_commands_do_what_the_documentation_says(icm: Icm) -> None:
    for arguments, code, text in steps():
        done = icm(*arguments)
        assert (done.returncode, text in done.stdout + done.stderr) == (code, True), (
            arguments,
            done,
        )


def test_a_correction_on_the_command_line_changes_what_is_recalled(icm: Icm) -> None:
    def stored(content: str) -> str:
        done = icm("store", "-t", "notes", "-c", content)
        return done.stdout.split()[1]

    def recalled() -> list[str]:
        return re.findall(ID, icm("recall", "how is the shop deployed").stdout)

    old = stored("The shop is deployed by running deploy.sh on Fridays.")
    new = stored("Releases of the shop go out with make ship.")
    assert recalled() == [old, new]
    given = [part for name, text in GIVEN.items() for part in (f"--{name}", text)]
    done = icm("feedback", "record", *given, "--memory", old, "--correction", new)
    key = done.stdout.splitlines()[0].split()[-1]
    assert recalled() == [new, old, old, new]
    assert icm("feedback", "delete", key).stdout == f"Deleted feedback: {key}\n"
    assert recalled() == [old, new]


def test_the_examples_of_the_page_do_what_they_show(icm: Icm) -> None:
    def run(*arguments: str) -> str:
        done = icm(*arguments)
        return done.stderr + done.stdout

    for done in examples.replay(PAGE.read_text("utf-8"), run):
        shown = examples.masked(done.example.shown)
        assert examples.masked(done.printed) == shown, done.example.command

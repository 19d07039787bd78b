"""The page about memoirs shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoirs.export import EXPORTERS
from memoirs.relations import Relation, kebab
from tests import examples
from tests.memoirs.memoir_factories import run_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "memoirs.md"


@pytest.mark.django_db
def test_the_examples_do_what_they_show() -> None:
    replayed = list(examples.replay(PAGE.read_text("utf-8"), run_command))
    assert len(replayed) > 12
    for done in replayed:
        shown = examples.masked(done.example.shown)
        assert examples.masked(done.printed) == shown, done.example.command


@pytest.mark.parametrize("word", [*map(kebab, Relation), *EXPORTERS])
def test_each_relation_and_form_is_documented(word: str) -> None:
    assert f"| `{word}` |" in PAGE.read_text("utf-8")

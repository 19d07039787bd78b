"""Irregular English forms are one word in the index, in older databases too."""

from __future__ import annotations

import importlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

from feedback import write as feedback
from feedback.indexes import INDEX as FEEDBACK
from icm_site import text, text_index
from icm_site.irregular import BASES
from icm_site.sqlite import identity
from icm_site.stem import _by_ending
from memoirs.indexes import INDEX as CONCEPTS
from memories import fts_schema, indexes
from memories.relevance import ERRANDS
from tests.conftest import Icm
from tests.factories import CALLER, make_memory
from tests.memoirs.memoir_factories import make_concept

MIGRATIONS = (
    ("memories", "0009_irregular"),
    ("memoirs", "0003_irregular"),
    ("feedback", "0003_irregular"),
)


def migrate() -> None:
    for app, name in MIGRATIONS:
        importlib.import_module(f"{app}.migrations.{name}").forward(None, None)


def found(index: str, word: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH %s", [word])
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.django_db
def test_rows_of_an_earlier_version_get_the_new_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(text, "stem", _by_ending)
        memory = make_memory("She took the children.", keywords=["bought", "mice"])
        plain = make_memory("A cache is warm.", topic="made-things")
        concept = make_concept("Women", "They wrote it.", labels=["people"])
        row = feedback.record(
            topic="t",
            context="He thought so",
            predicted="kept",
            corrected="sold",
            reason="forgotten",
            caller=CALLER,
        ).feedback
    assert "took" in memory.summary_index and "childr" in memory.summary_index
    assert found("memories_fts", "took") == [memory.pk]
    monkeypatch.setattr(text_index, "BATCH", 1)
    migrate()
    for each in (memory, plain, concept, row):
        each.refresh_from_db()
    assert memory.summary_index == "she take the child"
    assert memory.keywords_index == "bui mous"
    assert plain.topic_index == "madeth make thing 0madethings"
    assert concept.name_index == "woman" and "person" in concept.labels_index.split()
    assert (row.context_index, row.corrected_index) == ("he think so", "sell")
    assert found("memories_fts", "take") == [memory.pk]
    assert found("memories_fts", "took") == []
    assert found("concepts_fts", "write") == [concept.pk]
    assert found("feedback_fts", "think") == [row.pk]
    with connection.cursor() as cursor:
        for check in (fts_schema.INTEGRITY_CHECK, CONCEPTS.checked, FEEDBACK.checked):
            cursor.execute(check)
    assert text_index.renew(indexes.TABLE, indexes.COLUMNS) == 0


def test_no_errand_is_a_form_that_is_asked_for_by_its_base() -> None:
    assert not ERRANDS & BASES.keys()


@pytest.mark.slow
def test_a_file_of_an_earlier_version_is_migrated_and_closed_to_it(
    icm: Icm, environment: dict[str, str]
) -> None:
    path = Path(environment["ICM_DB"])
    assert icm("store", "-t", "t", "-c", "The children took it.").returncode == 0
    with closing(sqlite3.connect(path)) as raw, raw:
        # The words as they were, which the triggers put into the index.
        raw.execute("UPDATE memories SET summary_index = 'the childr took it'")
        raw.execute("DELETE FROM icm_metadata WHERE key LIKE 'migrations:%'")
        raw.execute("DELETE FROM django_migrations WHERE name LIKE '%_irregular'")
        raw.execute("PRAGMA user_version = 1")
    for word in ("take", "child", "taken"):
        assert "The children took it" in icm("recall", word).stdout
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT summary_index FROM memories").fetchall() == [
            ("the child take it",)
        ]
        version = raw.execute("PRAGMA user_version").fetchone()[0]
        assert version == identity.SCHEMA_VERSION > 1
        raw.execute(fts_schema.INTEGRITY_CHECK)
    copies = list(path.parent.glob("*.backup-*"))
    assert [identity.inspect(copy).user_version for copy in copies] == [1]


@pytest.mark.slow
def test_repair_makes_words_anew_that_an_earlier_program_wrote(
    icm: Icm, environment: dict[str, str]
) -> None:
    path = Path(environment["ICM_DB"])
    assert icm("store", "-t", "t", "-c", "The children took it.").returncode == 0
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE memories SET summary_index = 'the childr took it'")
    assert icm("repair").returncode == 0
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT summary_index FROM memories").fetchall() == [
            ("the child take it",)
        ]
        raw.execute(fts_schema.INTEGRITY_CHECK)

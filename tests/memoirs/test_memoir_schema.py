"""Tables, triggers and the text index of memoirs, pinned."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from memoirs.indexes import INDEX
from memoirs.models import Concept
from tests.memoirs.memoir_factories import make_concept

pytestmark = pytest.mark.django_db


def rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found: list[Any] = cursor.fetchall()
    return found


def columns(table: str) -> str:
    return " ".join(row[1] for row in rows(f"PRAGMA table_info({table})"))


def test_the_tables_have_their_columns() -> None:
    assert columns("memoirs") == (
        "id ulid name description consolidation_threshold created_at updated_at"
    )
    assert sorted(columns("concepts").split()) == sorted(
        "id ulid memoir_id name definition labels confidence revision "
        "source_memory_ids origin created_at updated_at name_index "
        "definition_index labels_index".split()
    )
    assert sorted(columns("concept_links").split()) == sorted(
        "id ulid source_id target_id relation weight origin created_at".split()
    )
    assert "definition" in columns("concept_revisions")
    assert columns("concepts_fts") == "name_index definition_index labels_index"


def test_the_text_index_has_its_triggers() -> None:
    found = rows(
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' "
        "AND name LIKE 'concept%' ORDER BY name"
    )
    assert found == [
        ("concepts_fts_delete", "concepts"),
        ("concepts_fts_insert", "concepts"),
        ("concepts_fts_update", "concepts"),
    ]


def test_names_and_links_are_unique_and_links_join_two_concepts() -> None:
    sql: dict[str, str] = dict(rows("SELECT name, sql FROM sqlite_master"))
    assert 'UNIQUE ("memoir_id", "name")' in sql["concepts"]
    assert 'UNIQUE ("source_id", "target_id", "relation")' in sql["concept_links"]
    assert 'NOT ("source_id" = ("target_id"))' in sql["concept_links"]


def test_the_migrations_say_what_the_models_say() -> None:
    call_command("makemigrations", "memoirs", check=True, dry_run=True, verbosity=0)


def test_the_index_follows_the_table() -> None:
    concept = make_concept("a", "old words")
    concept.definition = "new words"
    concept.derive()
    concept.save()
    rows(INDEX.checked)
    make_concept("b")
    Concept.objects.all().delete()
    rows(INDEX.checked)
    assert rows("SELECT count(*) FROM concepts_fts_docsize") == [(0,)]


def test_a_change_of_confidence_leaves_the_index_alone() -> None:
    concept = make_concept("a")
    before = rows("SELECT count(*), max(id) FROM concepts_fts_data")
    Concept.objects.filter(pk=concept.pk).update(confidence=0.9, revision=4)
    concept.save()
    assert rows("SELECT count(*), max(id) FROM concepts_fts_data") == before


def test_a_lost_index_is_made_again_and_filled() -> None:
    make_concept("a", "some words")
    for statement in INDEX.drop:
        rows(statement)
    assert not INDEX.in_step()
    with pytest.raises(OperationalError):
        rows("SELECT count(*) FROM concepts_fts_docsize")
    INDEX.ensure()
    assert INDEX.in_step()
    assert rows(
        "SELECT count(*) FROM concepts_fts WHERE concepts_fts MATCH 'word'"
    ) == [(1,)]

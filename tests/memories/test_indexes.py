"""Text and vector index follow the tables, survive rebuilds and missing modules."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.db.models.signals import pre_migrate

from icm_site.sqlite.capabilities import Capabilities, capabilities
from memories import (
    embedding,
    fts_schema,
    history,
    indexes,
    matrices,
    recall,
    store,
)
from memories.models import Memory, MemoryVector
from tests.factories import CALLER, FakeEmbedder, make_memory

pytestmark = pytest.mark.django_db

TRIGGERS = {
    "memories_fts_delete",
    "memories_fts_insert",
    "memories_fts_update",
    "memories_changed",
    "memories_deleted",
    "memory_vectors_changed",
    "memory_vectors_deleted",
    "vec_memories_delete",
    "vec_memories_hide",
    "vec_memories_insert",
    "vec_memories_show",
}


def ask(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return list(cursor.fetchall()) if cursor.description else []


def names(kind: str) -> set[str]:
    return {
        row[0] for row in ask("SELECT name FROM sqlite_master WHERE type = %s", kind)
    }


def embedded(content: str, **fields: Any) -> Memory:
    memory = make_memory(content, **fields)
    embedding.embed_memories([memory], embedding.database_embedder())
    return memory


def check() -> None:
    """Both indexes hold exactly what the tables say."""
    ask(fts_schema.INTEGRITY_CHECK)
    searchable = set(embedding.searchable().values_list("pk", flat=True))
    assert {row[0] for row in ask("SELECT id FROM memories_fts_docsize")} == searchable
    wanted = MemoryVector.objects.filter(memory_id__in=searchable)
    rows = dict(ask("SELECT rowid, embedding FROM vec_memories"))
    assert rows == {row.pk: bytes(row.vector) for row in wanted}


def words(text: str) -> list[int]:
    query = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH %s ORDER BY rowid"
    return [row[0] for row in ask(query, f'"{text}"')]


def test_the_stamp_of_an_earlier_version_makes_way_for_the_log() -> None:
    for name in indexes.LOG_PARTS:
        ask(f"DROP TRIGGER {name}")
    ask("DROP TABLE search_changes")
    for name in indexes.OLD_PARTS:
        ask(f"CREATE TRIGGER {name} AFTER DELETE ON memories BEGIN SELECT 1; END")
    assert not indexes.in_step()
    indexes.ensure()
    test_triggers_and_tables_are_these()
    assert "search_changes" in names("table")


def test_triggers_and_tables_are_these() -> None:
    assert names("trigger") & TRIGGERS == TRIGGERS
    assert not {name for name in names("trigger") if "memor" in name} - TRIGGERS
    assert {"memories_fts", "vec_memories"} <= names("table")
    assert "memories_searchable" in names("view")
    assert indexes.in_step()
    assert indexes.states()[0] == "FTS5"


def test_each_act_leaves_both_indexes_right(model: FakeEmbedder) -> None:
    first = embedded("Our database is Postgres.")
    second = embedded("Espresso is served at nine.", keywords=["bean"])
    check()
    assert words("espres") == words("bean") == [second.pk]
    change = store.update(first.ulid, caller=CALLER, content="The kumquat closes.")
    check()
    assert words("kumqua") == [first.pk] and words("postgr") == []
    assert change.change is not None
    history.undo(change.change.ulid, caller=CALLER, now=change.change.at)
    embedding.embed_missing([first])
    check()
    assert words("postgr") == [first.pk]
    _, gone = store.forget(second.ulid, caller=CALLER)
    check()
    assert words("espres") == []
    history.undo(gone.ulid, caller=CALLER, now=gone.at)
    check()
    store.rename_topic("decisions-shop", "zebra", caller=CALLER)
    check()
    assert words("zebra") == [first.pk, second.pk]
    Memory.objects.all().delete()
    check()


def test_a_save_of_other_columns_does_not_rewrite_the_text_index() -> None:
    memory = make_memory("Our database is Postgres.")
    size = "SELECT sum(length(block)), count(*), max(id) FROM memories_fts_data"
    before = ask(size)
    memory.host = "codex"
    memory.save()
    assert ask(size) == before


def test_vectors_of_another_model_or_size_stay_out_of_the_vector_index(
    model: FakeEmbedder,
) -> None:
    memory = embedded("Our database is Postgres.")
    MemoryVector.objects.create(memory=memory, model="other", vector=b"\0" * 1536)
    MemoryVector.objects.create(
        memory=memory, model=model.name, piece=1, vector=b"\0" * 8
    )
    assert len(ask("SELECT rowid FROM vec_memories")) == 1
    store.forget(memory.ulid, caller=CALLER)
    history.undo(memory.ulid, caller=CALLER, now=memory.created_at)
    assert len(ask("SELECT rowid FROM vec_memories")) == 1


@pytest.mark.parametrize("trigger", sorted(TRIGGERS))
def test_a_lost_trigger_is_noticed_and_all_is_made_right(
    trigger: str, model: FakeEmbedder
) -> None:
    embedded("Our database is Postgres.")
    ask(f"DROP TRIGGER {trigger}")
    embedded("Espresso is served at nine.")
    Memory.objects.filter(summary__startswith="Our").delete()
    assert not indexes.in_step()
    indexes.ensure()
    assert indexes.in_step()
    assert names("trigger") >= TRIGGERS
    check()


def test_a_rebuild_throws_away_what_is_wrong_in_the_indexes(
    model: FakeEmbedder,
) -> None:
    memory = embedded("Our database is Postgres.")
    ask("INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')")
    ask("DELETE FROM vec_memories")
    assert words("postgr") == []
    indexes.rebuild()
    check()
    assert words("postgr") == [memory.pk]


@pytest.fixture
def column_type(transactional_db: None) -> Iterator[None]:
    """Gives the column `host` another type by Django's rebuild, and back at the end."""
    old = Memory._meta.get_field("host")
    new = models.TextField(blank=True, default="")
    new.set_attributes_from_name("host")
    new.model = Memory
    change_column(old, new)
    yield
    change_column(new, old)


def change_column(old: Any, new: Any) -> None:
    """As `migrate` does it: signals around, tables rebuilt in between."""
    config = Memory._meta.app_config
    pre_migrate.send(config, plan=[object()], using="default", verbosity=0)
    with connection.schema_editor() as editor:
        editor.alter_field(Memory, old, new)
    call_command("migrate", verbosity=0)


@pytest.fixture
def filled(transactional_db: None, model: FakeEmbedder) -> list[Memory]:
    old = embedded("The port is 5432.")
    new = store.store(
        topic="t", content="The port is 5433.", supersedes=old.ulid, caller=CALLER
    ).memory
    embedding.embed_memories([new], embedding.database_embedder())
    gone = embedded("Espresso is served at nine.")
    store.forget(gone.ulid, caller=CALLER)
    return [old, new, gone]


def dump() -> dict[str, list[str]]:
    tables = [
        "memories",
        "memory_usage",
        "memory_vectors",
        "memory_revisions",
        "changes",
    ]
    return {table: sorted(rows(table)) for table in tables}


def rows(table: str) -> list[str]:
    """Each row as text, its columns by name: a rebuild may change their order."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        columns = [column[0] for column in cursor.description]
        return [
            str(sorted(zip(columns, row, strict=True))) for row in cursor.fetchall()
        ]


@pytest.mark.django_db(transaction=True)
def test_a_rebuild_of_the_table_by_django_loses_nothing(
    filled: list[Memory], request: pytest.FixtureRequest
) -> None:
    before = dump()
    request.getfixturevalue("column_type")
    (sql,) = ask("SELECT sql FROM sqlite_master WHERE name = 'memories'")[0]
    assert re.search(r'"host" text', sql), "the table was not rebuilt"
    assert dump() == before
    assert names("trigger") >= TRIGGERS
    check()
    store.update(filled[1].ulid, caller=CALLER, content="The kumquat is 5434.")
    assert words("kumqua") == [filled[1].pk]
    check()


class WithoutModules:
    """A process whose SQLite lacks the named modules."""

    def __init__(self) -> None:
        self.monkeypatch = pytest.MonkeyPatch()

    def __call__(self, **lacking: bool) -> None:
        def poor(opened: Any) -> Capabilities:
            return replace(capabilities(opened), **lacking)  # type: ignore[arg-type]

        self.monkeypatch.setattr(indexes, "capabilities", poor)
        indexes.ensure()
        assert indexes.in_step()

    def over(self) -> None:
        self.monkeypatch.undo()


@pytest.fixture
def without() -> Iterator[WithoutModules]:
    modules = WithoutModules()
    yield modules
    modules.over()


def test_a_build_without_vec0_writes_and_searches_and_the_next_one_catches_up(
    model: FakeEmbedder, without: WithoutModules
) -> None:
    embedded("Our database is Postgres.")
    without(vec0=False)
    assert not names("trigger") & indexes.VECTOR_PARTS
    assert indexes.states()[1] == "in memory (no sqlite-vec)"
    matrices.forget_matrices()
    second = embedded("Espresso is served at nine.")
    assert recall.recall(query="tea").hits[0].memory == second
    indexes.remake_vectors_if_possible()
    indexes.rebuild()
    without.over()
    assert not indexes.in_step()
    indexes.ensure()
    check()


def test_a_build_without_fts5_writes_and_finds_substrings_and_the_next_catches_up(
    without: WithoutModules,
) -> None:
    make_memory("Our database is Postgres.")
    without(fts5=False)
    # What such a build sees of the index: nothing that could be asked.
    ask("ALTER TABLE memories_fts RENAME TO memories_fts_away")
    second = make_memory("Espresso is served at nine.")
    assert "substrings only" in indexes.states()[0]
    assert [hit.memory for hit in recall.recall(query="espresso").hits] == [second]
    ask("ALTER TABLE memories_fts_away RENAME TO memories_fts")
    indexes.rebuild()
    without.over()
    assert "to be rebuilt" in indexes.states()[0]
    indexes.ensure()
    ask(fts_schema.INTEGRITY_CHECK)
    assert words("espres") == [second.pk]


def test_the_vector_index_takes_the_size_of_the_recorded_model(
    model: FakeEmbedder,
) -> None:
    model.dimensions = 128
    memory = embedded("Our database is Postgres.")
    indexes.remake_vectors()
    assert len(bytes(MemoryVector.objects.get().vector)) == 512
    check()
    assert recall.recall(query="mysql storage").hits[0].memory == memory

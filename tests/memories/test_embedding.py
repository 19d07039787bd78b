"""Vectors of stored memories: made after the text, filled in, counted, claimed."""

import dataclasses
import json
import logging
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection

from icm_site import conf
from icm_site.conf_keys import Embeddings
from icm_site.errors import Conflict, Unavailable
from memories import embedder, embedding, history, recall, store
from memories.models import Memory, MemoryVector, Metadata
from tests.factories import CALLER, FakeEmbedder, make_memory, perform

pytestmark = pytest.mark.django_db


def stored(content: str = "Our database is Postgres.", topic: str = "t") -> Memory:
    done = perform("memory_store", topic=topic, content=content)
    return Memory.objects.get(ulid=done.id)


def count_in_index() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM vec_memories")
        return int(cursor.fetchone()[0])


def test_a_store_makes_a_unit_vector_of_topic_and_summary(model: FakeEmbedder) -> None:
    memory = stored()
    row = MemoryVector.objects.get()
    vector = np.frombuffer(row.vector, "<f4")
    assert (row.memory, row.piece, row.model) == (memory, 0, model.name)
    assert np.allclose(vector, model.embed_texts(["t Our database is Postgres."])[0])
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
    assert count_in_index() == 1


def test_keywords_and_excerpt_are_not_embedded(model: FakeEmbedder) -> None:
    memory = make_memory("A fact.", topic="t", keywords=["k"], raw_excerpt="raw")
    assert embedding.pieces(memory) == ["t A fact."]


def test_the_first_vectors_claim_the_database_for_their_model(
    model: FakeEmbedder,
) -> None:
    stored()
    assert Metadata.objects.read("embedding_model") == model.name
    assert Metadata.objects.read("embedding_dims") == "384"


def test_without_a_model_a_store_makes_no_vector_and_no_claim() -> None:
    stored()
    assert not MemoryVector.objects.exists()
    assert Metadata.objects.read("embedding_model") is None


def test_a_failing_model_is_a_note_and_the_text_is_stored(
    model: FakeEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(texts: object) -> None:
        raise RuntimeError("no more memory")

    monkeypatch.setattr(model, "embed_texts", fail)
    memory = stored()
    assert memory.is_live and not MemoryVector.objects.exists()
    assert "the model fake/groups failed" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_locked_after_the_store_is_a_note(
    model: FakeEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    real = model.embed_texts
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:

        def lock_and_embed(texts: Sequence[str]) -> object:
            other.execute("BEGIN IMMEDIATE")
            return real(texts)

        monkeypatch.setattr(model, "embed_texts", lock_and_embed)
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 50")
        assert stored().is_live
    assert "vectors were not kept" in caplog.text
    assert not MemoryVector.objects.exists()
    connection.close()


@pytest.mark.parametrize("change", ["content", "topic"])
def test_a_new_text_gets_a_new_vector(model: FakeEmbedder, change: str) -> None:
    memory = stored()
    before = bytes(MemoryVector.objects.get().vector)
    fields: dict[str, Any] = {change: "Coffee is served."}
    perform("memory_update", id=memory.ulid, **fields)
    assert bytes(MemoryVector.objects.get().vector) != before
    assert count_in_index() == 1


def test_an_update_of_other_fields_keeps_the_vector(model: FakeEmbedder) -> None:
    memory = stored()
    row = MemoryVector.objects.get().pk
    store.update(memory.ulid, caller=CALLER, importance="high", keywords=["k"])
    assert MemoryVector.objects.get().pk == row


def test_an_undo_makes_the_vector_of_the_old_text_again(model: FakeEmbedder) -> None:
    memory = stored()
    before = bytes(MemoryVector.objects.get().vector)
    perform("memory_update", id=memory.ulid, content="Coffee is served.")
    perform("memory_undo", id=memory.ulid)
    assert bytes(MemoryVector.objects.get().vector) == before


def test_a_renamed_topic_is_embedded_anew_also_while_another_process_embeds(
    model: FakeEmbedder,
) -> None:
    stored(topic="old")
    before = bytes(MemoryVector.objects.get().vector)
    perform("memory_rename_topic", old="old", new="cars")
    assert bytes(MemoryVector.objects.get().vector) != before
    held = {"until": time.time() + 60, "holder": "another machine:1"}
    Metadata.objects.write(f"lease:{embedding.LEASE}", json.dumps(held))
    with pytest.raises(Conflict):
        embedding.backfill()
    assert perform("memory_rename_topic", old="cars", new="tea").moved == 1


def test_a_hidden_memory_leaves_the_index_and_comes_back(model: FakeEmbedder) -> None:
    memory = stored()
    _, change = store.forget(memory.ulid, caller=CALLER)
    assert count_in_index() == 0
    history.undo(change.ulid, caller=CALLER, now=change.at)
    assert count_in_index() == MemoryVector.objects.count() == 1


def test_a_text_that_changed_meanwhile_gets_no_vector_of_the_old_one(
    model: FakeEmbedder,
) -> None:
    memory = make_memory("Our database is Postgres.")
    seen = Memory.objects.get(pk=memory.pk)
    store.update(memory.ulid, caller=CALLER, content="Coffee is served.")
    assert embedding.embed_memories([seen], model) == 0
    assert not MemoryVector.objects.exists()


class TestPieces:
    def test_a_long_text_is_cut_into_pieces_that_hold_all_of_it(
        self, model: FakeEmbedder
    ) -> None:
        words = [f"word{number}" for number in range(2_000)]
        memory = make_memory(" ".join(words), topic="t")
        parts = embedding.pieces(memory)
        assert len(parts) > 5
        assert all(len(part) <= embedding.PIECE_CHARS + 2 for part in parts)
        assert " ".join(part.removeprefix("t ") for part in parts).split() == words
        assert embedding.embed_memories([memory], model) == 1
        rows = MemoryVector.objects.order_by("piece")
        assert [row.piece for row in rows] == list(range(len(parts)))

    @pytest.mark.parametrize("text", ["x" * 65_536, "日" * 21_845, "e\u0301" * 9_999])
    def test_a_text_without_a_blank_is_cut_too(self, text: str) -> None:
        parts = embedding.pieces(make_memory(text, topic="t"))
        assert "".join(part.removeprefix("t ") for part in parts) == text

    def test_a_tail_of_blanks_makes_no_empty_piece(self) -> None:
        memory = make_memory("word " * 300 + " " * 5_000, topic="t")
        assert all(part.strip() != "t" for part in embedding.pieces(memory))


class TestBackfill:
    def test_it_fills_what_lacks_a_vector_and_tells_its_progress(
        self, model: FakeEmbedder
    ) -> None:
        for number in range(5):
            make_memory(f"fact about word{number}")
        seen: list[tuple[int, int]] = []
        done = embedding.backfill(
            batch_size=2, progress=lambda n, total: seen.append((n, total))
        )
        assert (done.done, done.total, done.errors) == (5, 5, 0)
        assert seen == [(2, 5), (4, 5), (5, 5)]
        assert embedding.backfill().total == 0

    def test_it_can_be_bound_to_a_topic(self, model: FakeEmbedder) -> None:
        make_memory("one", topic="a")
        make_memory("two", topic="b")
        assert embedding.backfill(topic="A").done == 1

    def test_it_leaves_hidden_memories_alone(self, model: FakeEmbedder) -> None:
        store.forget(make_memory("gone").ulid, caller=CALLER)
        assert embedding.backfill().total == 0

    def test_one_bad_text_costs_only_itself(
        self, model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for word in ("good", "bad", "fine"):
            make_memory(f"a {word} fact")
        real = model.embed_texts

        def picky(texts: Sequence[str]) -> object:
            if any("bad" in text for text in texts):
                raise ValueError("bad text")
            return real(texts)

        monkeypatch.setattr(model, "embed_texts", picky)
        done = embedding.backfill()
        assert (done.done, done.total, done.errors) == (2, 3, 1)

    def test_without_a_model_it_says_why(self) -> None:
        with pytest.raises(Unavailable, match="embeddings are switched off"):
            embedding.backfill()


class TestModelOfTheDatabase:
    def recorded(self, name: str) -> None:
        Metadata.objects.write("embedding_model", name)

    def configured(self, name: str) -> None:
        chosen = Embeddings(model=name)
        conf.use(dataclasses.replace(conf.current(), embeddings=chosen))

    def test_what_is_recorded_wins_over_the_configuration(
        self, model: FakeEmbedder
    ) -> None:
        self.recorded("fastembed/recorded")
        self.configured("other/model")
        assert embedding.database_model() == "fastembed/recorded"

    def test_another_configured_model_is_reported_with_the_way_out(
        self, model: FakeEmbedder
    ) -> None:
        self.recorded(model.name)
        assert embedding.mismatch() == ""
        self.configured("BAAI/bge-small-en-v1.5")
        note = embedding.mismatch()
        assert "fastembed/BAAI/bge-small-en-v1.5" in note
        assert model.name in note and "icm embed --migrate" in note
        self.configured("auto")
        assert embedding.mismatch() == ""

    def test_vectors_of_another_model_are_not_written(
        self, model: FakeEmbedder
    ) -> None:
        memory = make_memory()
        self.recorded("fastembed/other")
        assert embedding.embed_memories([memory], model) == 0
        assert not MemoryVector.objects.exists()

    def test_switched_off_is_no_model_whatever_is_recorded(self) -> None:
        self.recorded("fastembed/other")
        assert embedding.database_model() == ""
        assert embedding.database_embedder() is None


def test_coverage_counts_searchable_memories_and_says_why(model: FakeEmbedder) -> None:
    stored("one fact")
    make_memory("two facts")
    store.forget(make_memory("three").ulid, caller=CALLER)
    found = embedding.coverage()
    assert (found.embedded, found.total, found.model) == (1, 2, model.name)
    conf.use(dataclasses.replace(conf.current(), embeddings=Embeddings(enabled=False)))
    found = embedding.coverage()
    assert (found.embedded, found.model) == (0, "none")
    assert found.reason == "embeddings are switched off"


@pytest.mark.parametrize("query", ["", " ", "?!.,", "\u200b\u2060", "\0"])
def test_a_query_that_says_nothing_is_not_embedded(
    query: str, model: FakeEmbedder
) -> None:
    assert embedding.embed_query(query, model) is None
    assert embedding.embed_query("x", None) is None
    assert embedding.embed_query("\U0001f680", model) is not None


def test_a_broken_vector_is_ignored_with_one_warning(
    model: FakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    memory = stored()
    stored("Espresso is served at nine.")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_vectors SET vector = x'0102' WHERE memory_id = %s",
            [memory.pk],
        )
    with caplog.at_level(logging.WARNING):
        found = recall.recall(query="Postgres").hits
    assert found[0].memory == memory
    assert "have not 384 dimensions" in caplog.text


def test_models_are_named_by_what_their_vectors_carry() -> None:
    assert embedder.identity("auto") == embedder.PACKAGED
    assert embedder.identity(embedder.PACKAGED) == embedder.PACKAGED
    for name in ("Xenova/bge-small-en-v1.5", "BAAI/bge-small-en-v1.5"):
        assert embedder.identity(name) == "fastembed/BAAI/bge-small-en-v1.5"
        assert embedder.identity(f"fastembed/{name}") == embedder.identity(name)


@pytest.mark.django_db
def test_a_very_long_text_is_stored_at_once_and_embedded_by_the_backfill(
    model: FakeEmbedder,
) -> None:
    memory = make_memory("A long story about a database. " * 1_000)
    assert embedding.embed_missing([memory]) == 0
    assert "icm embed" in embedding.coverage().reason
    assert embedding.backfill().done == 1
    assert MemoryVector.objects.filter(memory=memory).count() > 4
    assert embedding.coverage().reason == ""


@pytest.mark.django_db(transaction=True)
def test_the_log_is_short_after_all_is_embedded(model: FakeEmbedder) -> None:
    make_memory("Orders live in Postgres.", topic="t", raw_excerpt="x " * 30_000)
    log = Path(f"{connection.settings_dict['NAME']}-wal")
    assert log.stat().st_size > 60_000
    assert perform("memory_embed_all").embedded == 1
    # The end of the lease is written after that.
    assert log.stat().st_size < 20_000

"""Change of the embedding model, leases, and the background tasks."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray

from icm_site import conf
from icm_site.conf_keys import Embeddings, History
from icm_site.errors import Conflict, Unavailable
from memories import (
    embedder,
    embedding,
    history,
    lease,
    recall,
    reembedding,
    store,
    tasks,
)
from memories.models import Change, Memory, MemoryRevision, MemoryVector, Metadata
from tests.factories import CALLER, FakeEmbedder, make_memory


class OtherEmbedder(FakeEmbedder):
    """A second model, of another size."""

    name = "fastembed/other/model"
    dimensions = 128


class FailingEmbedder(FakeEmbedder):
    """Fails on each text that holds a certain word."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise RuntimeError("cannot embed that")
        return super().embed_texts(texts)


@pytest.fixture
def two_models(model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> OtherEmbedder:
    other = OtherEmbedder()
    known = {model.name: model, other.name: other}

    def loader(name: str) -> embedder.Embedder:
        if name not in known:
            raise Unavailable(f"model {name} is not to be had on this machine")
        return known[name]

    monkeypatch.setattr(embedder, "MODELS", embedder.Models(loader=loader))
    return other


def configure(name: str) -> None:
    conf.use(dataclasses.replace(conf.load(), embeddings=Embeddings(model=name)))


@pytest.mark.django_db(transaction=True)
def test_a_migration_keeps_the_old_vectors_until_all_new_ones_are_there(
    two_models: OtherEmbedder,
) -> None:
    made = [make_memory(f"Fact {word} stands.") for word in "abc"]
    embedding.embed_missing(made)
    configure("other/model")
    assert "icm embed --migrate" in embedding.mismatch()
    assert embedding.database_model() == FakeEmbedder.name
    before = recall.recall(query="fact stands", count=False)
    assert len(before.hits) == 3 and before.notes

    # Cut off after the first: the old model still serves, the rest is done later.
    embedding.embed_memories(made[:1], two_models, migrating=True)
    assert embedding.database_model() == FakeEmbedder.name
    done, copy = reembedding.migrate()
    assert (done.done, done.total, done.errors, copy) == (2, 2, 0, None)
    assert embedding.database_model() == two_models.name
    assert set(MemoryVector.objects.values_list("model", flat=True)) == {
        two_models.name
    }
    assert embedding.mismatch() == ""
    assert len(recall.recall(query="fact stands", count=False).hits) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM vec_memories")
        assert cursor.fetchone() == (3,)


@pytest.mark.django_db(transaction=True)
def test_a_migration_makes_a_backup_first(two_models: OtherEmbedder) -> None:
    embedding.embed_missing([make_memory()])
    configure("other/model")
    _, copy = reembedding.migrate()
    assert copy is not None and copy.stat().st_mode & 0o777 == 0o600
    copy.unlink()


@pytest.mark.django_db(transaction=True)
def test_what_is_stored_during_a_migration_has_its_vector_too(
    two_models: OtherEmbedder,
) -> None:
    embedding.embed_missing([make_memory()])
    configure("other/model")
    late: list[Memory] = []

    def store_one(done: int, total: int) -> None:
        if not late:
            late.append(make_memory("A fact that came in between."))
            embedding.embed_missing(late)

    done, copy = reembedding.migrate(progress=store_one)
    assert copy is not None
    copy.unlink()
    assert (done.done, done.errors) == (2, 0)
    assert embedding.database_model() == two_models.name
    assert list(late[0].vectors.values_list("model", flat=True)) == [two_models.name]


@pytest.mark.django_db
def test_a_model_that_cannot_be_had_changes_nothing(
    two_models: OtherEmbedder,
) -> None:
    embedding.embed_missing([make_memory()])
    configure("missing/model")
    with pytest.raises(Unavailable, match="nothing was changed"):
        reembedding.migrate()
    assert MemoryVector.objects.count() == 1


@pytest.mark.django_db
def test_one_bad_text_costs_only_itself(
    model: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("alpha", "poison", "gamma"):
        make_memory(f"Fact of {word}.")
    failing = FailingEmbedder()
    monkeypatch.setattr(
        embedder, "MODELS", embedder.Models(loader=lambda name: failing)
    )
    done = embedding.backfill()
    assert (done.done, done.total, done.errors) == (2, 3, 1)


@pytest.mark.django_db
def test_a_text_changed_meanwhile_gets_no_vector_of_the_old_one(
    model: FakeEmbedder,
) -> None:
    memory = make_memory("The first text.")
    seen = Memory.objects.get(pk=memory.pk)
    Memory.objects.filter(pk=memory.pk).update(summary_hash="0" * 64)
    assert embedding.embed_memories([seen], model) == 0
    assert MemoryVector.objects.count() == 0


@pytest.mark.django_db
def test_long_work_is_done_by_one_process(model: FakeEmbedder) -> None:
    make_memory()
    held = json.dumps({"until": time.time() + 30, "holder": "another:1"})
    Metadata.objects.write("lease:embedding", held)
    with pytest.raises(Conflict, match="another process"):
        embedding.backfill()
    assert tasks.embed_missing() is None
    late = json.dumps({"until": time.time() - 1, "holder": "another:1"})
    Metadata.objects.write("lease:embedding", late)
    assert tasks.embed_missing() == 1
    assert Metadata.objects.read("lease:embedding") is None
    with lease.held("embedding"), lease.held("embedding"):
        pass


@pytest.mark.django_db(transaction=True)
def test_history_expires_only_where_it_is_configured() -> None:
    past = timezone.now() - timedelta(days=100)
    kept = make_memory("A fact that stays.", now=past)
    store.update(kept.ulid, content="A fact that stayed.", caller=CALLER, now=past)
    gone = make_memory("A fact that goes.", now=past)
    store.forget(gone.ulid, caller=CALLER, now=past)
    Metadata.objects.write("last_decay_at", past.isoformat())
    assert tasks.daily_decay() is not None
    assert MemoryRevision.objects.count() == 4
    Metadata.objects.write("last_decay_at", past.isoformat())
    conf.use(dataclasses.replace(conf.current(), history=History(keep_days=30)))
    assert tasks.daily_decay() is not None
    assert not Memory.objects.filter(pk=gone.pk).exists()
    assert Memory.objects.filter(pk=kept.pk).exists()
    assert MemoryRevision.objects.count() == 0
    assert Change.objects.count() == 0
    assert history.revisions(kept) == []


def test_the_test_database_is_a_file_of_its_own() -> None:
    assert Path(str(settings.DATABASE_PATH)).parent.name.startswith("icm-tests-")

"""A file of the first version, with rows in it, becomes one of this version."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from icm_site.ulid import new_ulid
from memoirs.models import Concept
from memories import fts_schema, recall
from memories.models import Memory
from tests.factories import make_memory

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# `feedback` came later, and its tables go with the columns that it stands on.
FIRST = [("memories", "0002_indexes"), ("memoirs", "0002_indexes")]
NOW = datetime(2026, 1, 2, tzinfo=UTC)
TIMES = {"created_at": NOW, "updated_at": NOW}


@pytest.fixture
def first() -> Iterator[Any]:
    """The models of the first version, over tables of that version."""
    executor = MigrationExecutor(connection)
    executor.migrate(FIRST)
    yield executor.loader.project_state(FIRST).apps
    call_command("migrate", verbosity=0)


def test_rows_of_the_first_version_are_kept_by_all_migrations(first: Any) -> None:
    old = first.get_model("memories", "Memory").objects.create(
        ulid=new_ulid(),
        topic="decisions-shop",
        topic_key="decisions-shop",
        summary="We took Postgres for the orders of children.",
        keywords=["db"],
        **TIMES,
    )
    first.get_model("memories", "MemoryUsage").objects.create(
        memory=old, last_accessed=NOW, access_count=3, weight=0.5
    )
    memoir = first.get_model("memoirs", "Memoir").objects.create(
        ulid=new_ulid(), name="shop", **TIMES
    )
    first.get_model("memoirs", "Concept").objects.create(
        ulid=new_ulid(), memoir=memoir, name="Orders", definition="Sold goods.", **TIMES
    )
    call_command("migrate", verbosity=0)

    kept = Memory.objects.get()
    for field in ("ulid", "topic", "summary", "keywords", "state", "created_at"):
        assert getattr(kept, field) == getattr(old, field), field
    assert (kept.usage.access_count, kept.usage.weight) == (3, 0.5)
    assert Concept.objects.get().definition == "Sold goods."
    # The index words of this version, and triggers that go on from there.
    assert [hit.memory for hit in recall.recall(query="take child").hits] == [kept]
    newer = make_memory("Invoices are sent by mail.")
    assert recall.recall(query="invoice").hits[0].memory == newer
    with connection.cursor() as cursor:
        cursor.execute(fts_schema.INTEGRITY_CHECK)

"""Undo over several operations: suggestions, renames, erased successors, many rows."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from memories import history, store, suggestions
from memories.models import Change, Memory, MemoryUsage, Suggestion
from tests.factories import CALLER, make_memory, perform

pytestmark = pytest.mark.django_db

LONG = "Lunch is served at noon in the large hall"
VARIANT = "Lunch is served at noon, in the large hall."
TOKEN = "AKIAIOSFODNN7EXAMPLE"


def undo(identifier: str) -> Change:
    return history.undo(identifier, caller=CALLER, now=timezone.now())[0]


def suggested() -> tuple[Memory, Memory, Suggestion]:
    old, new = make_memory("The pool has 5 places."), make_memory("The pool is blue.")
    row = suggestions.keep(new, old, kind="may_update", score=0.8, reason="value")
    return old, new, row


def test_an_accepted_suggestion_is_open_again_once_that_is_undone() -> None:
    old, _, row = suggested()
    _, change = suggestions.accept(row.ulid, caller=CALLER, now=timezone.now())
    back = undo(change.ulid)
    row.refresh_from_db()
    assert row.status == "open" and row in suggestions.listed()
    undo(back.ulid)
    row.refresh_from_db()
    assert row.status == "accepted"
    undo(old.ulid)
    suggestions.accept(row.ulid, caller=CALLER, now=timezone.now())
    old.refresh_from_db()
    assert old.state == "superseded"


def test_an_undo_of_something_else_leaves_an_accepted_suggestion() -> None:
    old, _, row = suggested()
    suggestions.accept(row.ulid, caller=CALLER, now=timezone.now())
    store.forget(old.ulid, caller=CALLER)
    undo(old.ulid)
    row.refresh_from_db()
    assert row.status == "accepted"


def test_what_a_purged_memory_had_replaced_can_be_brought_back() -> None:
    old = make_memory("Orders live in MySQL.")
    new = make_memory("Orders moved to Postgres.", supersedes=old.ulid)
    store.forget(old.ulid, caller=CALLER)
    new.delete()  # as a purge does, which no transaction may surround
    undo(old.ulid)
    old.refresh_from_db()
    assert (old.state, old.superseded_by) == ("superseded", None)
    undo(old.ulid)
    old.refresh_from_db()
    assert old.is_live


def merged(topic: str) -> Memory:
    memory = make_memory(LONG, topic=topic)
    done = store.store(topic=topic, content=VARIANT, caller=CALLER)
    assert done.memory == memory and not done.created
    return memory


@pytest.mark.parametrize("how", ["update", "rename"])
def test_a_merged_text_is_known_in_the_topic_that_its_memory_moved_to(how: str) -> None:
    memory = merged("kitchen-old")
    if how == "update":
        store.update(memory.ulid, caller=CALLER, topic="kitchen-new")
    else:
        store.rename_topic("kitchen-old", "kitchen-new", caller=CALLER)
    for text in (LONG, VARIANT):
        again = store.store(
            topic="kitchen-new", content=text, caller=CALLER, dedup=False
        )
        assert (again.memory, again.similarity) == (memory, 1.0)
        other = store.store(topic="kitchen-old", content=text, caller=CALLER)
        assert other.memory.topic == "kitchen-old"
        store.forget(other.memory.ulid, caller=CALLER)
    undo(memory.ulid)
    back = store.store(topic="kitchen-old", content=LONG, caller=CALLER, dedup=False)
    assert (back.memory, back.similarity) == (memory, 1.0)


def test_a_secret_in_the_new_name_of_a_topic_is_masked() -> None:
    memory = make_memory(topic="plain")
    result = perform("memory_rename_topic", old="plain", new=f"shop-{TOKEN}")
    memory.refresh_from_db()
    assert memory.topic == result.new == "shop-[redacted:aws-access-key]"


def test_an_undo_of_many_rows_takes_few_statements_each(
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(40):
        make_memory(f"Fact {number} is about {number}.", dedup=False)
    changes = [
        store.rename_topic("decisions-shop", "other", caller=CALLER)[2],
        store.forget_topic("other", caller=CALLER)[1],
    ]
    for change in reversed(changes):
        assert change is not None
        with django_assert_max_num_queries(40 * 2 + 20):
            undo(change.ulid)
    assert Memory.objects.live().in_topic("decisions-shop").count() == 40


def test_the_importance_of_an_undo_reaches_the_bookkeeping() -> None:
    memory = make_memory(importance="low")
    store.update(memory.ulid, caller=CALLER, importance="critical")
    undo(memory.ulid)
    assert MemoryUsage.objects.get(pk=memory.pk).importance == "low"

"""Changes, revisions, undo and redo."""

from datetime import timedelta

import pytest
from django.utils import timezone

from icm_site.errors import Conflict, NotFound
from memories import history, records, store
from memories.models import Change, Memory, MemoryRevision, State
from tests.factories import AGENT, CALLER, make_memory

pytestmark = pytest.mark.django_db


def undo(identifier: str) -> Change:
    return history.undo(identifier, caller=CALLER, now=timezone.now())[0]


def update(memory: Memory, content: str) -> Change:
    change = store.update(memory.ulid, caller=CALLER, content=content).change
    assert change is not None
    return change


def text(memory: Memory) -> str:
    memory.refresh_from_db()
    return memory.summary


def state(memory: Memory) -> str:
    memory.refresh_from_db()
    return memory.state


def test_each_act_is_one_change_with_its_author() -> None:
    memory = make_memory(caller=AGENT)
    update(memory, "The shop runs on Postgres 17.")
    first, second = Change.objects.order_by("id")
    assert (first.operation, first.surface, first.host) == (
        "store",
        "mcp",
        "claude-code",
    )
    assert (second.operation, second.origin) == ("update", "user")
    assert MemoryRevision.objects.count() == 2


def test_an_undo_restores_every_field_and_can_be_undone() -> None:
    memory = make_memory("one", keywords=["a"], importance="high", raw_excerpt="raw")
    before = history.snapshot(memory)
    change = store.update(
        memory.ulid,
        caller=CALLER,
        content="two",
        topic="other",
        importance="low",
        keywords=[],
        raw_excerpt="",
    ).change
    assert change is not None
    after = history.snapshot(Memory.objects.get())
    undone = undo(change.ulid)
    assert history.snapshot(Memory.objects.get()) == before
    undo(undone.ulid)
    assert history.snapshot(Memory.objects.get()) == after


def test_a_memory_id_takes_back_its_last_standing_change_each_time() -> None:
    memory = make_memory("one")
    update(memory, "two")
    update(memory, "three")
    texts = []
    for _ in range(2):
        undo(memory.ulid)
        texts.append(text(memory))
    assert texts == ["two", "one"]
    undo(memory.ulid.lower())
    assert state(memory) == State.FORGOTTEN
    with pytest.raises(NotFound, match="nothing left to undo"):
        undo(memory.ulid)


def test_a_forgotten_memory_comes_back() -> None:
    memory = make_memory()
    _, change = store.forget(memory.ulid, caller=CALLER)
    undo(change.ulid)
    assert state(memory) == State.LIVE


def test_an_undo_of_a_store_hides_and_its_undo_shows_again() -> None:
    memory = make_memory()
    hidden = undo(memory.ulid)
    assert state(memory) == State.FORGOTTEN
    undo(hidden.ulid)
    assert state(memory) == State.LIVE


def test_undo_and_redo_alternate_without_end() -> None:
    memory = make_memory("one")
    change = update(memory, "two")
    for expected in ["one", "two", "one", "two", "one"]:
        change = undo(change.ulid)
        assert text(memory) == expected


def test_an_older_change_is_not_taken_back_over_a_later_one() -> None:
    memory = make_memory("one")
    first = update(memory, "two")
    second = update(memory, "three")
    with pytest.raises(Conflict, match=second.ulid):
        undo(first.ulid)
    assert text(memory) == "three"


def test_a_redo_waits_for_the_redo_of_what_came_before() -> None:
    memory = make_memory("one")
    first, second = update(memory, "two"), update(memory, "three")
    undone_second = undo(second.ulid)
    undone_first = undo(first.ulid)
    with pytest.raises(Conflict, match=undone_first.ulid):
        undo(undone_second.ulid)
    assert text(memory) == "one"
    undo(undone_first.ulid)
    undo(undone_second.ulid)
    assert text(memory) == "three"


def test_a_redo_is_refused_once_something_else_happened() -> None:
    memory = make_memory("one")
    undone = undo(update(memory, "two").ulid)
    later = update(memory, "other")
    with pytest.raises(Conflict, match=later.ulid):
        undo(undone.ulid)
    assert text(memory) == "other"


def test_a_change_is_undone_once() -> None:
    memory = make_memory("one")
    change = update(memory, "two")
    undo(change.ulid)
    with pytest.raises(Conflict, match="undone before"):
        undo(change.ulid)


def test_a_text_that_is_stored_again_blocks_the_undo_of_its_forgetting() -> None:
    memory = make_memory("Use tabs.")
    _, change = store.forget(memory.ulid, caller=CALLER)
    again = make_memory("use TABS.")
    with pytest.raises(Conflict, match=f"stored again as {again.ulid}"):
        undo(change.ulid)
    assert state(memory) == State.FORGOTTEN
    store.forget(again.ulid, caller=CALLER)
    undo(change.ulid)
    assert state(memory) == State.LIVE


def test_a_refused_undo_changes_nothing() -> None:
    one, two = make_memory("Use tabs.", topic="t"), make_memory("No tabs.", topic="t")
    count, change = store.forget_topic("t", caller=CALLER)
    assert count == 2 and change is not None
    make_memory("Use tabs.", topic="t")
    with pytest.raises(Conflict):
        undo(change.ulid)
    assert (state(one), state(two)) == (State.FORGOTTEN, State.FORGOTTEN)
    change.refresh_from_db()
    assert not change.undone


@pytest.mark.parametrize("wrong", ["", "  ", "x", "01JZZZZZZZZZZZZZZZZZZZZZZZ", "\0"])
def test_an_unknown_id_is_not_found(wrong: str) -> None:
    with pytest.raises(NotFound, match="memory or change not found"):
        undo(wrong)


def test_the_weight_and_access_count_are_no_part_of_history() -> None:
    memory = make_memory("one")
    change = update(memory, "two")
    memory.usage.access_count = 7
    memory.usage.save()
    undo(change.ulid)
    memory.usage.refresh_from_db()
    assert memory.usage.access_count == 7


def test_history_tells_what_changed_newest_first_with_public_ids() -> None:
    old = make_memory("The port is 5432.")
    new = store.store(
        topic="decisions-shop",
        content="The port is 5433.",
        supersedes=old.ulid,
        caller=CALLER,
    ).memory
    undo(new.ulid)
    entries = records.history_entries(Memory.objects.get(pk=old.pk))
    back, replaced, first = entries
    assert [entry.operation for entry in entries] == ["undo", "store", "store"]
    assert back.undoes == replaced.change and replaced.undone
    assert replaced.before == {"state": "live", "superseded_by": None}
    assert replaced.after == {"state": "superseded", "superseded_by": new.ulid}
    assert back.after == {"state": "live", "superseded_by": None}
    assert first.before is None and first.after["summary"] == "The port is 5432."


def test_the_times_of_changes_are_those_given() -> None:
    moment = timezone.now() - timedelta(days=3)
    memory = make_memory(now=moment)
    assert memory.created_at == moment
    assert Change.objects.get().at == moment

"""Storing, refreshing, updating, superseding, forgetting, renaming."""

import dataclasses
import unicodedata
from typing import Any

import pytest
from django.db import connection

from icm_site import conf
from icm_site.conf_keys import Memory as MemorySettings
from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import history, store
from memories.models import Change, Importance, Memory, MemoryRevision, State
from tests.factories import AGENT, CALLER, make_memory

pytestmark = pytest.mark.django_db


def stored(content: str, topic: str = "decisions-shop", **fields: Any) -> store.Stored:
    return store.store(topic=topic, content=content, caller=CALLER, **fields)


def test_a_new_memory_starts_with_full_weight_and_one_moment_in_all_its_times() -> None:
    done = stored("The shop runs on Postgres 16.")
    memory, usage = done.memory, done.memory.usage
    assert done.created and done.change is not None
    assert (usage.weight, usage.access_count) == (1.0, 0)
    assert memory.created_at == memory.updated_at == usage.last_accessed
    assert memory.importance == Importance.MEDIUM
    assert memory.state == State.LIVE


def test_a_memory_remembers_who_stored_it() -> None:
    memory = make_memory(caller=AGENT)
    assert (memory.origin, memory.host) == ("agent", "claude-code")
    assert memory.source_type == "claude_code"
    assert memory.source_data == {"project": "shop"}
    assert make_memory("Another one.").source_type == "manual"


@pytest.mark.parametrize(
    ("topic", "content"),
    [
        ("decisions-shop", "The Café opens at nine."),
        ("DECISIONS-shop", "the café opens at NINE."),
        (" decisions-shop ", "  The  Café\n opens\tat nine. "),
        ("decisions-shop", unicodedata.normalize("NFD", "The Café opens at nine.")),
    ],
)
def test_the_same_text_in_the_same_topic_is_one_memory(
    topic: str, content: str
) -> None:
    first = make_memory("The Café opens at nine.")
    again = stored(content, topic)
    assert (again.created, again.similarity) == (False, 1.0)
    assert again.memory.pk == first.pk
    assert Memory.objects.get().summary == "The Café opens at nine."


def test_the_same_text_in_another_topic_is_another_memory() -> None:
    make_memory("Use tabs.", topic="preferences")
    assert stored("Use tabs.", "decisions-shop").created


def test_a_repeated_store_adds_keywords_and_raises_importance_but_never_lowers() -> (
    None
):
    first = make_memory("Use tabs.", importance="high", keywords=["style", "tabs"])
    again = stored(
        "use tabs.", importance="low", keywords=["editor", "tabs"], raw_excerpt="tabs!"
    )
    kept = Memory.objects.get()
    assert kept.pk == first.pk
    assert kept.importance == Importance.HIGH
    assert kept.keywords == ["style", "tabs", "editor"]
    assert kept.raw_excerpt == "tabs!"
    assert again.change is not None
    stored("use tabs.", importance="critical")
    kept.refresh_from_db()
    kept.usage.refresh_from_db()
    assert kept.importance == kept.usage.importance == Importance.CRITICAL
    assert kept.raw_excerpt == "tabs!"


def test_a_store_that_adds_nothing_changes_nothing() -> None:
    first = make_memory("Use tabs.", keywords=["style"])
    again = stored("Use tabs.", keywords=["style"])
    assert again.change is None
    assert Memory.objects.get().updated_at == first.updated_at
    assert Change.objects.count() == 1


def test_a_forgotten_text_can_be_stored_again() -> None:
    first = make_memory("Use tabs.")
    store.forget(first.ulid, caller=CALLER)
    again = stored("Use tabs.")
    assert again.created
    assert again.memory.pk != first.pk


def test_the_configured_importance_is_the_default() -> None:
    low = MemorySettings(default_importance="low")
    conf.use(dataclasses.replace(conf.current(), memory=low))
    assert stored("A small thing.").memory.importance == Importance.LOW


def test_the_answer_counts_the_topic_without_critical_memories() -> None:
    for number in range(8):
        done = stored(f"Rule {number} of the shop.")
    assert done.in_topic == 8
    assert stored("Never sell on Sunday.", importance="critical").in_topic == 8


class TestSupersede:
    def test_the_old_memory_stays_behind_the_new_one(self) -> None:
        old = make_memory("The port is 5432.")
        new = stored("The port is 5433.", supersedes=old.ulid.lower())
        old.refresh_from_db()
        assert new.replaced == old
        assert (old.state, old.superseded_by) == (State.SUPERSEDED, new.memory)
        assert old.current() == new.memory

    def test_a_chain_leads_to_its_end(self) -> None:
        first = make_memory("The port is 1.")
        second = stored("The port is 2.", supersedes=first.ulid).memory
        third = stored("The port is 3.", supersedes=second.ulid).memory
        first.refresh_from_db()
        assert first.current() == third

    @pytest.mark.parametrize("wrong", ["nonsense", "01JZZZZZZZZZZZZZZZZZZZZZZZ"])
    def test_an_unknown_id_stores_nothing(self, wrong: str) -> None:
        with pytest.raises(NotFound, match="memory not found"):
            stored("The port is 5433.", supersedes=wrong)
        assert not Memory.objects.exists() and not Change.objects.exists()

    def test_only_a_live_memory_is_replaced(self) -> None:
        old = make_memory("The port is 5432.")
        stored("The port is 5433.", supersedes=old.ulid)
        with pytest.raises(Conflict, match="superseded"):
            stored("The port is 5434.", supersedes=old.ulid)
        assert Memory.objects.count() == 2

    def test_a_memory_cannot_replace_itself(self) -> None:
        old = make_memory("The port is 5432.")
        with pytest.raises(Conflict, match="cannot replace itself"):
            stored("The  port is 5432.", supersedes=old.ulid)
        old.refresh_from_db()
        assert old.state == State.LIVE

    def test_a_rewording_replaces_what_it_would_be_merged_into(self) -> None:
        old = make_memory("We deploy the shop on Tuesdays at noon.")
        text = "We deploy the shop on Tuesdays at noon!"
        assert not stored(text).created
        new = stored(f"{text}!", supersedes=old.ulid)
        old.refresh_from_db()
        assert new.created and old.superseded_by == new.memory

    def test_undo_of_the_store_brings_the_old_one_back(self) -> None:
        old = make_memory("The port is 5432.")
        new = stored("The port is 5433.", supersedes=old.ulid)
        assert new.change is not None
        history.undo(new.change.ulid, caller=CALLER, now=new.memory.created_at)
        old.refresh_from_db()
        new.memory.refresh_from_db()
        assert (old.state, old.superseded_by) == (State.LIVE, None)
        assert new.memory.state == State.FORGOTTEN


class TestUpdate:
    @pytest.mark.parametrize(
        ("field", "value", "column"),
        [
            ("content", "The shop runs on Postgres 17.", "summary"),
            ("topic", "context-shop", "topic"),
            ("importance", "CRITICAL", "importance"),
            ("keywords", ["db", "db", " ", "pg"], "keywords"),
            ("raw_excerpt", "select version()", "raw_excerpt"),
        ],
    )
    def test_only_the_given_field_changes(
        self, field: str, value: Any, column: str
    ) -> None:
        memory = make_memory(keywords=["old"], raw_excerpt="raw", importance="high")
        before = history.snapshot(memory)
        store.update(memory.ulid, caller=CALLER, **{field: value})
        after = history.snapshot(Memory.objects.get())
        assert {name for name in after if after[name] != before[name]} == {column}

    def test_it_restores_the_weight(self) -> None:
        memory = make_memory()
        memory.usage.weight = 0.2
        memory.usage.save()
        store.update(memory.ulid, caller=CALLER, importance="high")
        memory.usage.refresh_from_db()
        assert memory.usage.weight == 1.0

    def test_an_empty_list_or_text_clears_a_field(self) -> None:
        memory = make_memory(keywords=["db"], raw_excerpt="raw")
        store.update(memory.ulid, caller=CALLER, keywords=[], raw_excerpt="")
        memory.refresh_from_db()
        assert (memory.keywords, memory.raw_excerpt) == ([], None)

    def test_nothing_to_update_is_said(self) -> None:
        with pytest.raises(InvalidInput, match="nothing to update"):
            store.update(make_memory().ulid, caller=CALLER)

    def test_the_text_of_another_memory_of_the_topic_is_refused(self) -> None:
        taken, other = make_memory("Use tabs."), make_memory("Use blanks.")
        with pytest.raises(Conflict, match=taken.ulid):
            store.update(other.ulid, caller=CALLER, content="use TABS.")
        other.refresh_from_db()
        assert other.summary == "Use blanks."

    def test_a_hidden_memory_is_not_updated(self) -> None:
        memory = make_memory()
        store.forget(memory.ulid, caller=CALLER)
        with pytest.raises(Conflict, match="forgotten, not live"):
            store.update(memory.ulid, caller=CALLER, content="New.")

    def test_a_refused_update_leaves_no_trace(self) -> None:
        memory = make_memory()
        with pytest.raises(InvalidInput):
            store.update(memory.ulid, caller=CALLER, content="x" * 70_000)
        assert Change.objects.count() == MemoryRevision.objects.count() == 1


class TestForget:
    def test_it_hides_and_keeps_the_text(self) -> None:
        memory = make_memory()
        _, change = store.forget(memory.ulid, caller=CALLER)
        memory.refresh_from_db()
        assert memory.state == State.FORGOTTEN
        assert change.operation == "forget"
        assert not Memory.objects.live().exists()

    def test_twice_is_a_conflict_and_unknown_is_not_found(self) -> None:
        memory = make_memory()
        store.forget(memory.ulid, caller=CALLER)
        with pytest.raises(Conflict, match="forgotten already"):
            store.forget(memory.ulid, caller=CALLER)
        with pytest.raises(NotFound, match="memory not found: nothing"):
            store.forget("nothing", caller=CALLER)

    @pytest.mark.slow
    def test_a_topic_of_500_rows_goes_and_comes_back_as_one_change(self) -> None:
        for number in range(500):
            make_memory(f"Fact {number}.", topic="bulk", dedup=False)
        kept = make_memory(topic="bulk-other")
        count, change = store.forget_topic(" BULK ", caller=CALLER)
        assert count == 500 and change is not None
        assert list(Memory.objects.live()) == [kept]
        _, back = history.undo(change.ulid, caller=CALLER, now=change.at)
        assert len(back) == 500
        assert Memory.objects.live().count() == 501

    def test_a_topic_without_memories_makes_no_change(self) -> None:
        assert store.forget_topic("nothing", caller=CALLER) == (0, None)
        assert not Change.objects.exists()

    def test_superseded_memories_of_the_topic_go_too(self) -> None:
        old = make_memory("The port is 5432.")
        stored("The port is 5433.", supersedes=old.ulid)
        assert store.forget_topic("decisions-shop", caller=CALLER)[0] == 2
        assert not Memory.objects.exclude(state=State.FORGOTTEN).exists()


class TestRename:
    def test_memories_move(self) -> None:
        memory = make_memory(topic="old")
        moved = store.rename_topic("OLD", "new", caller=CALLER)
        memory.refresh_from_db()
        assert moved[:2] == (1, 0)
        assert (memory.topic, memory.topic_key) == ("new", "new")

    def test_equal_texts_merge_and_nothing_of_them_is_lost(self) -> None:
        kept = make_memory("Use tabs.", topic="new", keywords=["a"], importance="low")
        gone = make_memory("use tabs.", topic="old", keywords=["b"], importance="high")
        moved, merged, change = store.rename_topic("old", "new", caller=CALLER)
        kept.refresh_from_db()
        gone.refresh_from_db()
        assert (moved, merged) == (1, 1)
        assert (kept.keywords, kept.importance) == (["a", "b"], Importance.HIGH)
        assert (gone.state, gone.superseded_by) == (State.ARCHIVED, kept)
        assert change is not None
        history.undo(change.ulid, caller=CALLER, now=change.at)
        kept.refresh_from_db()
        gone.refresh_from_db()
        assert (kept.keywords, kept.importance) == (["a"], Importance.LOW)
        assert (gone.topic, gone.state, gone.superseded_by) == ("old", "live", None)
        assert gone.keywords == ["b"]

    def test_a_topic_can_change_its_case(self) -> None:
        memory = make_memory(topic="Shop")
        store.rename_topic("shop", "SHOP", caller=CALLER)
        memory.refresh_from_db()
        assert (memory.topic, memory.state) == ("SHOP", State.LIVE)

    def test_superseded_memories_move_with_their_topic(self) -> None:
        old = make_memory("The port is 5432.", topic="old")
        stored("The port is 5433.", "old", supersedes=old.ulid)
        assert store.rename_topic("old", "new", caller=CALLER)[0] == 2
        assert set(Memory.objects.values_list("topic", flat=True)) == {"new"}


SECRET = "AKIAQ3EGRTUVWX5Z7ABC"


def everything_written() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM memories")
        rows = [str(cursor.fetchall())]
        cursor.execute("SELECT before, given FROM memory_revisions")
        rows.append(str(cursor.fetchall()))
        cursor.execute(
            "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH %s",
            [f'"{SECRET.lower()}"'],
        )
        if cursor.fetchone()[0]:
            rows.append(SECRET)
    return "".join(rows)


def test_a_secret_reaches_no_column_index_or_revision() -> None:
    done = stored(
        f"The key is {SECRET}.",
        f"errors-{SECRET}",
        keywords=[SECRET],
        raw_excerpt=f"export AWS_ACCESS_KEY_ID={SECRET}",
    )
    assert done.redacted
    assert SECRET not in everything_written()
    store.update(done.memory.ulid, caller=CALLER, content="The key was rotated.")
    assert SECRET not in everything_written()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", f"It is {SECRET}"),
        ("topic", f"errors-{SECRET}"),
        ("raw_excerpt", f"key={SECRET}"),
        ("keywords", [SECRET]),
    ],
)
def test_an_update_masks_each_field_by_itself(field: str, value: Any) -> None:
    memory = make_memory()
    done = store.update(memory.ulid, caller=CALLER, **{field: value})
    assert done.redacted
    assert SECRET not in everything_written()


def test_an_allowed_secret_survives_an_update_of_another_field() -> None:
    memory = make_memory(f"The example key is {SECRET}.", allow_secret=True)
    assert SECRET in memory.summary
    store.update(memory.ulid, caller=CALLER, importance="high")
    memory.refresh_from_db()
    assert SECRET in memory.summary


def test_text_is_kept_as_it_was_given() -> None:
    text = "  <b>x</b> '; DROP TABLE memories; -- \u202e\u200b\U0001f600\r\n\ttail "
    assert make_memory(text).summary == text
    assert Memory.objects.get().summary == text

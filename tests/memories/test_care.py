"""Prune, health, consolidate, suggestions, links, purge: nothing lost unasked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import (
    consolidate,
    embedding,
    health,
    history,
    links,
    prune,
    purge,
    recall,
    store,
    suggestions,
)
from memories.models import Memory, MemoryRevision, MemoryUsage, Suggestion
from tests.factories import AGENT, CALLER, FakeEmbedder, make_memory

pytestmark = pytest.mark.django_db


def faded(content: str, importance: str) -> Memory:
    memory = make_memory(content, importance=importance)
    MemoryUsage.objects.filter(pk=memory.pk).update(weight=0.05)
    return memory


def texts(query: str) -> list[str]:
    return [hit.memory.summary for hit in recall.recall(query=query, limit=50).hits]


def test_prune_hides_exactly_what_its_dry_run_lists() -> None:
    gone = [faded("A medium note.", "medium"), faded("Some low remark.", "low")]
    kept = [faded("High thing.", "high"), faded("Critical thing.", "critical")]
    fresh = make_memory("A fresh fact.")
    now = timezone.now()
    listed, _ = prune.prune(threshold=None, caller=CALLER, now=now, dry_run=True)
    assert {m.pk for m in listed} == {m.pk for m in gone}
    assert Memory.objects.live().count() == 5
    hidden, change = prune.prune(threshold=None, caller=CALLER, now=now)
    assert {m.pk for m in hidden} == {m.pk for m in gone}
    live = set(Memory.objects.live())
    assert live == {*kept, fresh}
    assert change is not None
    history.undo(change.ulid, caller=CALLER, now=now)
    assert Memory.objects.live().count() == 5


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan")])
def test_a_threshold_that_is_none_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidInput, match="threshold must be"):
        prune.prune(threshold=threshold, caller=CALLER, now=timezone.now())


def test_health_says_which_topic_is_large_and_which_stale(
    django_assert_num_queries: pytest.FixtureRequest,
) -> None:
    for n in range(8):
        make_memory(f"Fact {n}: {'abcdefgh'[n]} is handled.", topic="large")
    for n in range(9):
        text = f"Rule {n} of {'abcdefghi'[n]}."
        make_memory(text, topic="rules", importance="critical")
    old = make_memory("An old note.", topic="stale")
    MemoryUsage.objects.filter(pk=old.pk).update(
        weight=0.4, last_accessed=timezone.now() - timedelta(days=15)
    )
    with django_assert_num_queries(1):  # type: ignore[operator]
        rows = {row.topic: row for row in health.topics(now=timezone.now())}
    assert rows["large"].status == "consolidate"
    assert rows["rules"].status == "healthy"
    assert rows["stale"].status == "has stale entries"
    assert rows["stale"].stale == 1
    with pytest.raises(NotFound, match="topic not found: nothing"):
        health.topics(now=timezone.now(), topic="nothing")


def test_consolidate_replaces_all_but_critical_and_can_be_undone() -> None:
    low = make_memory("Alpha caches pages.", importance="low", keywords=["a"])
    high = make_memory("Beta stores orders.", importance="high", keywords=["b"])
    rule = make_memory("Never drop the orders table.", importance="critical")
    before = {m.ulid: m.summary for m in Memory.objects.live()}
    done = consolidate.consolidate(
        topic=low.topic,
        summary="Alpha caches; beta stores.",
        caller=AGENT,
        now=timezone.now(),
    )
    assert done.successor is not None and done.change is not None
    assert (len(done.originals), done.left, done.critical) == (2, 1, 1)
    assert done.successor.importance == "high"
    assert done.successor.keywords == ["a", "b"]
    assert done.successor.metadata["consolidated_from"] == [low.ulid, high.ulid]
    assert {m.pk for m in Memory.objects.live()} == {rule.pk, done.successor.pk}
    found = texts("pages orders")
    assert low.summary not in found and high.summary not in found
    history.undo(done.change.ulid, caller=AGENT, now=timezone.now())
    assert {m.ulid: m.summary for m in Memory.objects.live()} == before


def test_a_dry_run_and_foreign_ids_change_nothing() -> None:
    mine = make_memory("Alpha caches pages.")
    other = make_memory("Beta stores orders.", topic="elsewhere")
    now = timezone.now()
    done = consolidate.consolidate(
        topic=mine.topic, summary="x", caller=AGENT, now=now, dry_run=True
    )
    assert done.successor is None and done.originals == [mine]
    with pytest.raises(Conflict, match="nothing was replaced"):
        consolidate.consolidate(
            topic=mine.topic,
            summary="All of it.",
            ids=[mine.ulid, other.ulid],
            caller=AGENT,
            now=now,
        )
    assert Memory.objects.live().count() == 2
    with pytest.raises(NotFound, match="no memories to consolidate"):
        consolidate.consolidate(topic="void", summary="x", caller=AGENT, now=now)


def test_a_joined_text_over_the_limit_is_refused_and_nothing_is_lost() -> None:
    for n in range(3):
        make_memory(f"{n} " + "word " * 5_000 + "abc"[n], topic="big")
    with pytest.raises(InvalidInput, match="65536 are allowed"):
        consolidate.consolidate(topic="big", caller=CALLER, now=timezone.now())
    assert Memory.objects.live().count() == 3


def test_a_changed_value_is_kept_apart_and_suggested() -> None:
    old = make_memory("The server listens on port 5432.")
    done = store.store(
        topic=old.topic, content="The server listens on port 5433.", caller=AGENT
    )
    kept = suggestions.keep_close(done)
    assert done.created and [row.target for row in kept] == [old]
    row, change = suggestions.accept(kept[0].ulid, caller=CALLER, now=timezone.now())
    assert row.status == Suggestion.Status.ACCEPTED
    assert texts("port 5432") == ["The server listens on port 5433."]
    with pytest.raises(Conflict, match="was accepted before"):
        suggestions.dismiss(row.ulid)
    history.undo(change.ulid, caller=CALLER, now=timezone.now())
    assert len(texts("server port")) == 2


def test_the_same_fact_refreshes_the_memory_that_holds_it() -> None:
    memory = make_memory("The cache holds sessions for 15 minutes.", importance="high")
    MemoryUsage.objects.filter(pk=memory.pk).update(weight=0.3)
    again = store.store(
        topic=memory.topic,
        content="the cache  holds sessions for 15 minutes!",
        importance="low",
        keywords=["redis"],
        caller=AGENT,
    )
    assert again.memory.pk == memory.pk and not again.created
    memory = Memory.objects.with_usage().get(pk=memory.pk)
    assert (memory.importance, memory.keywords) == ("high", ["redis"])
    assert memory.usage.weight == 1.0
    first = "The cache holds sessions for 15 minutes."
    for text in (first, first.upper()):
        repeat = store.store(topic=memory.topic, content=text, caller=AGENT)
        assert repeat.memory.pk == memory.pk
    assert Memory.objects.count() == 1
    kept = MemoryRevision.objects.filter(memory=memory)
    held = {memory.summary, *(r.before["summary"] for r in kept if r.before)}
    held |= {r.given["summary"] for r in kept if r.given}
    assert "The cache holds sessions for 15 minutes." in held
    assert "the cache  holds sessions for 15 minutes!" in held


def test_links_join_what_belongs_together_and_stay_inside_filters(
    model: FakeEmbedder,
) -> None:
    made = []
    for topic, text in [
        ("decisions-shop", "The database is postgres."),
        ("context-shop", "Storage in mysql and sqlite, a database."),
        ("decisions-other", "Our database storage is sqlite."),
        ("context-shop", "Espresso and tea and coffee."),
        ("context-shop", "The truck is a vehicle."),
        ("context-shop", "The signin asks for a password."),
    ]:
        memory = make_memory(text, topic=topic)
        embedding.embed_missing([memory])
        links.link_to_nearest(memory)
        made.append(memory)
    near = links.related(made[0], depth=1, limit=10)
    assert {row.memory.pk for row in near} == {made[1].pk, made[2].pk}
    assert links.link_to_nearest(made[0]) != []
    assert len(links.related(made[0], depth=1, limit=10)) == 2
    shop = recall.recall(query="postgres", project="shop", limit=10)
    assert made[2].pk not in {hit.memory.pk for hit in shop.hits}


def test_a_purge_asks_for_something_and_finds_earlier_texts() -> None:
    memory = make_memory("The vault code is marzipan.")
    store.update(memory.ulid, content="The vault has a code.", caller=CALLER)
    other = make_memory("Nothing of that kind.", topic="elsewhere")
    now = timezone.now()
    with pytest.raises(InvalidInput, match="say what to purge"):
        purge.chosen(purge.Wanted(), now=now)
    assert purge.chosen(purge.Wanted(query="MARZIPAN"), now=now) == [memory]
    assert purge.chosen(purge.Wanted(topic="elsewhere"), now=now) == [other]
    assert purge.chosen(purge.Wanted(older_than_days=1), now=now) == []
    assert purge.chosen(purge.Wanted(project="shop"), now=now) == [memory]
    store.forget(other.ulid, caller=CALLER)
    assert purge.chosen(purge.Wanted(hidden_only=True), now=now) == [other]

"""Lists and figures over all memories."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from icm_site.errors import InvalidInput
from icm_site.pagination import Order, _page
from memories import listing, records, store
from memories.models import Memory, MemoryLink, MemoryUsage, in_state
from tests.factories import CALLER, make_memory, perform

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def contents(**how: object) -> list[str]:
    asked = {"topic": None, "sort": "created", "limit": None} | how
    return [row.summary for row in listing.listed(**asked)[0]]  # type: ignore[arg-type]


def test_a_list_is_sorted_downwards_by_what_is_asked() -> None:
    for place, name in enumerate("abc"):
        memory = make_memory(name, now=NOON + timedelta(hours=place))
        MemoryUsage.objects.filter(pk=memory.pk).update(
            weight=(0.5, 0.9, 0.1)[place],
            last_accessed=NOON + timedelta(days=(3, 1, 2)[place]),
        )
    assert contents(sort="created") == ["c", "b", "a"]
    assert contents(sort="weight") == ["b", "a", "c"]
    assert contents(sort="accessed") == ["a", "c", "b"]


def test_equal_rows_stand_newest_first() -> None:
    for name in "abc":
        make_memory(name, now=NOON)
    assert contents(sort="weight") == contents(sort="created") == ["c", "b", "a"]


def test_a_topic_is_compared_exactly_but_for_case() -> None:
    make_memory("a", topic="Shop")
    make_memory("b", topic="shop-2")
    assert contents(topic=" sHOP ") == ["a"]
    with pytest.raises(InvalidInput, match="topic must not be empty"):
        contents(topic=" ")


@pytest.mark.parametrize(("limit", "count"), [(None, 3), (0, 0), (-1, 0), (2, 2)])
def test_a_limit_cuts_and_the_total_stays(limit: int | None, count: int) -> None:
    for name in "abc":
        make_memory(name)
    rows, total = listing.listed(topic=None, sort="weight", limit=limit)
    assert (len(rows), total) == (count, 3)


def test_hidden_memories_are_in_no_list_and_counted_by_state() -> None:
    old = make_memory("old")
    store.store(topic="t", content="new", supersedes=old.ulid, caller=CALLER)
    store.forget(make_memory("gone").ulid, caller=CALLER)
    assert contents() == ["new"]
    assert listing.topics() == [("t", 1)]
    figures = listing.stats()
    assert (figures.memories, figures.topics) == (1, 1)
    assert figures.hidden == {"forgotten": 1, "superseded": 1}


def test_topics_of_one_name_in_two_cases_are_one() -> None:
    make_memory("a", topic="Shop")
    make_memory("b", topic="shop")
    make_memory("c", topic="bar")
    assert listing.topics() == [("bar", 1), ("Shop", 2)]


def test_figures_of_an_empty_database_are_zero() -> None:
    figures = listing.stats()
    assert (figures.memories, figures.average_weight) == (0, 0.0)
    assert figures.oldest is None and figures.newest is None


def test_figures_span_oldest_to_newest() -> None:
    make_memory("a", now=NOON)
    memory = make_memory("b", now=NOON + timedelta(days=1))
    MemoryUsage.objects.filter(pk=memory.pk).update(weight=0.5)
    figures = listing.stats()
    assert figures.average_weight == 0.75
    assert (figures.oldest, figures.newest) == (NOON, NOON + timedelta(days=1))


def test_a_list_costs_the_same_queries_whatever_its_length() -> None:
    counts = []
    for size in (1, 30):
        for number in range(size):
            make_memory(f"fact {size}.{number}")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rows, _ = listing.listed(topic=None, sort="weight", limit=None)
            records.records(rows)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 6


def test_records_name_links_successors_and_what_they_replaced() -> None:
    old = make_memory("old")
    new = store.store(topic="t", content="new", supersedes=old.ulid, caller=CALLER)
    rows = list(Memory.objects.with_usage().order_by("id"))
    shown_old, shown_new = records.records(rows)
    assert (shown_old.state, shown_old.superseded_by) == (
        "superseded",
        new.memory.ulid,
    )
    assert shown_new.replaces == [old.ulid]
    assert not shown_new.has_embedding


def test_more_records_than_a_query_takes_keep_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(7):
        make_memory(f"fact {number}")
    monkeypatch.setattr(records, "BATCH", 3)
    rows = list(Memory.objects.with_usage().order_by("id"))
    shown = records.records(rows)
    assert [row.summary for row in shown] == [f"fact {n}" for n in range(7)]


def test_a_limit_beyond_all_numbers_of_the_database_is_the_highest() -> None:
    make_memory()
    assert perform("memory_list", all=True, limit=10**30).total == 1
    assert perform("suggestion_list", limit=10**30).suggestions == []
    assert perform("feedback_list", limit=10**30).feedback == []


@pytest.mark.parametrize("order", ["-id", "-created_at", "-updated_at"])
def test_a_list_of_live_memories_runs_along_its_order(order: str) -> None:
    # An index that begins with the state reads and sorts all rows instead.
    rows = Memory.objects.live().with_usage().order_by(order)
    assert "TEMP B-TREE" not in rows[:50].explain()


def test_links_are_looked_up_from_their_sources() -> None:
    links = MemoryLink.objects.filter(source_id__in=[1, 2], target__state="live")
    plan = links.values_list("target__ulid").explain().splitlines()
    assert "source_id=?" in plan[0]


def test_a_list_by_use_reads_no_more_rows_than_it_shows() -> None:
    with CaptureQueriesContext(connection) as asked:
        _page(
            Memory.objects.filter(in_state("live")),
            Order("-last_accessed", "usage__last_accessed", falling=True),
            place=None,
            limit=50,
        )
    plan = explained(asked.captured_queries[0]["sql"])
    assert "SCAN memory_usage USING INDEX memory_usage_accessed" in plan


def test_a_list_of_live_rows_is_not_read_by_the_index_of_hashes() -> None:
    shown, hidden = make_memory("a"), make_memory("b")
    Memory.objects.filter(pk=hidden.pk).update(state="forgotten")
    assert Memory.objects.get(in_state("live")) == shown
    assert Memory.objects.get(in_state("forgotten")) == hidden
    with CaptureQueriesContext(connection) as asked:
        Memory.objects.filter(in_state("live"), host="codex").count()
    assert explained(asked.captured_queries[0]["sql"]) == "SCAN memories"


def explained(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return "\n".join(row[3] for row in cursor.fetchall())

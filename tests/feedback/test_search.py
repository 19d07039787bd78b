"""Search, lists and figures of feedback, and its text index."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from feedback import figures, search, write
from feedback.indexes import INDEX
from feedback.models import Feedback
from icm_site import database, text_index
from icm_site.sqlite.capabilities import Capabilities, capabilities
from tests.factories import CALLER, make_memory

pytestmark = pytest.mark.django_db


def record(context: str, *, topic: str = "triage", **fields: str) -> Feedback:
    given: dict[str, Any] = {"predicted": "medium", "corrected": "low"} | fields
    done = write.record(topic=topic, context=context, caller=CALLER, **given)
    return done.feedback


def found(query: str, **given: object) -> list[Feedback]:
    return [hit.feedback for hit in search.find(query, **given)]  # type: ignore[arg-type]


def test_any_word_finds_and_more_words_rank_higher() -> None:
    one = record("A crash in the parser of invoices")
    both = record("A crash in the login form")
    record("Nothing of the kind")
    assert found("crash in login") == [both, one]


@pytest.mark.parametrize(
    "field", ["topic", "context", "predicted", "corrected", "reason"]
)
def test_every_text_is_searched(field: str) -> None:
    given = {"context": "something", field: "zebra crossing"}
    wanted = record(**given)
    record("another thing")
    assert found("zebra") == [wanted]


def test_words_are_found_in_other_forms_and_scripts() -> None:
    deploys, japanese = record("We deployed naïvely"), record("認証が失敗した")
    assert found("deploying") == [deploys]
    assert found("naively") == [deploys]
    assert found("認証") == [japanese]


def test_among_equals_the_newest_comes_first() -> None:
    rows = [record("A crash in the parser") for _ in range(3)]
    assert found("parser crash") == rows[::-1]
    assert found("parser crash", limit=2) == rows[:0:-1]


def test_a_topic_is_matched_exactly_but_for_case_and_blanks() -> None:
    wanted = record("A crash", topic="Triage")
    record("A crash", topic="triage-web")
    assert found("crash", topic=" triage ") == [wanted]
    assert found("crash", topic="tri") == []
    assert len(found("crash", topic=" ")) == 2
    assert search.listed("TRIAGE", limit=5) == [wanted]


def test_the_topic_holds_before_the_limit() -> None:
    wanted = record("A crash somewhere in the program, much later", topic="rare")
    for _ in range(120):
        record("A crash")
    assert found("crash", topic="rare", limit=1) == [wanted]


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_lists_the_newest(query: str) -> None:
    rows = [record(f"case {number}") for number in range(3)]
    hits = search.find(query, limit=2)
    assert [hit.feedback for hit in hits] == [rows[2], rows[1]]
    assert [hit.score for hit in hits] == [None, None]


@pytest.mark.parametrize(
    "query", ['"', "a AND (", "*", "topic:crash", "NEAR(", "\ud800"]
)
def test_no_query_is_an_error(query: str) -> None:
    record("A crash")
    search.find(query)


def test_nothing_found_is_an_empty_list() -> None:
    record("A crash")
    assert found("zebra") == []


def test_part_of_a_word_finds_where_no_word_does() -> None:
    row = record("The AUTHENTICATION is slow")
    assert found("thentic") == [row]
    assert search.find("thentic")[0].score == 0.0


def test_scores_lie_between_0_and_1_and_fall() -> None:
    for words in ("crash", "crash parser", "crash parser invoice", "zebra"):
        record(f"The {words}")
    scores = [hit.score or 0.0 for hit in search.find("crash parser invoice")]
    assert len(scores) == 3
    assert 1.0 >= scores[0] > scores[1] > scores[2] > 0.0


@pytest.mark.parametrize(("limit", "count"), [(-5, 1), (0, 1), (3, 3), (10**9, 6)])
def test_a_limit_is_clamped(limit: int, count: int) -> None:
    for _ in range(6):
        record("A crash")
    assert len(found("crash", limit=limit)) == count


def test_the_list_is_the_newest_first() -> None:
    rows = [record(f"case {number}") for number in range(4)]
    assert search.listed(limit=3) == rows[:0:-1]
    assert search.listed(limit=0) == []


def test_a_search_takes_a_constant_number_of_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    memory = make_memory()
    for number in range(30):
        fields = {"memory": memory.ulid} if number % 2 else {}
        record("A crash", **fields)
    with django_assert_num_queries(4):
        rows = found("crash", limit=30)
        assert [row.memory.ulid for row in rows if row.memory] == [memory.ulid] * 15
    with django_assert_num_queries(1):
        assert [row.memory.ulid for row in search.listed(limit=30) if row.memory]


def test_figures_count_by_topic_and_rank_by_use() -> None:
    rows = [record(f"case {n}", topic=t) for n, t in enumerate(["a", "B", "b", "c"])]
    for row, times in zip(rows, (1, 3, 0, 2), strict=True):
        for _ in range(times):
            write.apply(row.ulid)
    counted = figures.figures()
    assert counted.total == 4
    assert counted.topics == [("b", 2), ("a", 1), ("c", 1)]
    assert counted.most_applied == [rows[1], rows[3], rows[0]]


def test_at_most_ten_are_named_as_most_applied() -> None:
    for number in range(12):
        write.apply(record(f"case {number}").ulid)
    assert len(figures.figures().most_applied) == 10


def test_figures_of_nothing() -> None:
    assert figures.figures() == figures.Figures(total=0, topics=[], most_applied=[])


# The index.


def schema() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, type FROM sqlite_master WHERE tbl_name LIKE 'feedback%' "
            "AND name NOT LIKE 'feedback_fts_%' OR type = 'trigger' "
            "AND tbl_name = 'feedback'"
        )
        return dict(cursor.fetchall())


def columns() -> list[tuple[str, str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, type, \"notnull\" FROM pragma_table_info('feedback')"
        )
        return [(name, kind, needed) for name, kind, needed in cursor.fetchall()]


def agrees() -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(INDEX.checked)
    except IntegrityError:
        return False
    return True


def test_the_schema_is_pinned() -> None:
    names = schema()
    assert names["feedback"] == names["feedback_fts"] == "table"
    assert {name for name, kind in names.items() if kind == "trigger"} == {
        "feedback_fts_insert",
        "feedback_fts_update",
        "feedback_fts_delete",
    }
    assert columns() == [
        ("id", "INTEGER", 1),
        ("ulid", "varchar(26)", 1),
        ("topic", "TEXT", 1),
        ("context", "TEXT", 1),
        ("predicted", "TEXT", 1),
        ("corrected", "TEXT", 1),
        ("reason", "TEXT", 1),
        ("source", "varchar(255)", 1),
        ("created_at", "datetime", 1),
        ("applied_count", "integer unsigned", 1),
        ("memory_id", "bigint", 0),
        ("correction_id", "bigint", 0),
        ("topic_key", "TEXT", 1),
        ("topic_index", "TEXT", 1),
        ("context_index", "TEXT", 1),
        ("predicted_index", "TEXT", 1),
        ("corrected_index", "TEXT", 1),
        ("reason_index", "TEXT", 1),
    ]


def test_the_index_follows_every_change_of_a_row() -> None:
    row = record("A crash")
    assert agrees()
    row.context = "A zebra"
    row.derive()
    row.save()
    assert agrees()
    assert (found("crash"), found("zebra")) == ([], [row])
    write.delete(row.ulid)
    assert agrees()
    assert found("zebra") == []


def test_an_update_of_other_columns_leaves_the_index_alone() -> None:
    row = record("A crash")
    with connection.cursor() as cursor:
        cursor.execute("SELECT total_changes()")
        before = cursor.fetchone()[0]
        write.apply(row.ulid)
        cursor.execute("SELECT total_changes()")
        assert cursor.fetchone()[0] == before + 1


def test_the_index_can_be_made_anew() -> None:
    row = record("A crash")
    INDEX.rebuild()
    assert agrees() and found("crash") == [row]


@pytest.fixture
def no_fts5(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A build of SQLite without FTS5, as far as we ask it."""

    def without(connection: object) -> Capabilities:
        return dataclasses.replace(capabilities(connection), fts5=False)

    monkeypatch.setattr(text_index, "capabilities", without)
    INDEX.ensure()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE feedback_fts")
    return iter([None])


def test_without_fts5_feedback_is_written_and_found_by_parts_of_words(
    no_fts5: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert INDEX.in_step()
    one, both = record("A crash of the parser"), record("A crash of the login")
    with caplog.at_level(logging.WARNING):
        assert found("login crash") == [both, one]
    assert "without the text index" in caplog.text
    write.delete(one.ulid)
    assert found("crash") == [both]


@pytest.mark.parametrize("event", ["insert", "update", "delete"])
def test_a_lost_trigger_is_noticed_and_the_index_made_right(event: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER feedback_fts_{event}")
    row = record("A crash")
    assert not INDEX.in_step()
    database.ready()
    assert INDEX.in_step() and agrees()
    assert found("crash") == [row]


def test_a_build_without_fts5_can_be_told_to_rebuild(no_fts5: None) -> None:
    INDEX.rebuild()
    assert INDEX.in_step()


def test_a_build_that_has_fts5_again_makes_the_index_anew(
    no_fts5: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = record("A crash")
    monkeypatch.setattr(text_index, "capabilities", capabilities)
    assert not INDEX.in_step()
    INDEX.ensure()
    assert INDEX.in_step() and agrees()
    assert search.find("crash")[0].score
    assert found("crash") == [row]

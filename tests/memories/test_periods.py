"""Periods that a query names, and the memories of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from memories import dated, periods
from memories.models import Memory
from memories.scope import EVERYTHING, Scope
from memories.search import find
from tests.factories import make_memory

# A Wednesday.
NOW = datetime(2024, 3, 13, 15, 30, tzinfo=UTC)


def spans(query: str) -> list[str]:
    """First and last day of the likeliest meaning of each period."""
    return [
        f"{likeliest.start:%Y-%m-%d} {likeliest.end - timedelta(days=1):%Y-%m-%d}"
        for likeliest, *_ in periods.named(query, NOW)
    ]


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        # What is told of a day is often written down on the next.
        ("what broke on 2023-05-07?", "2023-05-07", "2023-05-08"),
        ("the talk of 7 May 2023", "2023-05-07", "2023-05-08"),
        ("the talk on May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("le 1er mai 2023", "2023-05-01", "2023-05-02"),
        ("on March 14", "2023-03-14", "2023-03-15"),
        ("who joined in June?", "2023-06-01", "2023-06-30"),
        ("who joined in March", "2024-03-01", "2024-03-31"),
        ("february 2024", "2024-02-01", "2024-02-29"),
        ("en août", "2023-08-01", "2023-08-31"),
        ("la fin d\u2019avril 2023", "2023-04-01", "2023-04-30"),
        ("3 days ago", "2024-03-09", "2024-03-11"),
        ("two weeks ago", "2024-02-24", "2024-03-03"),
        ("a month ago", "2024-01-27", "2024-02-28"),
        ("il y a deux ans", "2021-09-12", "2022-09-13"),
        ("what did we do today", "2024-03-13", "2024-03-13"),
        ("yesterday's deploy", "2024-03-12", "2024-03-12"),
        ("hier", "2024-03-12", "2024-03-12"),
        ("avant-hier", "2024-03-11", "2024-03-11"),
        ("aujourd\u2019hui", "2024-03-13", "2024-03-13"),
        ("this week", "2024-03-11", "2024-03-17"),
        ("last week's meeting", "2024-03-04", "2024-03-10"),
        ("last month", "2024-02-01", "2024-02-29"),
        ("last year", "2023-01-01", "2023-12-31"),
        ("la semaine dernière", "2024-03-04", "2024-03-10"),
        ("le mois passé", "2024-02-01", "2024-02-29"),
        ("l'année dernière", "2023-01-01", "2023-12-31"),
        ("ce mois-ci", "2024-03-01", "2024-03-31"),
        ("where did we meet in 2022?", "2022-01-01", "2022-12-31"),
    ],
)
def test_periods_are_read_in_english_and_french(
    query: str, first: str, last: str
) -> None:
    assert spans(query) == [f"{first} {last}"]


@pytest.mark.parametrize(
    "query",
    [
        "you may deploy",
        "the march of progress",
        "un mars pour la route",
        "in 2048 chunks",
        "in 2031",
        "this year's kernel",
        "2024-13-45 or 31 June 2023",
        "port 2023",
        "mayor of junction city",
        "",
    ],
)
def test_what_only_looks_like_a_period_is_none(query: str) -> None:
    assert spans(query) == []


def test_two_periods_are_both_read() -> None:
    assert len(spans("in May 2023 or on 2 June 2022, not last week")) == 3


def test_a_month_without_a_year_may_be_of_an_earlier_year() -> None:
    (found,) = periods.named("in June", NOW)
    assert [span.start.year for span in found] == list(range(2023, 2014, -1))


def test_days_are_those_of_the_user_unless_a_moment_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        ((day,),) = periods.named("on 2023-05-07")
        assert day.start == datetime(2023, 5, 7, 4, tzinfo=UTC)
        ((day,),) = periods.named("on 2023-05-07", NOW)
        assert day.start == datetime(2023, 5, 7, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


def raw() -> Any:
    connection.ensure_connection()
    return connection.connection


def at(day: str, text: str, **fields: Any) -> Memory:
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return make_memory(text, created_at=moment, dedup=False, **fields)


def found(query: str, **how: Any) -> list[int]:
    return [hit.memory_id for hit in find(raw(), query, now=NOW, **how)]


@pytest.mark.django_db
def test_of_two_matches_the_one_of_the_period_comes_first() -> None:
    other = at("2024-01-10", "The proxy was moved to the staging host.")
    wanted = at("2024-03-05", "The proxy was moved back, after the host had failed.")
    assert found("moved the proxy to the staging host") == [other.pk, wanted.pk]
    hits = find(raw(), "moved the proxy host last week", now=NOW)
    assert [hit.memory_id for hit in hits] == [wanted.pk, other.pk]
    assert hits[0].ranks["period"] == 1
    assert "period" not in hits[1].ranks


@pytest.mark.django_db
def test_a_period_alone_finds_its_memories_newest_first() -> None:
    at("2024-03-11", "Ghost was upgraded.")
    first = at("2024-03-12T08:00", "The proxy was replaced.")
    second = at("2024-03-12T18:00", "Lunch is at noon.")
    hits = find(raw(), "what did we do yesterday?", now=NOW)
    assert [hit.memory_id for hit in hits] == [second.pk, first.pk]
    assert {hit.decided for hit in hits} == {"period"}
    assert found("yesterday", scope=Scope(topics=("elsewhere",))) == []


@pytest.mark.django_db
def test_a_memory_belongs_to_the_time_of_what_it_is_about_too() -> None:
    moment = datetime(2023, 5, 20, tzinfo=UTC)
    memory = at("2024-03-01", "The proxy was replaced.", occurred_at=moment)
    assert found("in May 2023") == [memory.pk]
    assert found("in March 2024") == [memory.pk]
    assert found("in May") == [memory.pk]
    assert found("in April 2023") == []


@pytest.mark.django_db
def test_candidates_beyond_the_newest_of_a_period_are_of_it_as_well() -> None:
    old = at("2024-03-04", "The zanzibar proxy is down.")
    for n in range(25):
        at("2024-03-06", f"Note {n} about the proxy and subject {n * 31}.")
    (hit,) = find(raw(), "zanzibar last week", now=NOW, limit=1, depth=20)
    assert hit.memory_id == old.pk
    assert hit.ranks["period"] > 20


@pytest.mark.django_db
def test_the_memories_of_a_period_are_found_by_indexes() -> None:
    (day,) = periods.named("in May 2023", NOW)[0]
    statement = f"EXPLAIN QUERY PLAN {dated.NEWEST}"
    bounds = ("2023-05-01", "2023-06-01", *EVERYTHING.parameters, 5)
    plan = str(raw().execute(statement, (*bounds, *bounds, 5)).fetchall())
    assert "memories_created" in plan and "memories_occurred" in plan
    few = f"EXPLAIN QUERY PLAN {dated.NEWEST_OF_FEW}"
    bounds = ("2023-05-01", "2023-06-01", "[1, 2]", 5)
    plan = str(raw().execute(few, (*bounds, *bounds, 5)).fetchall())
    assert "USING INTEGER PRIMARY KEY" in plan and "memories_created" not in plan
    found = dated.newest(raw(), [day], scope=EVERYTHING, within=None, depth=5)
    assert found == (None, [])


@pytest.mark.django_db
@pytest.mark.parametrize("few", [0, 5_000])
def test_a_period_within_a_scope_is_the_same_by_either_index(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dated, "FEW", few)
    moment = datetime(2023, 5, 20, tzinfo=UTC)
    wanted = [
        at("2024-03-11", "The proxy was replaced.", topic="a"),
        at("2024-02-01", "Lunch is at noon.", topic="a", occurred_at=NOW),
    ]
    at("2024-03-12", "The proxy was moved.", topic="b")
    at("2024-01-12", "The proxy was tested.", topic="a", occurred_at=moment)
    scope = Scope(topics=("a",))
    found = find(raw(), "what happened this week?", now=NOW, scope=scope)
    assert [hit.memory_id for hit in found] == [m.pk for m in reversed(wanted)]

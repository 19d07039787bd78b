"""Search over concepts: words, labels, both; what is outdated gives way."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from icm_site.errors import InvalidInput
from memoirs import lookup, search, write
from memoirs.indexes import INDEX
from memoirs.models import Concept
from tests.factories import CALLER
from tests.memoirs.memoir_factories import (
    NAME,
    make_concept,
    make_graph,
    make_link,
    make_memoir,
)

pytestmark = pytest.mark.django_db


def names(
    query: str, *, memoir: str | None = NAME, limit: int = 10, label: str | None = None
) -> list[str]:
    key = lookup.memoir(memoir).pk if memoir else None
    hits = search.find(query, limit=limit, memoir_id=key, label=label)
    known = dict(Concept.objects.values_list("pk", "name"))
    return [known[hit.concept_id] for hit in hits]


def make_shop() -> None:
    make_concept(
        "auth-service",
        "Handles JWT tokens and OAuth2 flows",
        labels=["domain:auth", "type:service"],
    )
    make_concept("api-gateway", "Routes requests to a service", labels=["type:service"])
    make_concept("ledger", "Keeps what was paid, never changed", labels=["domain:pay"])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("OAuth2 flows", ["auth-service"]),
        ("jwt", ["auth-service"]),
        ("the ledger", ["ledger"]),
        ("paid or requested", ["ledger", "api-gateway"]),
        ("domain pay", ["ledger", "auth-service"]),
        ("AUTHENTICATION", ["auth-service"]),
        ("weather", []),
        ("the of", []),
        ('" OR * NEAR(', []),
        ("\ud800", []),
    ],
)
def test_words_find_concepts(query: str, found: list[str]) -> None:
    make_shop()
    assert sorted(names(query)) == sorted(found)


def test_a_name_counts_more_than_a_mention() -> None:
    make_concept("queue", "Holds what is to be done later on")
    make_concept("worker", "Takes jobs from the queue one by one")
    make_concept("mailer", "Sends what is due")
    assert names("queue")[0] == "queue"


def test_the_more_words_the_better() -> None:
    make_shop()
    assert names("service that routes requests")[0] == "api-gateway"


def test_confidence_breaks_ties() -> None:
    for name, confidence in [("one", 0.3), ("two", 0.9), ("six", 0.5)]:
        make_concept(name, "answers the phone")
        write.update_concept(NAME, name, confidence=confidence, caller=CALLER)
    assert names("phone") == ["two", "six", "one"]


def test_a_refined_text_is_found_and_the_old_one_no_more() -> None:
    make_concept("a", "speaks French")
    write.refine(NAME, "a", definition="speaks Norwegian", caller=CALLER)
    assert (names("Norwegian"), names("French")) == (["a"], [])


def test_other_memoirs_are_not_searched_unless_all_are() -> None:
    make_shop()
    make_concept("jwt-lib", "Parses JWT", memoir="other")
    assert names("jwt") == ["auth-service"]
    assert sorted(names("jwt", memoir=None)) == ["auth-service", "jwt-lib"]


def test_a_label_alone_lists_its_concepts() -> None:
    make_shop()
    assert names("", label="type:service") == ["api-gateway", "auth-service"]
    assert names(" ", label=" type : service ") == ["api-gateway", "auth-service"]


@pytest.mark.parametrize(
    "label", ["type:serv", "type:Service", "kind:service", "service"]
)
def test_a_label_is_compared_exactly(label: str) -> None:
    make_shop()
    assert names("", label=label) == []


def test_a_label_without_namespace_is_a_tag() -> None:
    make_concept("a", labels=["edge"])
    assert names("", label="edge") == names("", label="tag:edge") == ["a"]


def test_query_and_label_must_both_hold() -> None:
    make_shop()
    assert names("service", label="domain:auth") == ["auth-service"]
    assert names("ledger", label="domain:auth") == []


def test_the_limit_holds_after_both() -> None:
    for place in range(130):
        make_concept(f"c{place}", "works in the engine room")
    make_concept(
        "captain",
        "knows the engine a little, and much besides, on deck "
        "and below, in fair weather and foul",
        labels=["role:chief"],
    )
    assert names("engine", label="role:chief", limit=1) == ["captain"]
    assert len(names("engine", limit=7)) == 7


@pytest.mark.parametrize(("given", "count"), [(-5, 1), (0, 1), (10**12, 3)])
def test_a_limit_is_clamped(given: int, count: int) -> None:
    for name in ("a1", "a2", "a3"):
        make_concept(name, "floats")
    assert len(names("floats", limit=given)) == count


def test_a_wrong_label_is_refused() -> None:
    make_memoir()
    with pytest.raises(InvalidInput, match="must look like namespace:value"):
        names("x", label="domain:")


def test_unspaced_scripts_are_found() -> None:
    make_concept("認証", "利用者の身元を確認する仕組み")
    assert names("身元確認") == names("認") == ["認証"]


def test_the_current_concept_stands_in_for_the_one_it_replaced() -> None:
    make_concept("legacy-auth", "Basic passwords in the session cookie")
    make_concept("oauth", "Tokens")
    make_concept("passkeys", "No more typing")
    make_link("legacy-auth", "superseded_by", "oauth")
    make_link("oauth", "superseded_by", "passkeys")
    assert names("session cookie") == ["passkeys"]
    assert names("tokens cookie") == ["passkeys"]


def test_a_successor_without_the_label_does_not_hide_what_has_it() -> None:
    make_concept("old", "Basic passwords", labels=["state:deprecated"])
    make_concept("new", "Tokens")
    make_link("old", "superseded_by", "new")
    assert names("", label="state:deprecated") == ["old"]
    assert names("passwords", label="state:deprecated") == ["old"]
    assert names("passwords") == ["new"]


def test_two_successors_both_stand_in() -> None:
    make_graph("monolith superseded_by shop", "monolith superseded_by stock")
    assert sorted(names("monolith")) == ["shop", "stock"]


def test_without_a_text_index_parts_of_words_are_found() -> None:
    make_shop()
    with connection.cursor() as cursor:
        for statement in INDEX.drop:
            cursor.execute(statement)
    make_concept("late", "Added while there is no index, for tokens")
    assert sorted(names("tokens")) == ["auth-service", "late"]
    assert names("oauth flows")[0] == "auth-service"
    INDEX.ensure()
    assert sorted(names("tokens")) == ["auth-service", "late"]


def test_a_search_takes_the_same_number_of_queries_for_any_number_of_rows() -> None:
    counts = []
    for place in range(60):
        make_concept(f"c{place}", "works in the engine room")
        if place in (3, 59):
            with CaptureQueriesContext(connection) as queries:
                search.find("engine room", limit=10)
            counts.append(len(queries))
    assert counts[0] == counts[1] <= 5

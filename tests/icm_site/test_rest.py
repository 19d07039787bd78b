"""The rows over HTTP: list, filter, search, order, page, read, edit, delete."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memories import store
from memories.models import Memory, MemoryUsage, Suggestion
from tests.factories import AGENT, CALLER, make_memory, perform
from tests.web import with_token

pytestmark = pytest.mark.django_db

NOUNS = ("memories", "memoirs", "concepts", "links", "feedback")
READ_ONLY = ("changes", "suggestions")


def seed() -> dict[str, str]:
    """Rows of every kind; the ids by noun."""
    first = make_memory("The shop runs on Postgres 16.", importance="high")
    make_memory("Müller picks the colours.", topic="preferences", caller=AGENT)
    make_memory("時間外の受付はしない。", topic="context-bakery", keywords=["受付"])
    gone = make_memory("A mistake.", topic="context-shop")
    store.forget(gone.ulid, caller=CALLER)
    memoir = perform("memoir_create", name="shop", description="How the shop works")
    for name in ("checkout", "order-store"):
        perform(
            "memoir_add_concept",
            memoir="shop",
            name=name,
            definition=f"What {name} is",
            labels=f"part:{name}",
        )
    ends: dict[str, Any] = {"from": "checkout", "to": "order-store"}
    link = perform("memoir_link", memoir="shop", relation="depends_on", **ends)
    concept = perform("memoir_history", memoir="shop", name="checkout").concept
    recorded = perform(
        "feedback_record",
        topic="deploy",
        context="Friday",
        predicted="Ten minutes",
        corrected="An hour",
        memory=first.ulid,
    )
    return {
        "memories": first.ulid,
        "memoirs": memoir.id,
        "concepts": concept.id,
        "links": link.link.id,
        "feedback": recorded.feedback.id,
        "changes": perform("memory_get", id=first.ulid).history[0].change,
        "suggestions": Suggestion.objects.create(
            kind="may_update",
            source=Memory.objects.get(ulid=gone.ulid),
            target=Memory.objects.get(ulid=first.ulid),
            score=0.5,
        ).ulid,
    }


def texts(reply: Any) -> list[str]:
    return [row["summary"] for row in reply["results"]]


SHOP, COLOURS, HOURS = (
    "The shop runs on Postgres 16.",
    "Müller picks the colours.",
    "時間外の受付はしない。",
)

FILTERS = [
    ("", [HOURS, COLOURS, SHOP]),
    ("topic=Decisions-Shop", [SHOP]),
    ("topic=decisions", []),
    ("project=shop", [SHOP]),
    ("importance=high", [SHOP]),
    ("origin=agent", [COLOURS]),
    ("host=claude-code", [COLOURS]),
    ("state=forgotten", ["A mistake."]),
    ("state=any&project=shop", ["A mistake.", SHOP]),
    ("search=postgres", [SHOP]),
    ("search=muller", [COLOURS]),
    ("search=受付", [HOURS]),
    ("search=shop+colours", []),
    ("search=%25", []),
    ("search=%00", []),
    ("keyword=受付", [HOURS]),
    ("keyword=受", []),
    ("keyword=%25", []),
    ("session=s1", []),
    ("embedded=false&search=shop", [SHOP]),
    ("embedded=True", []),
    ("min_weight=0.5&importance=high", [SHOP]),
    ("max_weight=0.5", []),
    ("created_after=2026-01-01", [HOURS, COLOURS, SHOP]),
    ("created_before=2026-01-01", []),
    ("accessed_after=2026-01-01T00:00:00%2B02:00&host=claude-code", [COLOURS]),
    ("updated_before=9999-12-31", [HOURS, COLOURS, SHOP]),
    ("ordering=created_at", [SHOP, COLOURS, HOURS]),
    ("ordering=-topic", [COLOURS, SHOP, HOURS]),
    ("ordering=weight&limit=1", [SHOP]),
]

REFUSED = [
    ("topic=", "topic must not be empty"),
    ("importance=grave", "unknown importance 'grave': use one of critical, high"),
    ("state=gone", "unknown state 'gone': use one of live, superseded"),
    ("origin=x", "unknown origin 'x': use one of user, agent, hook, import"),
    ("topc=shop", "unknown parameter 'topc': use one of accessed_after"),
    ("topic=a&topic=b", "topic is given more than once"),
    ("limit=1&limit=2", "limit is given more than once"),
    ("format=xml", "unknown format 'xml': use one of json, api"),
    ("created_after=May", "not a time: 'May'; write 2026-05-01 or"),
    ("created_after=", "not a time: ''"),
    ("created_before=0001-01-01T00:00:00%2B14:00", "not a time: '0001-"),
    ("min_weight=nan", "not a number from 0 to 1: 'nan'"),
    ("max_weight=%C2%B2", "not a number from 0 to 1: "),
    ("embedded=perhaps", "unknown value 'perhaps': use one of true, false"),
    ("ordering=summary", "unknown ordering 'summary': use one of created_at"),
    ("limit=0", "limit must be a number from 1 to 500"),
    ("limit=501", "limit must be a number from 1 to 500"),
    ("limit=%C2%B2", "limit must be a number from 1 to 500"),
    ("cursor=nonsense", "the cursor is not one that this list gave"),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_a_list_shows_what_is_asked_for(query: str, expected: list[str]) -> None:
    seed()
    assert texts(with_token().get(f"/api/memories/?{query}")) == expected


@pytest.mark.parametrize(("query", "sentence"), REFUSED)
def test_a_list_refuses_what_it_does_not_know(query: str, sentence: str) -> None:
    reply = with_token()("GET", f"/api/memories/?{query}")
    assert reply.status == 400
    assert reply.body["error"].startswith(sentence)


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("memoirs/?search=how+works", 1),
        ("memoirs/?search=bakery", 0),
        ("memoirs/?ordering=-concepts", 1),
        ("concepts/?memoir=shop", 2),
        ("concepts/?memoir=bakery", 0),
        ("concepts/?label=part:checkout", 1),
        ("concepts/?search=order", 1),
        ("concepts/?origin=user&ordering=-confidence", 2),
        ("links/?relation=depends-on&memoir=shop", 1),
        ("links/?concept=checkout", 1),
        ("links/?concept=nobody", 0),
        ("links/?search=order", 1),
        ("feedback/?topic=Deploy", 1),
        ("feedback/?search=hour+friday", 1),
        ("feedback/?search=nothing", 0),
        ("feedback/?source=nobody", 0),
        ("memoirs/?name=shop&created_after=2026-01-01", 1),
        ("concepts/?min_confidence=0.5", 2),
        ("concepts/?max_confidence=0.1", 0),
        ("changes/", 5),
        ("changes/?operation=forget&undone=false", 1),
        ("changes/?undone=true", 0),
        ("changes/?host=claude-code&origin=agent&surface=mcp", 1),
        ("changes/?at_before=2026-01-01", 0),
        ("suggestions/?status=open&kind=may_update&min_score=0.5", 1),
        ("suggestions/?status=dismissed", 0),
        ("suggestions/?ordering=score", 1),
    ],
)
def test_the_other_nouns_have_filters_too(path: str, count: int) -> None:
    seed()
    assert len(with_token().get(f"/api/{path}")["results"]) == count


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("concepts/?origin=nobody", "unknown origin 'nobody': use one of user"),
        ("concepts/?label=", "label"),
        ("links/?relation=eats", "unknown relation 'eats': use one of"),
        ("feedback/?memory=x", "not an id: 'x'"),
        ("changes/?memory=x", "not an id: 'x'"),
        ("changes/?search=x", "this list has no search"),
        ("suggestions/?status=gone", "unknown status 'gone': use one of open"),
    ],
)
def test_the_other_nouns_refuse_a_bad_value(path: str, sentence: str) -> None:
    reply = with_token()("GET", f"/api/{path}")
    assert (reply.status, list(reply.body)) == (400, ["error"])
    assert reply.body["error"].startswith(sentence)


def test_the_changes_of_a_memory_are_found_by_its_id() -> None:
    ids, program = seed(), with_token()
    store.forget(ids["memories"], caller=AGENT)
    found = program.get(f"/api/changes/?memory={ids['memories']}")["results"]
    assert [row["operation"] for row in found] == ["forget", "store"]
    assert {(row["count"], *row["memories"]) for row in found} == {(1, ids["memories"])}
    assert (found[0]["host"], found[0]["origin"]) == (AGENT.host, AGENT.origin)


def test_a_change_of_many_memories_shows_the_first_hundred() -> None:
    ids = [make_memory(f"Fact {n}.", dedup=False).ulid for n in range(103)]
    perform("memory_forget_topic", topic="decisions-shop")
    row = with_token().get("/api/changes/?limit=1")["results"][0]
    assert (row["count"], len(set(row["memories"]))) == (103, 100)
    assert set(row["memories"]) < set(ids)


@pytest.mark.parametrize("noun", [*NOUNS, *READ_ONLY])
def test_a_row_is_read_by_its_id_in_either_case(noun: str) -> None:
    identifier, program = seed()[noun], with_token()
    row = program.get(f"/api/{noun}/{identifier}/")
    assert row["id"] == identifier
    assert program.get(f"/api/{noun}/{identifier.lower()}/") == row
    assert row in program.get(f"/api/{noun}/")["results"]


def test_a_memory_looks_as_on_every_surface() -> None:
    memory = make_memory()
    row = with_token().get(f"/api/memories/{memory.ulid}/")
    shown = perform("memory_get", id=memory.ulid).memory
    assert row == shown.model_dump(mode="json")


@pytest.mark.parametrize("noun", [*NOUNS, *READ_ONLY])
@pytest.mark.parametrize("identifier", ["nonsense", "01JZZZZZZZZZZZZZZZZZZZZZZZ"])
def test_an_unknown_id_is_not_found(noun: str, identifier: str) -> None:
    reply = with_token()("GET", f"/api/{noun}/{identifier}/")
    assert reply.status == 404
    assert reply.body["error"].endswith(f"not found: {identifier}")


@pytest.mark.parametrize("ordering", ["weight", "-weight", "created_at", "topic"])
def test_pages_hold_each_row_once_though_all_are_equal(ordering: str) -> None:
    ids = [make_memory(f"Fact {n}.", dedup=False).ulid for n in range(25)]
    MemoryUsage.objects.update(weight=0.5)
    program = with_token()
    address = f"/api/memories/?ordering={ordering}&limit=10"
    pages = []
    while address:
        page = program.get(address)
        pages.append([row["id"] for row in page["results"]])
        address = path_of(page["next"])
        before = path_of(page["previous"])
    found = [identifier for page in pages for identifier in page]
    assert sorted(found) == ids and len(found) == 25
    back = program.get(before)
    assert [row["id"] for row in back["results"]] == pages[1]
    assert path_of(back["next"]) is not None


def path_of(address: str | None) -> str:
    if address is None:
        return ""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


def test_rows_that_come_and_go_shift_no_page() -> None:
    for n in range(6):
        make_memory(f"Fact {n}.", dedup=False)
    program = with_token()
    first = program.get("/api/memories/?limit=2")
    make_memory("A late fact.", dedup=False)
    second = program.get(path_of(first["next"]))
    assert texts(second) == ["Fact 3.", "Fact 2."]


def test_a_cursor_belongs_to_its_order() -> None:
    for n in range(3):
        make_memory(f"Fact {n}.", dedup=False)
    program = with_token()
    first = program.get("/api/memories/?limit=1")
    other = path_of(first["next"]) + "&ordering=weight"
    assert program("GET", other).status == 400


@pytest.mark.parametrize("noun", [*NOUNS, *READ_ONLY])
def test_a_longer_list_costs_no_more_queries(noun: str) -> None:
    seed()
    program = with_token()
    program.get(f"/api/{noun}/")
    with CaptureQueriesContext(connection) as one:
        program.get(f"/api/{noun}/?limit=1")
    with CaptureQueriesContext(connection) as many:
        program.get(f"/api/{noun}/")
    assert len(many) <= len(one) <= 12


def test_an_edit_goes_through_the_store_and_can_be_undone() -> None:
    memory, program = make_memory(), with_token("notebook")
    reply = program(
        "PATCH",
        f"/api/memories/{memory.ulid}/",
        {"summary": "The key is AKIAQ3EGRTUVWX5Z7ABC.", "keywords": ["db", "db"]},
    )
    assert reply.status == 200
    assert reply.body["redacted"] == ["aws-access-key"]
    assert "AKIA" not in reply.body["summary"]
    assert reply.body["keywords"] == ["db"]
    entry = perform("memory_get", id=memory.ulid).history[0]
    assert (entry.surface, entry.host) == ("http", "notebook")
    assert entry.change == reply.body["change"]
    program.op("memory_undo", id=reply.body["change"])
    assert program.get(f"/api/memories/{memory.ulid}/")["summary"] == memory.summary


EDITS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("memories", {"importance": "critical"}, {"importance": "critical"}),
    ("memories", {"raw_excerpt": "as it was"}, {"raw_excerpt": "as it was"}),
    ("memories", {"topic": "a", "nonsense": 1}, {"topic": "a"}),
    ("memoirs", {"name": "bakery"}, {"name": "bakery"}),
    ("memoirs", {"consolidation_threshold": 1}, {"full": True}),
    ("concepts", {"definition": "Takes orders"}, {"revision": 2, "confidence": 0.6}),
    ("concepts", {"labels": ["x"], "confidence": 0.9}, {"labels": ["tag:x"]}),
    (
        "concepts",
        {"name": "till", "definition": "Takes orders"},
        {"name": "till", "revision": 2},
    ),
    ("links", {"weight": 0.25}, {"weight": 0.25}),
]


@pytest.mark.parametrize(("noun", "given", "expected"), EDITS)
def test_given_fields_change_and_others_stay(
    noun: str, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    identifier, program = seed()[noun], with_token()
    before = program.get(f"/api/{noun}/{identifier}/")
    reply = program("PATCH", f"/api/{noun}/{identifier}/", given)
    assert reply.status == 200, reply.body
    assert {name: reply.body[name] for name in expected} == expected
    after = program.get(f"/api/{noun}/{identifier}/")
    assert {name: reply.body[name] for name in after} == after
    assert after["created_at"] == before["created_at"]


BAD_EDITS: list[tuple[str, Any, int, str]] = [
    ("memories", {}, 400, "nothing to update: give content or another field"),
    ("memories", {"summary": " "}, 400, "content must not be empty"),
    ("memories", {"summary": ["x"]}, 400, "summary: not a valid string"),
    ("memories", {"importance": "x"}, 400, 'importance: "x" is not a valid choice'),
    ("memories", {"keywords": [{}]}, 400, "keywords: 0: not a valid string"),
    ("memories", {"topic": "x" * 300}, 400, "topic is too long: 300 bytes"),
    ("memories", [1], 400, "invalid data"),
    ("memories", "{", 400, "JSON parse error"),
    ("memoirs", {}, 400, "nothing to update"),
    ("memoirs", {"consolidation_threshold": 0}, 400, "consolidation_threshold: "),
    ("concepts", {"name": "order-store"}, 409, "concept already exists in 'shop'"),
    ("concepts", {"confidence": 2}, 400, "confidence: ensure this value is less"),
    ("links", {}, 400, "nothing to update: give a weight"),
    ("feedback", {"topic": "x"}, 405, 'method "PATCH" not allowed'),
]


@pytest.mark.parametrize(("noun", "given", "status", "sentence"), BAD_EDITS)
def test_a_bad_edit_changes_nothing_and_says_why(
    noun: str, given: Any, status: int, sentence: str
) -> None:
    identifier, program = seed()[noun], with_token()
    before = program.get(f"/api/{noun}/{identifier}/")
    reply = program("PATCH", f"/api/{noun}/{identifier}/", given)
    assert (reply.status, list(reply.body)) == (status, ["error"])
    assert reply.body["error"].lower().startswith(sentence.lower()), reply.body
    assert program.get(f"/api/{noun}/{identifier}/") == before


@pytest.mark.parametrize("nothing", ["", None])
def test_an_excerpt_is_taken_away(nothing: str | None) -> None:
    memory, program = make_memory(raw_excerpt="as it was"), with_token()
    path = f"/api/memories/{memory.ulid}/"
    assert program("PATCH", path, {"raw_excerpt": nothing}).body["raw_excerpt"] is None
    assert program.get(path)["raw_excerpt"] is None


@pytest.mark.parametrize("noun", ["memories", "memoirs", "concepts", "links"])
def test_a_row_can_be_sent_back_as_it_came(noun: str) -> None:
    identifier, program = seed()[noun], with_token()
    path = f"/api/{noun}/{identifier}/"
    row = program.get(path)
    reply = program("PATCH", path, row)
    assert reply.status == 200, reply.body
    same = {name: reply.body[name] for name in row.keys() - {"updated_at"}}
    assert {name: row[name] for name in same} == same


def test_half_an_edit_of_a_concept_is_none() -> None:
    identifier, program = seed()["concepts"], with_token()
    given = {"definition": "Another", "name": "order-store"}
    assert program("PATCH", f"/api/concepts/{identifier}/", given).status == 409
    assert program.get(f"/api/concepts/{identifier}/")["revision"] == 1


def test_deleting_a_memory_hides_it_and_says_how_to_undo() -> None:
    memory, program = make_memory(), with_token()
    reply = program("DELETE", f"/api/memories/{memory.ulid}/")
    assert (reply.status, reply.body["id"]) == (200, memory.ulid)
    assert texts(program.get("/api/memories/")) == []
    assert program("DELETE", f"/api/memories/{memory.ulid}/").status == 409
    program.op("memory_undo", id=reply.body["change"])
    assert texts(program.get("/api/memories/")) == [memory.summary]


@pytest.mark.parametrize(
    ("noun", "gone"),
    [
        ("memoirs", {"concepts": 2, "links": 1}),
        ("concepts", {"links": 1}),
        ("links", {}),
        ("feedback", {}),
    ],
)
def test_deleting_erases_the_others(noun: str, gone: dict[str, int]) -> None:
    identifier, program = seed()[noun], with_token()
    reply = program("DELETE", f"/api/{noun}/{identifier}/")
    assert (reply.status, reply.body) == (200, {"id": identifier, **gone})
    assert program("GET", f"/api/{noun}/{identifier}/").status == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.parametrize("noun", [*NOUNS, *READ_ONLY])
def test_a_read_only_token_changes_no_row(noun: str, method: str) -> None:
    identifier, program = seed()[noun], with_token(read_only=True)
    reply = program(method, f"/api/{noun}/{identifier}/", {})
    assert reply.status in (403, 405)
    assert program.get(f"/api/{noun}/{identifier}/")["id"] == identifier


@pytest.mark.parametrize("method", ["POST", "PUT", "TRACE"])
def test_new_rows_come_by_the_verbs(method: str) -> None:
    reply = with_token()(method, "/api/memories/", {})
    assert (reply.status, list(reply.body)) == (405, ["error"])


def test_a_body_that_is_no_json_is_refused() -> None:
    memory = make_memory()
    answer = Client(headers={"Authorization": f"Bearer {with_token().secret}"}).patch(
        f"/api/memories/{memory.ulid}/", b"topic=x", content_type="text/plain"
    )
    assert (answer.status_code, list(answer.json())) == (415, ["error"])


def test_a_body_that_nests_too_deep_is_refused() -> None:
    path = f"/api/memories/{make_memory().ulid}/"
    answer = Client(headers={"Authorization": f"Bearer {with_token().secret}"}).patch(
        path, b"[" * 50_000, content_type="application/json"
    )
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "the body is nested too deep"},
    )


def test_markup_in_a_memory_is_text_in_the_browser() -> None:
    make_memory("<script>alert(1)</script> <b>bold</b>")
    client = Client(headers={"Accept": "text/html"})
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    page = client.get("/api/memories/").content.decode()
    assert "alert(1)" in page and "<script>alert" not in page and "<b>bold" not in page


def test_a_browser_without_a_login_gets_a_page_that_leads_to_it() -> None:
    answer = Client(headers={"Accept": "text/html"}).get("/api/memories/")
    assert answer.status_code == 401
    assert "/session/login/" in answer.content.decode()
    assert Client().get("/session/login/?next=/api/").headers["Location"] == (
        "/admin/login/?next=/api/"
    )

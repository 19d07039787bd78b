"""The page of a memoir's graph, and what it reads and writes as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from tests.factories import perform
from tests.memoirs.test_memoir_admin import memoir, owner

__all__ = ["memoir", "owner"]

pytestmark = pytest.mark.django_db


def place(memoir: Memoir, part: str = "") -> str:
    return f"/admin/memoirs/memoir/{memoir.pk}/graph/{part}"


def write(client: Client, memoir: Memoir, **body: Any) -> Any:
    """The answer to an act that must be a success."""
    answer = client.post(place(memoir, "write/"), body, "application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def refused(client: Client, memoir: Memoir, body: Any) -> tuple[int, str]:
    text = body if isinstance(body, str) else json.dumps(body)
    answer = client.post(place(memoir, "write/"), text, "application/json")
    return answer.status_code, answer.json()["error"]


def ids() -> dict[str, str]:
    return {concept.name: concept.ulid for concept in Concept.objects.all()}


def link(**more: str) -> ConceptLink:
    ends: dict[str, Any] = {"from": "checkout", "to": "order-store"}
    perform("memoir_link", memoir="shop", relation="depends_on", **ends | more)
    return ConceptLink.objects.latest("id")


def test_without_a_script_the_page_is_a_list(owner: Client, memoir: Memoir) -> None:
    link()
    text = owner.get(place(memoir)).content.decode()
    assert "What checkout is" in text and "depends_on → order-store" in text
    assert "cytoscape-3.35.0.min.js" in text


def test_the_graph_is_read_whole_in_a_few_queries(
    owner: Client, memoir: Memoir
) -> None:
    made = link()
    counts = []
    for n in range(2):
        for k in range(9 * n):
            given: dict[str, Any] = {"name": f"c{k}", "definition": "x"}
            perform("memoir_add_concept", memoir="shop", **given)
        with CaptureQueriesContext(connection) as seen:
            found = owner.get(place(memoir, "data/")).json()
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 6
    assert len(found["concepts"]) == 11
    assert found["links"] == [
        {
            "id": made.ulid,
            "source": ids()["checkout"],
            "target": ids()["order-store"],
            "relation": "depends_on",
            "weight": 1.0,
        }
    ]


def test_a_link_is_added_retyped_and_deleted(owner: Client, memoir: Memoir) -> None:
    ends = {"source": ids()["checkout"], "target": ids()["order-store"]}
    made = write(owner, memoir, act="link", relation="part_of", **ends)["links"][0]
    assert ConceptLink.objects.get().origin == "user"
    new = write(owner, memoir, act="retype", link=made["id"], relation="caused_by")
    assert [row["relation"] for row in new["links"]] == ["caused_by"]
    gone = write(owner, memoir, act="unlink", link=new["links"][0]["id"])
    assert gone["links"] == [] and not ConceptLink.objects.exists()


def test_a_retype_that_is_refused_leaves_the_link(
    owner: Client, memoir: Memoir
) -> None:
    first = link()
    status, error = refused(
        owner, memoir, {"act": "retype", "link": first.ulid, "relation": "nonsense"}
    )
    assert status == 400 and "unknown relation" in error
    assert ConceptLink.objects.filter(ulid=first.ulid).exists()


def test_a_concept_is_edited_in_place_and_its_past_is_kept(
    owner: Client, memoir: Memoir
) -> None:
    write(
        owner,
        memoir,
        act="edit",
        concept=ids()["checkout"],
        name="till",
        definition="Where people pay.",
        labels="area:shop, part:x",
        confidence=0.9,
    )
    concept = Concept.objects.get(name="till")
    assert (concept.definition, concept.confidence) == ("Where people pay.", 0.9)
    assert (concept.labels, concept.origin) == (["area:shop", "part:x"], "user")
    past = ConceptRevision.objects.filter(concept=concept)
    assert past.filter(definition="What checkout is", surface="admin").exists()


def test_an_edit_without_a_difference_is_none(owner: Client, memoir: Memoir) -> None:
    same = {"name": "checkout", "definition": "What checkout is", "labels": "part:x"}
    write(owner, memoir, act="edit", concept=ids()["checkout"], confidence=0.5, **same)
    assert not ConceptRevision.objects.exists()


def test_a_concept_is_added_and_removed(owner: Client, memoir: Memoir) -> None:
    secret = "The key is AKIAQ3EGRTUVWX5Z7ABC."
    new = write(owner, memoir, act="add", name="till", definition=secret)
    assert "aws-access-key" in new["note"] and len(new["concepts"]) == 3
    write(owner, memoir, act="remove", concept=ids()["till"])
    assert "till" not in ids()


def test_two_concepts_become_one_with_the_links_of_both(
    owner: Client, memoir: Memoir
) -> None:
    given: dict[str, Any] = {"name": "till", "definition": "Where people pay."}
    perform("memoir_add_concept", memoir="shop", labels="area:shop", **given)
    link()
    link(**{"from": "till", "to": "order-store"})
    link(**{"from": "till", "to": "checkout"})
    answer = write(
        owner, memoir, act="merge", concept=ids()["till"], into=ids()["checkout"]
    )
    kept = Concept.objects.get(name="checkout")
    assert kept.definition == "What checkout is\nWhere people pay."
    assert kept.labels == ["part:x", "area:shop"] and kept.revision == 2
    assert "2 links were left out" in answer["note"]
    assert len(answer["links"]) == 1 and "till" not in ids()
    assert ConceptRevision.objects.get(concept=kept).definition == "What checkout is"


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ("not json", 400, "the body is not JSON"),
        ("[" * 50_000, 400, "the body is not JSON"),
        ("[1]", 400, "not a JSON object"),
        ({"act": "nonsense"}, 400, "There is no such act"),
        ({"act": "link", "source": 5}, 400, "source must be a text"),
        ({"act": "remove", "concept": "gone"}, 400, "not there any more"),
        ({"act": "unlink", "link": "gone"}, 400, "not there any more"),
        ({"act": "add", "name": "checkout", "definition": "x"}, 409, "already exists"),
        ({"act": "add", "name": " ", "definition": "x"}, 400, "must not be empty"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    owner: Client, memoir: Memoir, body: Any, status: int, sentence: str
) -> None:
    answer = refused(owner, memoir, body)
    assert answer[0] == status and sentence in answer[1]


@pytest.mark.parametrize("confidence", [True, "1", 2, -1, None, [1]])
def test_a_confidence_is_a_number_from_0_to_1(
    owner: Client, memoir: Memoir, confidence: Any
) -> None:
    fields = {"name": "checkout", "definition": "What checkout is", "labels": ""}
    body = {"act": "edit", "concept": ids()["checkout"], "confidence": confidence}
    assert refused(owner, memoir, {**body, **fields})[1].startswith("The confidence")


def test_a_link_of_a_concept_with_itself_is_refused(
    owner: Client, memoir: Memoir
) -> None:
    one = ids()["checkout"]
    body = {"act": "link", "source": one, "target": one, "relation": "part_of"}
    assert "linked to itself" in refused(owner, memoir, body)[1]
    assert (
        "merged with itself"
        in refused(owner, memoir, {"act": "merge", "concept": one, "into": one})[1]
    )


def test_concepts_of_another_memoir_are_out_of_reach(
    owner: Client, memoir: Memoir
) -> None:
    perform("memoir_create", name="other")
    other = Memoir.objects.get(name="other")
    body = {"act": "remove", "concept": ids()["checkout"]}
    assert "not there any more" in refused(owner, other, body)[1]
    assert "checkout" in ids()


def test_markup_in_names_is_text_in_the_page(owner: Client, memoir: Memoir) -> None:
    evil = "</script><script>alert(1)</script>"
    write(owner, memoir, act="add", name=evil, definition=evil)
    text = owner.get(place(memoir)).content.decode()
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    answer = owner.get(place(memoir, "data/"))
    assert answer.headers["Content-Type"] == "application/json"


def test_a_post_without_the_secret_of_the_form_is_refused(memoir: Memoir) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(get_user_model().objects.create_superuser("eva", password="x"))
    body = {"act": "remove", "concept": ids()["checkout"]}
    answer = client.post(place(memoir, "write/"), body, "application/json")
    assert answer.status_code == 403 and "checkout" in ids()


def test_who_may_only_look_changes_nothing(memoir: Memoir) -> None:
    client = Client()
    users = get_user_model().objects
    client.force_login(users.create_user("eve", password="x", is_staff=True))
    for part in ("", "data/"):
        assert client.get(place(memoir, part)).status_code == 403
    body = {"act": "remove", "concept": ids()["checkout"]}
    answer = client.post(place(memoir, "write/"), body, "application/json")
    assert answer.status_code == 403 and "checkout" in ids()


@pytest.mark.parametrize("key", ["99", "99999999999999999999999"])
def test_a_memoir_that_is_not_there_is_not_found(owner: Client, key: str) -> None:
    assert owner.get(f"/admin/memoirs/memoir/{key}/graph/").status_code == 404

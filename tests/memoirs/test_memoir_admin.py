"""The admin of memoirs and feedback writes through their functions."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from feedback.models import Feedback
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from memories.models import MemoryMark
from tests.factories import make_memory, perform

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    return client


@pytest.fixture
def memoir() -> Memoir:
    perform("memoir_create", name="shop", description="How it works")
    for name in ("checkout", "order-store"):
        given: dict[str, Any] = {"name": name, "definition": f"What {name} is"}
        perform("memoir_add_concept", memoir="shop", labels="part:x", **given)
    return Memoir.objects.get()


def send(client: Client, address: str, **fields: Any) -> str:
    answer = client.post(f"/admin/memoirs/{address}", fields, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def concept(name: str = "checkout") -> Concept:
    return Concept.objects.get(name=name)


MEMOIR = {"description": "How it works", "consolidation_threshold": "50"}


def test_a_memoir_is_added_renamed_and_erased(owner: Client) -> None:
    send(owner, "memoir/add/", name="shop", description="", consolidation_threshold="9")
    made = Memoir.objects.get()
    assert (made.name, made.consolidation_threshold) == ("shop", 9)
    send(owner, f"memoir/{made.pk}/change/", name="bakery", **MEMOIR)
    made.refresh_from_db()
    assert (made.name, made.description) == ("bakery", "How it works")
    send(owner, f"memoir/{made.pk}/delete/", post="yes")
    assert not Memoir.objects.exists()


def test_a_name_in_use_is_refused_beside_what_was_typed(
    owner: Client, memoir: Memoir
) -> None:
    perform("memoir_create", name="bakery")
    text = send(owner, f"memoir/{memoir.pk}/change/", name="bakery", **MEMOIR)
    assert "already exists" in text
    memoir.refresh_from_db()
    assert memoir.name == "shop"


def test_a_concept_is_added_by_the_function(owner: Client, memoir: Memoir) -> None:
    send(
        owner,
        "concept/add/",
        memoir=memoir.pk,
        name="till",
        definition="Key AKIAQ3EGRTUVWX5Z7ABC",
        labels="part:till, new",
    )
    made = concept("till")
    assert made.labels == ["part:till", "tag:new"]
    assert "AKIA" not in made.definition and made.confidence == 0.5


CONCEPT = {
    "name": "checkout",
    "definition": "What checkout is",
    "labels": "part:x",
    "confidence": "0.5",
}


@pytest.mark.parametrize(
    ("given", "revision", "operations"),
    [
        ({}, 1, []),
        ({"definition": "Takes orders"}, 2, ["refine"]),
        ({"name": "till", "confidence": "0.9"}, 1, ["update"]),
        ({"definition": "Takes orders", "labels": "a:b"}, 2, ["update", "refine"]),
    ],
)
def test_an_edit_of_a_concept_keeps_what_it_was(
    given: dict[str, str],
    revision: int,
    operations: list[str],
    owner: Client,
    memoir: Memoir,
) -> None:
    row = concept()
    send(owner, f"concept/{row.pk}/change/", **{**CONCEPT, **given})
    row.refresh_from_db()
    kept = ConceptRevision.objects.filter(concept=row)
    assert row.revision == revision
    assert [entry.operation for entry in kept] == operations
    assert {entry.surface for entry in kept} <= {"admin"}


def test_half_an_edit_of_a_concept_is_none(owner: Client, memoir: Memoir) -> None:
    row = concept()
    given = {**CONCEPT, "name": "order-store", "definition": "Takes orders"}
    text = send(owner, f"concept/{row.pk}/change/", **given)
    assert "concept already exists" in text and "Takes orders</textarea>" in text
    assert not ConceptRevision.objects.exists()


def test_links_are_added_weighed_and_erased(owner: Client, memoir: Memoir) -> None:
    ends = {"source": concept().pk, "target": concept("order-store").pk}
    send(owner, "conceptlink/add/", relation="depends_on", weight="1", **ends)
    link = ConceptLink.objects.get()
    send(owner, f"conceptlink/{link.pk}/change/", weight="0.25")
    link.refresh_from_db()
    assert link.weight == 0.25
    back = {"source": ends["target"], "target": ends["source"]}
    text = send(owner, "conceptlink/add/", relation="depends_on", weight="1", **back)
    assert "would close a cycle" in text
    send(owner, f"conceptlink/{link.pk}/delete/", post="yes")
    assert not ConceptLink.objects.exists()


def test_concepts_are_found_for_a_link_by_typing(owner: Client, memoir: Memoir) -> None:
    model = {"app_label": "memoirs", "model_name": "conceptlink"}
    query = {"term": "order", "field_name": "source", **model}
    found = owner.get("/admin/autocomplete/", query).json()["results"]
    assert [row["text"] for row in found] == ["order-store"]


def test_erasing_a_memoir_lists_not_all_that_goes(
    owner: Client, memoir: Memoir
) -> None:
    text = owner.get(f"/admin/memoirs/memoir/{memoir.pk}/delete/").content.decode()
    assert "checkout" not in text
    chosen = {"action": "delete_selected", "_selected_action": [memoir.pk]}
    owner.post("/admin/memoirs/memoir/", {**chosen, "post": "yes"})
    assert not Concept.objects.exists()


def test_erasing_feedback_takes_its_marks_back(owner: Client) -> None:
    memory = make_memory()
    texts: dict[str, Any] = {"context": "c", "predicted": "p", "corrected": "r"}
    perform("feedback_record", topic="deploy", memory=memory.ulid, **texts)
    assert MemoryMark.objects.exists()
    row = Feedback.objects.get()
    owner.post(f"/admin/feedback/feedback/{row.pk}/delete/", {"post": "yes"})
    assert not Feedback.objects.exists() and not MemoryMark.objects.exists()

"""Each act of the pages on memoirs and feedback is taken back with one click."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import Model
from django.test import Client

from feedback.models import Feedback
from icm_site.caller import Caller
from icm_site.errors import NotFound
from icm_site.undoing import KEPT, Acts
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from memories.models import MemoryMark
from tests.factories import make_memory, perform
from tests.memoirs.test_memoir_admin import MEMOIR, concept, memoir, owner, send
from tests.memoirs.test_memoir_drawing import ids, link, refused, write

__all__ = ["memoir", "owner"]

pytestmark = pytest.mark.django_db

TABLES: tuple[type[Model], ...] = (
    *(Memoir, Concept, ConceptLink, ConceptRevision, Feedback, MemoryMark),
)
WHO = Caller(surface="admin", origin="user")


def everything() -> dict[type[Model], list[dict[str, Any]]]:
    """All rows of the tables, but for when they were last touched."""
    found = {}
    for model in TABLES:
        rows = list(model._base_manager.order_by("pk").values())
        for row in rows:
            row.pop("updated_at", None)
        found[model] = rows
    return found


def undo(client: Client, page: str) -> str:
    """Press the button beside the last message."""
    tag = re.search(r'name="undo" value="(undo-[^"]+)"', page)
    assert tag is not None, page
    fields = {"undo": tag[1], "next": "/admin/"}
    done = client.post("/admin/memories/memory/undo/", fields, follow=True)
    return done.content.decode()


def form(name: str = "checkout", **more: str) -> dict[str, str]:
    return {
        "name": name,
        "definition": f"What {name} is",
        "labels": "part:x",
        "confidence": "0.5",
    } | more


FORMS: dict[str, Callable[[Client], str]] = {
    "memoir edited": lambda c: send(
        c, f"memoir/{Memoir.objects.get().pk}/change/", name="bakery", **MEMOIR
    ),
    "memoir deleted": lambda c: send(
        c, f"memoir/{Memoir.objects.get().pk}/delete/", post="yes"
    ),
    "memoirs deleted": lambda c: send(
        c,
        "memoir/",
        action="delete_selected",
        post="yes",
        _selected_action=[row.pk for row in Memoir.objects.all()],
    ),
    "memoir added": lambda c: send(
        c, "memoir/add/", name="b", description="", consolidation_threshold="9"
    ),
    "concept added": lambda c: send(
        c,
        "concept/add/",
        memoir=Memoir.objects.get().pk,
        **form("till"),
    ),
    "concept deleted": lambda c: send(c, f"concept/{concept().pk}/delete/", post="yes"),
    "concepts deleted": lambda c: send(
        c,
        "concept/",
        action="delete_selected",
        post="yes",
        _selected_action=[row.pk for row in Concept.objects.all()],
    ),
    "link weighed": lambda c: send(
        c, f"conceptlink/{ConceptLink.objects.get().pk}/change/", weight="0.25"
    ),
    "link deleted": lambda c: send(
        c, f"conceptlink/{ConceptLink.objects.get().pk}/delete/", post="yes"
    ),
    "feedback deleted": lambda c: c.post(
        f"/admin/feedback/feedback/{Feedback.objects.get().pk}/delete/",
        {"post": "yes"},
        follow=True,
    ).content.decode(),
}


def fill() -> None:
    """A link, a past and a record of feedback beside the two concepts."""
    link()
    given: dict[str, Any] = {"name": "checkout", "definition": "What checkout is"}
    perform("memoir_refine", memoir="shop", **given | {"definition": "A till."})
    perform("memoir_refine", memoir="shop", **given)
    texts: dict[str, Any] = {"context": "c", "predicted": "p", "corrected": "r"}
    perform("feedback_record", topic="deploy", memory=make_memory().ulid, **texts)


@pytest.mark.parametrize("name", FORMS)
def test_an_act_is_undone_and_done_again(
    name: str, owner: Client, memoir: Memoir
) -> None:
    fill()
    before = everything()
    page = FORMS[name](owner)
    after = everything()
    assert after != before
    page = undo(owner, page)
    assert "Undone." in page and everything() == before
    assert "Undone." in undo(owner, page) and everything() == after


def test_an_edit_of_a_concept_is_undone_and_both_texts_are_kept(
    owner: Client, memoir: Memoir
) -> None:
    new = form(definition="Where people pay.", name="till", confidence="0.9")
    page = send(owner, f"concept/{concept().pk}/change/", **new)
    assert concept("till").definition == "Where people pay."
    assert "Undone." in undo(owner, page)
    row = concept("checkout")
    assert (row.definition, row.confidence) == ("What checkout is", 0.5)
    past = row.revisions.values_list("operation", "definition")
    assert ("undo", "Where people pay.") in past
    found = perform("memoir_search", query="checkout", memoir="shop")
    assert [hit.name for hit in found.concepts] == ["checkout"]


@pytest.mark.parametrize("act", ["remove", "merge", "link", "unlink", "retype", "add"])
def test_an_act_in_the_graph_is_undone(act: str, owner: Client, memoir: Memoir) -> None:
    fill()
    first, second = ids()["checkout"], ids()["order-store"]
    body = {
        "remove": {"concept": first},
        "merge": {"concept": second, "into": first},
        "link": {"source": second, "target": first, "relation": "part_of"},
        "unlink": {"link": ConceptLink.objects.get().ulid},
        "retype": {"link": ConceptLink.objects.get().ulid, "relation": "part_of"},
        "add": {"name": "till", "definition": "Where people pay."},
    }[act]
    before = everything()
    done = write(owner, memoir, act=act, **body)
    assert everything() != before
    back = write(owner, memoir, act="undo", undo=done["undo"])
    after = everything()
    # A merge writes a new text: what it was before, and what it was then, is history.
    before.pop(ConceptRevision), after.pop(ConceptRevision)
    assert after == before
    assert [row["name"] for row in back["concepts"]] == ["checkout", "order-store"]
    status, said = refused(owner, memoir, {"act": "undo", "undo": done["undo"]})
    assert (status, said) == (404, "This cannot be undone any more.")


def test_an_undo_does_not_overwrite_what_came_later(
    owner: Client, memoir: Memoir
) -> None:
    same: dict[str, Any] = {
        "act": "edit",
        "concept": ids()["checkout"],
        "labels": "part:x",
    }
    same |= {"name": "checkout", "confidence": 0.5}
    done = write(owner, memoir, **same, definition="Where people pay.")
    perform("memoir_refine", memoir="shop", name="checkout", definition="Agents'.")
    status, said = refused(owner, memoir, {"act": "undo", "undo": done["undo"]})
    assert status == 409 and "changed again since" in said
    assert concept().definition == "Agents'."


def test_an_undo_needs_the_place_that_it_goes_back_to(
    owner: Client, memoir: Memoir
) -> None:
    gone = write(owner, memoir, act="remove", concept=ids()["checkout"])
    write(owner, memoir, act="add", name="checkout", definition="Another one.")
    body = {"act": "undo", "undo": gone["undo"]}
    status, said = refused(owner, memoir, body)
    assert status == 409 and "stands in the way" in said
    assert concept().definition == "Another one."
    linked = write(owner, memoir, act="add", name="till", definition="T.")["undo"]
    link(**{"from": "till"})
    status, said = refused(owner, memoir, {"act": "undo", "undo": linked})
    assert status == 409 and concept("till")


def test_only_the_last_acts_are_remembered() -> None:
    acts = Acts()
    names = [acts.keep(lambda caller: ("done", "")) for _ in range(KEPT + 1)]
    with pytest.raises(NotFound):
        acts.take_back(names[0], WHO)
    assert acts.take_back(names[1], WHO) == ("done", "")
    with pytest.raises(NotFound):
        acts.take_back(names[1], WHO)

"""The admin of memories: lists, forms that write through the store, forgetting."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core import checks
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memories import store, suggestions, tokens
from memories.models import Change, Memory, MemoryVector, Suggestion, Token
from tests.factories import AGENT, CALLER, FakeEmbedder, make_memory, perform

pytestmark = pytest.mark.django_db

LIST = "/admin/memories/memory/"
FORM = {
    "topic": "decisions-shop",
    "summary": "The shop runs on Postgres 16.",
    "raw_excerpt": "",
    "keywords": "",
    "importance": "medium",
}
OURS = ("memories", "memoirs", "feedback")


@pytest.fixture
def owner() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    return client


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def shown(client: Client, query: str = "") -> list[str]:
    """The texts of a list of memories, as the page has them."""
    found = re.findall(
        r'class="field-text"[^>]*><a [^>]*>(.*?)</a>', page_of(client, query)
    )
    return [str(text) for text in found]


def page_of(client: Client, query: str) -> str:
    return page(client, f"{LIST}?{query}")


def send(client: Client, address: str, **fields: Any) -> str:
    answer = client.post(address, {**FORM, **fields}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def change_of(memory: Memory) -> str:
    return f"{LIST}{memory.pk}/change/"


def registered() -> list[type[Model]]:
    import_module("icm_site.urls")  # it looks for the admin modules
    return [m for m in admin.site._registry if m._meta.app_label in OURS]


def test_every_model_has_its_page() -> None:
    models = {m for label in OURS for m in apps.get_app_config(label).get_models()}
    assert set(registered()) == models
    assert checks.run_checks(tags=[checks.Tags.admin]) == []


@pytest.mark.parametrize("model", registered(), ids=lambda m: m.__name__)
def test_every_list_and_form_opens(model: type[Model], owner: Client) -> None:
    old = make_memory("The port is 5432.")
    make_memory("The port is 5433.", caller=AGENT)
    perform("memoir_create", name="shop")
    for name in ("a", "b"):
        perform("memoir_add_concept", memoir="shop", name=name, definition="x")
    ends: dict[str, Any] = {"from": "a", "to": "b"}
    perform("memoir_link", memoir="shop", relation="part_of", **ends)
    perform("memoir_refine", memoir="shop", name="a", definition="y")
    texts: dict[str, Any] = {"context": "c", "predicted": "p", "corrected": "r"}
    perform("feedback_record", topic="deploy", memory=old.ulid, **texts)
    tokens.create("scripts")
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    page(owner, reverse(f"{name}_changelist"))
    row = model._default_manager.first()
    if row is not None:
        page(owner, reverse(f"{name}_change", args=[row.pk]))


def test_the_list_shows_live_memories_and_others_when_asked(owner: Client) -> None:
    make_memory("One that stays.")
    store.forget(make_memory("One that went.").ulid, caller=CALLER)
    assert shown(owner) == ["One that stays."]
    assert shown(owner, "state=forgotten") == ["One that went."]
    assert len(shown(owner, "state=any")) == 2


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("q=postgres", 1),
        ("q=muller", 1),
        ("q=postgres+muller", 2),
        ("q=postgres&state=any", 1),
        ("q=postgres&topic=preferences", 0),
        ("topic=decisions-shop", 1),
        ("topic=nothing", 0),
        ("origin=agent", 1),
        ("importance__exact=high", 1),
        ("host=claude-code", 1),
        ("project=shop", 1),
        ("weight=full", 2),
        ("weight=fading", 0),
        ("age=day", 2),
        ("age=older", 0),
        ("embedded=yes", 0),
        ("embedded=no", 2),
    ],
)
def test_the_list_is_searched_and_filtered(
    query: str, count: int, owner: Client
) -> None:
    make_memory(importance="high")
    make_memory("Müller picks the colours.", topic="preferences", caller=AGENT)
    assert len(shown(owner, query)) == count


def test_a_longer_list_costs_no_more_queries(owner: Client) -> None:
    counts = []
    for n in range(2):
        for k in range(1 + 9 * n):
            make_memory(f"Fact {n} {k}.", dedup=False, topic=f"t{n}{k}")
        page(owner, LIST)
        with CaptureQueriesContext(connection) as seen:
            page(owner, LIST)
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 12


def test_a_correction_is_checked_masked_recorded_and_undoable(owner: Client) -> None:
    memory = make_memory(keywords=["db"])
    text = send(
        owner,
        change_of(memory),
        summary="The key is AKIAQ3EGRTUVWX5Z7ABC.\r\nSecond line.",
        keywords="db, orders",
    )
    assert "Masked before it was written: aws-access-key" in text
    found = perform("memory_get", id=memory.ulid)
    assert found.memory.summary.endswith(".\nSecond line.")
    assert "AKIA" not in found.memory.summary
    assert found.memory.keywords == ["db", "orders"]
    entry = found.history[0]
    assert (entry.operation, entry.surface, entry.origin) == ("update", "admin", "user")
    perform("memory_undo", id=entry.change)
    assert Memory.objects.get().summary == memory.summary


def test_saving_without_a_change_is_none(owner: Client) -> None:
    memory = make_memory("Line one\nline two", keywords=["a", "b"])
    before = Change.objects.count()
    send(owner, change_of(memory), summary="Line one\r\nline two", keywords="a,b")
    assert Change.objects.count() == before


def test_a_refusal_comes_back_beside_what_was_typed(owner: Client) -> None:
    make_memory("The shop runs on MySQL.", dedup=False)
    memory = make_memory()
    typed = send(owner, change_of(memory), summary="The shop runs on MySQL.")
    assert "of this topic has the same text" in typed
    assert "The shop runs on MySQL.</textarea>" in typed
    assert perform("memory_get", id=memory.ulid).memory.summary == memory.summary
    long = send(owner, change_of(memory), summary="x" * 70_000)
    assert "content is too long: 70000 bytes given, 65536 allowed" in long


def test_a_new_memory_goes_through_the_store(
    owner: Client, model: FakeEmbedder, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        send(owner, f"{LIST}add/", keywords="db, orders", importance="high")
    memory = Memory.objects.get()
    assert (memory.keywords, memory.importance) == (["db", "orders"], "high")
    assert memory.source_data == {"user": "ada"}
    assert MemoryVector.objects.filter(memory=memory).exists()


def test_adding_what_is_there_leads_to_it(owner: Client) -> None:
    memory = make_memory()
    assert change_of(memory) in send(owner, f"{LIST}add/")
    assert Memory.objects.count() == 1


def test_delete_means_forget(owner: Client) -> None:
    memory = make_memory()
    address = f"{LIST}{memory.pk}/delete/"
    assert "It is hidden, not erased" in page(owner, address)
    answer = owner.post(address, {"post": "yes"}, follow=True).content.decode()
    change = Change.objects.latest("id")
    assert "1 memory is hidden" in answer and f"undo-change-{change.ulid}" in answer
    assert Memory.objects.get().state == "forgotten"
    again = owner.post(address, {"post": "yes"}, follow=True).content.decode()
    assert "is forgotten already" in again
    perform("memory_undo", id=change.ulid)
    assert Memory.objects.get().is_live


def test_many_are_forgotten_as_one_change(owner: Client) -> None:
    rows = [make_memory(f"Fact {n}.", dedup=False) for n in range(3)]
    chosen = {"action": "forget_selected", "_selected_action": [row.pk for row in rows]}
    answer = owner.post(LIST, chosen, follow=True).content.decode()
    assert "3 memories are hidden" in answer
    perform("memory_undo", id=Change.objects.latest("id").ulid)
    assert Memory.objects.live().count() == 3


def test_nothing_of_a_memory_can_be_erased_here(owner: Client) -> None:
    make_memory()
    assert "delete_selected" not in page(owner, LIST)
    for name in ("change", "memoryrevision", "memoryusage"):
        model = f"/admin/memories/{name}/"
        pk = re.findall(rf"{model}(\d+)/change/", page(owner, model))[0]
        assert owner.post(f"{model}{pk}/delete/", {"post": "yes"}).status_code == 403
        assert owner.post(f"{model}{pk}/change/", {"at": ""}).status_code == 403
        assert owner.get(f"{model}add/").status_code == 403


def test_changes_are_undone_from_their_list(owner: Client) -> None:
    memory = make_memory()
    store.forget(memory.ulid, caller=CALLER)
    last = Change.objects.latest("id")
    chosen = {"action": "undo_selected", "_selected_action": [last.pk]}
    address = "/admin/memories/change/"
    answer = owner.post(address, chosen, follow=True).content.decode()
    assert "1 memory is as it was before" in answer
    assert Memory.objects.get().is_live
    again = owner.post(address, chosen, follow=True).content.decode()
    assert "was undone before" in again


@pytest.mark.parametrize(
    ("action", "status", "state"),
    [
        ("accept_selected", "accepted", "superseded"),
        ("dismiss_selected", "dismissed", "live"),
    ],
)
def test_suggestions_are_decided_from_their_list(
    action: str, status: str, state: str, owner: Client
) -> None:
    old, new = make_memory("The port is 5432."), make_memory("The port is 5433.")
    Suggestion.objects.all().delete()
    row = suggestions.keep(new, old, kind="may_update", score=0.9, reason="value")
    chosen = {"action": action, "_selected_action": [row.pk]}
    owner.post("/admin/memories/suggestion/", chosen)
    assert Suggestion.objects.get().status == status
    assert Memory.objects.get(pk=old.pk).state == state


def test_a_token_is_revoked_and_its_hash_is_not_shown(owner: Client) -> None:
    token, secret = tokens.create("scripts")
    address = f"/admin/memories/token/{token.pk}/"
    assert token.hashed not in page(owner, f"{address}change/")
    owner.post(f"{address}delete/", {"post": "yes"})
    assert tokens.verify(secret) is None and not Token.objects.exists()


def test_markup_in_a_memory_is_text(owner: Client) -> None:
    memory = make_memory("<script>alert(1)</script>", topic="<b>bold</b>")
    for address in (LIST, change_of(memory), f"{LIST}{memory.pk}/delete/"):
        text = page(owner, address)
        assert "<script>alert" not in text and "<b>bold" not in text
        assert "&lt;script&gt;" in text


def test_who_may_only_look_changes_nothing() -> None:
    memory = make_memory()
    client = Client()
    user = get_user_model().objects.create_user("eve", password="x", is_staff=True)
    client.force_login(user)
    assert client.get(LIST).status_code == 403
    assert client.post(change_of(memory), FORM).status_code == 403

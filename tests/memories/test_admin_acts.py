"""What people do in the admin beyond one form: history, bulk acts, review, topics."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories import diff, marking, store, suggestions
from memories.models import Change, HookEvent, Memory, MemoryUsage, Suggestion
from tests.factories import AGENT, CALLER, make_memory, perform
from tests.memories.test_admin import LIST, change_of, owner, page, page_of, shown

__all__ = ["owner"]

pytestmark = pytest.mark.django_db

REVIEW = f"{LIST}review/"


def act(client: Client, action: str, rows: list[Memory]) -> str:
    """The answer to an action of the list on these rows."""
    chosen = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(LIST, chosen, follow=True).content.decode()


def ids(rows: list[Memory]) -> str:
    return ",".join(row.ulid for row in rows)


def send(client: Client, address: str, **fields: Any) -> str:
    answer = client.post(address, fields, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def undo(client: Client, answer: str) -> str:
    """Press the button beside the last message."""
    found = re.search(r'name="undo" value="(undo-[^"]+)"', answer)
    assert found is not None
    return send(client, f"{LIST}undo/", undo=found[1], next=LIST)


def by_admin(operation: str) -> Change:
    change = Change.objects.latest("id")
    assert (change.operation, change.surface) == (operation, "admin")
    assert change.origin == "user"
    return change


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("The port is 5432.", "The port is 5433.", ["5432"], ["5433"]),
        ("a b c d", "x y z d", ["a b c"], ["x y z"]),
        ("", "new", [], ["new"]),
        ("old", "", ["old"], []),
        ("same", "same", [], []),
        ("één café", "één thé", ["café"], ["thé"]),
        ("x " * 5_000, "y " * 5_000, None, None),
    ],
)
def test_a_difference_is_of_words_and_loses_nothing(
    old: str, new: str, removed: list[str] | None, added: list[str] | None
) -> None:
    parts = diff.words(old, new)
    assert "".join(p.text for p in parts if p.kind != "added") == old
    assert "".join(p.text for p in parts if p.kind != "removed") == new
    if removed is not None:
        assert [p.text for p in parts if p.kind == "removed"] == removed
        assert [p.text for p in parts if p.kind == "added"] == added


def test_a_search_is_ranked_as_a_recall_and_counts_no_access(owner: Client) -> None:
    make_memory("The wallpaper is green.", topic="preferences")
    best = make_memory("Postgres pools of the shop hold five connections.")
    make_memory("The shop opens at nine.")
    text = page_of(owner, "q=postgres+pools+shop")
    asked = perform("memory_recall", query="postgres pools shop", limit=10)
    assert shown(owner, "q=postgres+pools+shop") == [hit.summary for hit in asked.hits]
    assert f"{asked.hits[0].score:.3f}" in text
    assert asked.hits[0].id == best.ulid
    assert MemoryUsage.objects.filter(access_count__gt=1).count() == 0
    assert "field-score" not in page(owner, LIST)


def test_a_ranked_list_can_be_sorted_otherwise(owner: Client) -> None:
    for text in ("The shop sells tea.", "Tea of the shop is green tea, shop tea."):
        make_memory(text, dedup=False)
    found = shown(owner, "q=tea+shop&o=2")
    assert found == ["The shop sells tea.", "Tea of the shop is green tea, shop tea."]


def test_a_search_costs_the_same_for_one_hit_and_for_many(owner: Client) -> None:
    counts = []
    for n in range(2):
        for k in range(1 + 9 * n):
            make_memory(f"Postgres fact {n} {k}.", dedup=False, topic=f"t{n}{k}")
        page_of(owner, "q=postgres")
        with CaptureQueriesContext(connection) as seen:
            page_of(owner, "q=postgres")
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_the_history_compares_words_and_undoes_one_change(owner: Client) -> None:
    memory = make_memory("The port is 5432.")
    store.update(memory.ulid, content="The port is 5433.", caller=AGENT)
    address = f"{LIST}{memory.pk}/history/"
    text = page(owner, address)
    assert "<del>5432</del><ins>5433</ins>" in text
    assert "by claude-code through mcp" in text
    change = Change.objects.latest("id")
    assert f"change-{change.ulid}" in text
    done = send(owner, f"{LIST}undo/", undo=f"change-{change.ulid}", next=address)
    assert "1 memory is as it was before" in done and "<h1>History</h1>" in done
    assert Memory.objects.get().summary == "The port is 5432."
    assert by_admin("undo").undoes == change
    undo(owner, done)
    assert Memory.objects.get().summary == "The port is 5433."


def test_a_history_that_is_not_there_is_not_found(owner: Client) -> None:
    for key in ("99", "x", "9" * 30):
        assert owner.get(f"{LIST}{key}/history/").status_code == 404


@pytest.mark.parametrize(
    ("tag", "sentence"),
    [
        ("change-", "memory or change not found"),
        ("nonsense", "nothing to undo by this name"),
        ("dismissal-01ARZ3NDEKTSV4RRFFQ69G5FAV", "suggestion not found"),
    ],
)
def test_an_undo_of_nothing_says_so(owner: Client, tag: str, sentence: str) -> None:
    assert sentence in send(owner, f"{LIST}undo/", undo=tag).lower()


def test_an_undo_leads_to_no_other_site(owner: Client) -> None:
    answer = owner.post(f"{LIST}undo/", {"undo": "x", "next": "https://evil.example/"})
    assert answer.headers["Location"] == LIST


def test_many_get_another_topic_and_importance_as_one_change(owner: Client) -> None:
    rows = [make_memory(f"Fact {n}.", dedup=False) for n in range(3)]
    assert 'name="importance"' in act(owner, "edit_selected", rows)
    done = send(
        owner, f"{LIST}edit/", ids=ids(rows), topic="errors-shop", importance="high"
    )
    assert "3 memories are changed" in done
    assert set(Memory.objects.values_list("topic", "importance")) == {
        ("errors-shop", "high")
    }
    assert set(MemoryUsage.objects.values_list("importance", flat=True)) == {"high"}
    assert by_admin("edit").revisions.count() == 3
    undo(owner, done)
    assert set(Memory.objects.values_list("topic", "importance")) == {
        ("decisions-shop", "medium")
    }


def test_a_text_that_the_new_topic_has_already_stays_once(owner: Client) -> None:
    first = make_memory("Same words.", topic="errors-shop")
    second = make_memory("Same words.", topic="decisions-shop")
    send(owner, f"{LIST}edit/", ids=second.ulid, topic="errors-shop")
    second.refresh_from_db()
    assert (second.state, second.superseded_by) == ("archived", first)


def test_nothing_chosen_to_change_is_refused(owner: Client) -> None:
    memory = make_memory()
    assert "give a topic or an importance" in send(
        owner, f"{LIST}edit/", ids=memory.ulid
    )
    assert "nknown importance" in send(
        owner, f"{LIST}edit/", ids=memory.ulid, importance="huge"
    )


def test_two_are_merged_into_the_one_that_stays(owner: Client) -> None:
    one = make_memory("The port is 5432.", keywords=["db"], importance="high")
    two = make_memory("The port of the database is 5432 on all hosts.", dedup=False)
    asked = act(owner, "merge_selected", [one, two])
    assert asked.count('type="radio"') == 2
    text = "The database listens on port 5432 on all hosts."
    done = send(
        owner, f"{LIST}merge/", ids=ids([one, two]), kept=two.ulid, content=text
    )
    assert "2 memories are one now" in done
    one.refresh_from_db()
    two.refresh_from_db()
    assert (one.state, one.superseded_by) == ("superseded", two)
    assert (two.summary, two.importance, two.keywords) == (text, "high", ["db"])
    again = make_memory("The port of the database is 5432 on all hosts.")
    assert again == two
    by_admin("merge")


def test_a_merge_is_undone_whole(owner: Client) -> None:
    rows = [make_memory(f"Fact {n} of the shop.", dedup=False) for n in range(3)]
    done = send(
        owner, f"{LIST}merge/", ids=ids(rows), kept=rows[0].ulid, content="All facts."
    )
    undo(owner, done)
    assert sorted(Memory.objects.live().values_list("summary", flat=True)) == [
        f"Fact {n} of the shop." for n in range(3)
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kept": ""}, "Choose the memory that stays."),
        ({"content": " "}, "content must not be empty"),
        ({"ids": "first"}, "choose two memories or more"),
        ({"content": "Another live text."}, "of this topic has the same text"),
    ],
)
def test_a_merge_that_cannot_be_is_refused_and_changes_nothing(
    owner: Client, change: dict[str, str], sentence: str
) -> None:
    rows = [make_memory(f"Fact {n} of the shop.", dedup=False) for n in range(2)]
    make_memory("Another live text.", dedup=False)
    fields = {"ids": ids(rows), "kept": rows[0].ulid, "content": "x"} | change
    if change.get("ids") == "first":
        fields["ids"] = rows[0].ulid
    before = Change.objects.count()
    assert sentence.lower() in send(owner, f"{LIST}merge/", **fields).lower()
    assert Change.objects.count() == before
    assert Memory.objects.live().count() == 3


def test_a_secret_in_a_merged_text_is_masked(owner: Client) -> None:
    rows = [make_memory(f"Fact {n}.", dedup=False) for n in range(2)]
    text = "The key is AKIAQ3EGRTUVWX5Z7ABC."
    done = send(owner, f"{LIST}merge/", ids=ids(rows), kept=rows[0].ulid, content=text)
    assert "aws-access-key" in done
    assert "AKIA" not in Memory.objects.get(pk=rows[0].pk).summary


def test_a_consolidation_is_shown_before_it_is_done(owner: Client) -> None:
    rows = [make_memory(f"Fact {n}.", dedup=False) for n in range(3)]
    critical = make_memory("Never drop this.", importance="critical", dedup=False)
    asked = act(owner, "consolidate_selected", rows[:2])
    assert "2 memories are archived" in asked and "2 stay live" in asked
    assert "- Fact 0.\n- Fact 1." in asked
    whole = page(owner, f"{LIST}consolidate/?topic=decisions-shop")
    assert "3 memories are archived" in whole and "never taken" in whole
    assert Memory.objects.live().count() == 4
    done = send(
        owner,
        f"{LIST}consolidate/",
        topic="decisions-shop",
        ids=ids(rows[:2]),
        content="Facts 0 and 1.",
    )
    assert "2 memories are archived" in done
    assert sorted(Memory.objects.live().values_list("summary", flat=True)) == [
        "Fact 2.",
        "Facts 0 and 1.",
        critical.summary,
    ]
    by_admin("consolidate")
    undo(owner, done)
    assert Memory.objects.live().filter(summary__startswith="Fact ").count() == 3


def test_memories_of_two_topics_are_not_consolidated(owner: Client) -> None:
    rows = [make_memory("One."), make_memory("Two.", topic="errors-shop")]
    assert "Choose memories of one topic." in act(owner, "consolidate_selected", rows)


def test_one_memory_alone_is_not_merged(owner: Client) -> None:
    assert "Choose from 2 to 20" in act(owner, "merge_selected", [make_memory()])


def pair() -> Suggestion:
    old, new = make_memory("The port is 5432."), make_memory("The port is 5433.")
    Suggestion.objects.all().delete()
    return suggestions.keep(new, old, kind="may_update", score=0.9, reason="value")


def test_a_suggestion_is_accepted_with_one_click_and_undone(owner: Client) -> None:
    row = pair()
    assert "<del>5432</del><ins>5433</ins>" in page(owner, REVIEW)
    done = send(owner, f"{REVIEW}act/", act="accept", id=row.ulid, next=REVIEW)
    assert "Nothing to review here." in done
    assert list(Memory.objects.live()) == [row.source]
    undo(owner, done)
    assert "<del>5432</del>" in page(owner, REVIEW)
    assert Memory.objects.live().count() == 2


def test_a_suggestion_is_dismissed_and_opened_again(owner: Client) -> None:
    row = pair()
    done = send(owner, f"{REVIEW}act/", act="dismiss", id=row.ulid, next=REVIEW)
    assert Suggestion.objects.get().status == "dismissed"
    again = undo(owner, done)
    assert "open again" in again and Suggestion.objects.get().status == "open"
    refused = send(owner, f"{LIST}undo/", undo=f"undo-dismissal-{row.ulid}")
    assert "is not dismissed" in refused


def contradicted() -> tuple[Memory, Memory]:
    wrong = make_memory("Retries happen twice.")
    right = make_memory("There are no retries.", dedup=False)
    marking.mark(
        wrong, helpful=False, correction=right, reference="r1", now=timezone.now()
    )
    Suggestion.objects.all().delete()
    return wrong, right


def test_what_feedback_contradicts_is_replaced_by_its_correction(owner: Client) -> None:
    wrong, right = contradicted()
    address = f"{REVIEW}?part=contradicted"
    assert "Retries happen twice." in page(owner, address)
    done = send(owner, f"{REVIEW}act/", act="correct", id=wrong.ulid, next=address)
    wrong.refresh_from_db()
    assert (wrong.state, wrong.superseded_by) == ("superseded", right)
    by_admin("accept_correction")
    undo(owner, done)
    wrong.refresh_from_db()
    assert wrong.is_live


def test_a_contradicted_memory_that_is_right_leaves_the_queue(owner: Client) -> None:
    wrong, _ = contradicted()
    address = f"{REVIEW}?part=contradicted"
    done = send(owner, f"{REVIEW}act/", act="confirm", id=wrong.ulid, next=address)
    assert "Retries happen twice." not in done
    undo(owner, done)
    assert "Retries happen twice." in page(owner, address)


def test_a_stale_memory_is_kept_or_forgotten(owner: Client) -> None:
    rows = [make_memory(f"Old fact {n}.", dedup=False) for n in range(2)]
    long_ago = timezone.now() - timedelta(days=30)
    MemoryUsage.objects.update(weight=0.2, last_accessed=long_ago)
    address = f"{REVIEW}?part=stale"
    assert "Old fact 0." in page(owner, address)
    kept = send(owner, f"{REVIEW}act/", act="keep", id=rows[0].ulid, next=address)
    assert MemoryUsage.objects.get(pk=rows[0].pk).weight == 1.0
    again = undo(owner, kept)
    usage = MemoryUsage.objects.get(pk=rows[0].pk)
    assert (usage.weight, usage.last_accessed) == (0.2, long_ago)
    undo(owner, again)
    assert MemoryUsage.objects.get(pk=rows[0].pk).weight == 1.0
    done = send(owner, f"{REVIEW}act/", act="forget", id=rows[1].ulid, next=address)
    assert "Nothing to review here." in done
    undo(owner, done)
    assert Memory.objects.live().count() == 2


def test_masked_secrets_are_in_the_queue(owner: Client) -> None:
    make_memory("The key is AKIAQ3EGRTUVWX5Z7ABC.")
    assert "[redacted:aws-access-key]" in page(owner, f"{REVIEW}?part=masked")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"act": "nonsense"}, "there is no such decision"),
        ({"act": "accept", "id": "x"}, "suggestion not found"),
        ({"act": "forget", "id": ""}, "memory not found"),
    ],
)
def test_a_decision_that_cannot_be_is_refused(
    owner: Client, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in send(owner, f"{REVIEW}act/", **fields).lower()


@pytest.mark.parametrize("part", ["suggestions", "contradicted", "stale", "masked"])
def test_a_longer_queue_costs_no_more_queries(owner: Client, part: str) -> None:
    counts = []
    for n in range(2):
        for k in range(1 + 6 * n):
            old = make_memory(f"[redacted:x] value {n} {k}.", dedup=False)
            new = make_memory(f"[redacted:x] other {n} {k}.", dedup=False)
            suggestions.keep(new, old, kind="duplicate", score=0.9, reason="")
            marking.mark(
                old,
                helpful=False,
                correction=new,
                reference=f"{n}{k}",
                now=timezone.now(),
            )
        long_ago = timezone.now() - timedelta(days=30)
        MemoryUsage.objects.update(weight=0.2, last_accessed=long_ago)
        with CaptureQueriesContext(connection) as seen:
            page(owner, f"{REVIEW}?part={part}")
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 16


def test_a_topic_is_found_renamed_and_brought_back(owner: Client) -> None:
    make_memory("One.", topic="errors-shop")
    make_memory("Two.", topic="decisions-shop")
    address = f"{LIST}topics/"
    assert "errors-shop" in page(owner, address)
    assert "errors-shop" not in page(owner, f"{address}?q=decisions")
    done = send(owner, f"{address}rename/", topic="errors-shop", name="faults-shop")
    assert "1 memory is moved" in done and "faults-shop" in done
    undo(owner, done)
    assert Memory.objects.filter(topic="errors-shop").exists()


def test_the_audit_tells_who_did_what_and_shows_the_words(owner: Client) -> None:
    memory = make_memory("The port is 5432.", caller=AGENT)
    store.update(memory.ulid, content="The port is 5433.", caller=CALLER)
    text = page(owner, "/admin/memories/change/?surface__exact=mcp")
    assert "claude-code" in text and text.count('class="field-operation"') == 1
    change = Change.objects.latest("id")
    detail = page(owner, f"/admin/memories/change/{change.pk}/change/")
    assert "<del>5432</del><ins>5433</ins>" in detail
    assert change_of(memory) in detail


def test_what_a_hook_injected_leads_to_the_memories(owner: Client) -> None:
    memory = make_memory("<b>Bold</b> fact.")
    event = HookEvent.objects.create(
        event="session-start", host="codex", injected=[memory.ulid, "gone"], tokens=12
    )
    text = page(owner, f"/admin/memories/hookevent/{event.pk}/change/")
    assert change_of(memory) in text and "gone" in text and "<b>Bold" not in text


def test_markup_is_text_on_every_page_of_ours(owner: Client) -> None:
    evil = "<script>alert(1)</script>"
    memory = make_memory(f"{evil} one", topic=f"<i>{evil}</i>")
    other = make_memory(f"{evil} two", topic=f"<i>{evil}</i>", dedup=False)
    store.update(memory.ulid, content=f"{evil} three", caller=CALLER)
    suggestions.keep(other, memory, kind="duplicate", score=1, reason=evil)
    marking.mark(
        memory, helpful=False, correction=other, reference="x", now=timezone.now()
    )
    HookEvent.objects.create(event=evil, injected=[evil], tool_name=evil)
    pages = [
        *("/", LIST, REVIEW, f"{REVIEW}?part=contradicted", f"{LIST}topics/"),
        *(f"{LIST}{memory.pk}/history/", change_of(memory), f"{LIST}?q=alert"),
        *("/admin/memories/change/", "/admin/memories/hookevent/"),
        f"{LIST}consolidate/?topic=%3Ci%3E{evil}%3C/i%3E",
    ]
    for address in pages:
        text = page(owner, address)
        assert "<script>alert" not in text and "<i><" not in text, address
    for action in ("edit_selected", "merge_selected", "consolidate_selected"):
        text = act(owner, action, [memory, other])
        assert "<script>alert" not in text and "&lt;script&gt;" in text


def test_who_may_only_read_decides_nothing() -> None:
    row = pair()
    client = Client()
    users = get_user_model().objects
    client.force_login(users.create_user("eve", password="x", is_staff=True))
    for address in (REVIEW, f"{LIST}topics/", "/", f"{LIST}{row.source_id}/history/"):
        assert client.get(address).status_code == 403
    for address in (f"{REVIEW}act/", f"{LIST}undo/", f"{LIST}edit/", f"{LIST}merge/"):
        assert (
            client.post(address, {"act": "accept", "id": row.ulid}).status_code == 403
        )
    assert Suggestion.objects.get().status == "open"


def test_a_reading_request_writes_nothing(owner: Client) -> None:
    row = pair()
    before = Change.objects.count()
    for place in ("undo/", "edit/", "merge/", "review/act/", "topics/rename/"):
        answer = owner.get(f"{LIST}{place}?act=accept&id={row.ulid}")
        assert answer.status_code == 302
    assert Change.objects.count() == before

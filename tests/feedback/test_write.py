"""Recording, applying and deleting feedback, and what each does to memories."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from feedback import marks, write
from feedback.models import Feedback
from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound
from memories import history, recall, store
from memories.models import Memory, MemoryMark
from tests.factories import AGENT, CALLER, make_memory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 1, tzinfo=UTC)
UNKNOWN = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
GIVEN = {
    "topic": "deploy-shop",
    "context": "The shop had to be released on a Friday.",
    "predicted": "Run deploy.sh.",
    "corrected": "Type make ship.",
}
TOKEN = "ghp_" + "a1B2c3D4e5" * 4


def recorded(**fields: object) -> write.Recorded:
    return write.record(caller=CALLER, **{**GIVEN, **fields})  # type: ignore[arg-type]


def order(query: str = "how is the shop deployed") -> list[Memory]:
    return [hit.memory for hit in recall.recall(query=query, count=False).hits]


@pytest.fixture
def pair() -> tuple[Memory, Memory]:
    """A memory that answers best, and the one that is right."""
    old = make_memory("The shop is deployed by running deploy.sh on Fridays.")
    return old, make_memory("Releases of the shop go out with make ship.")


def test_a_record_keeps_its_texts_as_given() -> None:
    row = recorded(reason=" replaced\nin March ", source="user", now=NOW).feedback
    row = Feedback.objects.get(ulid=row.ulid)
    assert (row.topic, row.context) == (GIVEN["topic"], GIVEN["context"])
    assert (row.predicted, row.corrected) == (GIVEN["predicted"], GIVEN["corrected"])
    assert (row.reason, row.source) == (" replaced\nin March ", "user")
    assert (row.created_at, row.applied_count) == (NOW, 0)
    assert (row.memory, row.correction) == (None, None)


@pytest.mark.parametrize("name", ["topic", "context", "predicted", "corrected"])
@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_text_is_refused(name: str, blank: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must not be empty"):
        recorded(**{name: blank})
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("name", ["context", "predicted", "corrected", "reason"])
def test_a_text_of_more_than_20_000_characters_is_refused(name: str) -> None:
    recorded(**{name: "é" * 20_000})
    with pytest.raises(
        InvalidInput, match=f"{name} is too long: 20001 characters given, 20000 allowed"
    ):
        recorded(**{name: "é" * 20_001})


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"topic": "a" * 256}, "topic is too long: 256 bytes given, 255 allowed"),
        ({"topic": "a\nb"}, "topic must be one line"),
        ({"context": "a\0b"}, "context must not contain NUL"),
        ({"reason": "\ud800"}, "reason is not valid Unicode"),
        ({"source": "s" * 256}, "source is too long: 256 characters given"),
        ({"source": "a\nb"}, "source must be one line"),
    ],
)
def test_what_memories_refuse_is_refused_here_too(
    fields: dict[str, str], fault: str
) -> None:
    with pytest.raises(InvalidInput, match=fault):
        recorded(**fields)


def test_secrets_are_masked_in_every_text() -> None:
    names = ("context", "predicted", "corrected", "reason")
    done = recorded(**dict.fromkeys(names, f"Use {TOKEN} there."))
    assert done.redacted == ("github-token",)
    for name in names:
        assert getattr(done.feedback, name) == "Use [redacted:github-token] there."
    assert TOKEN.lower() not in done.feedback.context_index


def test_a_person_may_keep_what_looks_like_a_secret() -> None:
    done = recorded(context=f"Use {TOKEN}.", allow_secret=True)
    assert TOKEN in done.feedback.context
    assert done.redacted == ()


def test_a_misleading_memory_comes_after_its_correction(
    pair: tuple[Memory, Memory],
) -> None:
    old, new = pair
    assert order() == [old, new]
    row = recorded(memory=old.ulid, correction=new.ulid.lower()).feedback
    assert (row.memory, row.correction) == (old, new)
    assert order() == [new, old]


def test_a_misleading_memory_without_correction_is_marked(
    pair: tuple[Memory, Memory],
) -> None:
    old, _ = pair
    row = recorded(memory=old.ulid).feedback
    mark = MemoryMark.objects.get()
    assert (mark.memory, mark.helpful, mark.correction) == (old, False, None)
    assert (mark.reference, order()[0]) == (row.ulid, old)


def test_the_corrected_text_can_become_the_memory_that_is_right(
    pair: tuple[Memory, Memory],
) -> None:
    old, _ = pair
    done = recorded(memory=old.ulid, store_correction=True)
    assert done.stored is not None
    memory = done.stored.memory
    assert (memory.summary, memory.topic) == ("Type make ship.", old.topic)
    assert done.feedback.correction == memory
    assert order()[:2] == [memory, old]


def test_a_stored_correction_without_a_memory_goes_into_the_topic_of_the_record() -> (
    None
):
    done = recorded(store_correction=True)
    assert done.stored is not None
    assert done.stored.memory.topic == "deploy-shop"
    assert not MemoryMark.objects.exists()


def test_a_stored_correction_never_melts_into_the_memory_that_misled() -> None:
    old = make_memory("The shop is deployed by running deploy.sh on each Friday.")
    text = "The shop is deployed by running deploy.sh on every Friday."
    done = recorded(corrected=text, memory=old.ulid, store_correction=True)
    assert done.stored is not None
    assert done.stored.memory != old


def test_undoing_the_stored_correction_leaves_the_record_without_effect() -> None:
    old = make_memory("The shop is deployed by running deploy.sh.")
    done = recorded(memory=old.ulid, store_correction=True)
    assert done.stored is not None and done.stored.change is not None
    history.undo(done.stored.change.ulid, caller=CALLER, now=NOW)
    assert order() == [old]


def test_a_correction_that_says_the_same_as_the_memory_is_refused() -> None:
    old = make_memory("Type make ship.")
    with pytest.raises(Conflict, match="cannot be its own correction"):
        recorded(memory=old.ulid, store_correction=True)
    with pytest.raises(Conflict, match="cannot be its own correction"):
        recorded(memory=old.ulid, correction=old.ulid)
    assert not Feedback.objects.exists()
    assert not MemoryMark.objects.exists()


def test_two_ways_to_give_the_correction_are_one_too_many() -> None:
    new = make_memory()
    with pytest.raises(InvalidInput, match="either a correction or store_correction"):
        recorded(correction=new.ulid, store_correction=True)


@pytest.mark.parametrize("name", ["memory", "correction"])
@pytest.mark.parametrize("identifier", [UNKNOWN, "no id"])
def test_an_unknown_memory_is_refused(name: str, identifier: str) -> None:
    with pytest.raises(NotFound, match=f"memory not found: {identifier}"):
        recorded(**{name: identifier})
    assert not Feedback.objects.exists()


def test_a_hidden_memory_may_have_misled_but_cannot_be_the_correction() -> None:
    hidden = make_memory()
    store.forget(hidden.ulid, caller=CALLER)
    recorded(memory=hidden.ulid)
    with pytest.raises(Conflict, match="is forgotten, not live"):
        recorded(correction=hidden.ulid)


def test_applying_counts_and_helps_the_correction_once(
    pair: tuple[Memory, Memory],
) -> None:
    old, new = pair
    row = recorded(memory=old.ulid, correction=new.ulid).feedback
    assert write.apply(row.ulid.lower(), now=NOW).applied_count == 1
    assert write.apply(row.ulid, now=NOW).applied_count == 2
    helpful = MemoryMark.objects.filter(helpful=True)
    assert [mark.memory for mark in helpful] == [new]


def test_applying_a_record_without_correction_only_counts() -> None:
    row = recorded().feedback
    assert write.apply(row.ulid).applied_count == 1
    assert not MemoryMark.objects.exists()


def test_applying_does_not_mark_a_correction_that_is_hidden(
    pair: tuple[Memory, Memory],
) -> None:
    _, new = pair
    row = recorded(correction=new.ulid).feedback
    store.forget(new.ulid, caller=CALLER)
    assert write.apply(row.ulid).applied_count == 1
    assert not MemoryMark.objects.exists()


@pytest.mark.parametrize("identifier", [UNKNOWN, "", "no id"])
def test_an_unknown_record_is_refused(identifier: str) -> None:
    for act in (write.apply, write.delete, write.find):
        with pytest.raises(NotFound, match="feedback not found"):
            act(identifier)


def test_deleting_a_record_takes_its_marks_back(pair: tuple[Memory, Memory]) -> None:
    old, new = pair
    row = recorded(memory=old.ulid, correction=new.ulid).feedback
    write.apply(row.ulid)
    kept = recorded(memory=old.ulid).feedback
    assert order() == [new, old]
    write.delete(row.ulid)
    assert list(Feedback.objects.all()) == [kept]
    assert [mark.reference for mark in MemoryMark.objects.all()] == [kept.ulid]
    assert order() == [old, new]


def test_purging_a_memory_leaves_the_record(pair: tuple[Memory, Memory]) -> None:
    old, new = pair
    row = recorded(memory=old.ulid, correction=new.ulid).feedback
    Memory.objects.filter(pk__in=[old.pk, new.pk]).delete()
    row = write.find(row.ulid)
    assert (row.memory, row.correction) == (None, None)


def helped(memory: Memory, caller: Caller = CALLER, *, undo: bool = False) -> bool:
    return marks.helped(memory.ulid, caller=caller, now=NOW, undo=undo)[1]


def session(name: str) -> Caller:
    return Caller(surface="mcp", origin="agent", host="codex", agent_session=name)


def test_a_memory_that_helped_gains() -> None:
    first = make_memory("The shop is deployed while Anna waits with coffee.")
    second = make_memory("The shop is deployed after Boris writes some letters.")
    assert order() == [first, second]
    assert helped(second)
    assert order() == [second, first]


def test_each_session_marks_a_memory_once() -> None:
    memory = make_memory()
    callers = [CALLER, AGENT, session("one"), session("two" * 80)]
    assert [helped(memory, caller) for caller in callers] == [True] * 4
    assert [helped(memory, caller) for caller in callers] == [False] * 4
    references = MemoryMark.objects.values_list("reference", flat=True)
    assert all(len(reference) <= 26 for reference in references)


def test_a_helpful_mark_can_be_taken_back_by_who_gave_it() -> None:
    memory = make_memory()
    helped(memory)
    helped(memory, session("one"))
    assert helped(memory, undo=True)
    assert not helped(memory, undo=True)
    assert MemoryMark.objects.count() == 1


def test_a_hidden_memory_cannot_be_marked_helpful_but_a_mark_can_be_taken_back() -> (
    None
):
    memory = make_memory()
    helped(memory)
    store.forget(memory.ulid, caller=CALLER)
    with pytest.raises(Conflict, match="is forgotten, not live"):
        helped(memory, AGENT)
    assert helped(memory, undo=True)
    with pytest.raises(NotFound, match="memory not found"):
        marks.helped(UNKNOWN, caller=CALLER, now=NOW)

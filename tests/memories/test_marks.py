"""Marks of feedback: how far they move a memory, and how far they do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

import pytest

from icm_site import conf
from icm_site.conf_keys import Feedback
from icm_site.errors import Conflict
from memories import history, marking, marks, operations, recall, store, texts
from memories.driver import raw_connection
from memories.models import Memory, MemoryMark
from memories.rank import Hit
from memories.recall import Recalled
from memories.schemas import GetParams, RecallParams, RecallResult
from tests.factories import CALLER, make_memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
QUERY = "how is the shop deployed"

pytestmark = pytest.mark.django_db


def wrong(memory: Memory, *, by: str = "R1", to: Memory | None = None) -> bool:
    return marking.mark(memory, helpful=False, reference=by, correction=to, now=NOW)


def helpful(memory: Memory, *, by: str = "S1") -> bool:
    return marking.mark(memory, helpful=True, reference=by, now=NOW)


def corrections(*memories: Memory) -> dict[int, int]:
    return marks.corrections(raw_connection(), [memory.pk for memory in memories])


def found(query: str = QUERY, **given: object) -> list[Recalled]:
    return recall.recall(query=query, count=False, **given).hits  # type: ignore[arg-type]


def order(query: str = QUERY, **given: object) -> list[Memory]:
    return [hit.memory for hit in found(query, **given)]


@pytest.fixture
def deploys() -> tuple[Memory, Memory]:
    """A memory that answers the query better than the one that is right."""
    old = make_memory("The shop is deployed by running deploy.sh on Fridays.")
    new = make_memory("Releases of the shop go out with make ship.")
    return old, new


def test_a_correction_takes_the_place_of_what_it_corrects(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    assert order() == [old, new]
    score = found()[0].score
    wrong(old, to=new)
    assert order() == [new, old]
    first, second = found()
    assert first.score == pytest.approx(score)
    assert first.decided == "decided by correction"
    assert first.arms["correction"] == pytest.approx((1, score))
    assert second.score == pytest.approx(0.95 * score)
    assert second.arms["marks"] == pytest.approx((1, 0.95))


def test_a_correction_joins_the_hits_though_it_has_none_of_the_words() -> None:
    old = make_memory("The shop is deployed by running deploy.sh.")
    new = make_memory("Type make ship.", topic="releases")
    assert order() == [old]
    wrong(old, to=new)
    assert order() == [new, old]
    assert order(limit=1) == [new]


def test_a_correction_outside_the_filters_is_named_but_does_not_join() -> None:
    old = make_memory("The shop is deployed by running deploy.sh.")
    new = make_memory("Type make ship.", topic="errors-blog")
    wrong(old, to=new)
    assert order(project="shop") == [old]
    assert shown(project="shop").hits[0].corrected_by == new.ulid


def test_one_wrong_mark_costs_places_among_near_equals_only() -> None:
    memory = make_memory("The shop is deployed by running deploy.sh.")
    distant = make_memory("The shop sells tea and the like to people in Leeds.")
    wrong(memory)
    assert order() == [memory, distant]
    assert found()[0].score > found()[1].score


def test_many_wrong_marks_never_hide_a_memory() -> None:
    memory = make_memory("The shop is deployed by running deploy.sh.")
    before = found()[0].score
    for number in range(60):
        wrong(memory, by=f"R{number}")
    assert order() == [memory]
    assert 0.5 * before < found()[0].score < 0.6 * before


def test_a_floor_holds_before_the_marks_so_that_none_removes_a_memory() -> None:
    memory = make_memory("The shop is deployed by running deploy.sh.")
    floor = found()[0].score
    wrong(memory)
    assert order(min_score=floor) == [memory]


def test_a_helpful_mark_lifts_a_memory_above_an_equal_one() -> None:
    first = make_memory("The shop is deployed while Anna waits with coffee.")
    second = make_memory("The shop is deployed after Boris writes some letters.")
    assert order() == [first, second]
    helpful(second)
    assert order() == [second, first]


def test_a_memory_beyond_the_limit_can_rise_into_it() -> None:
    first, second = (make_memory(f"The shop is deployed by {n}.") for n in (1, 2))
    assert order(limit=1) == [first]
    helpful(second)
    assert order(limit=1) == [second]


def test_marks_do_nothing_when_they_are_switched_off(
    deploys: tuple[Memory, Memory], no_marks: None
) -> None:
    old, new = deploys
    wrong(old, to=new)
    assert order() == [old, new]
    assert "marks" not in found()[0].arms


@pytest.fixture
def no_marks(no_model: None) -> Iterator[None]:
    off = Feedback(affects_recall=False)
    conf.use(dataclasses.replace(conf.current(), feedback=off))
    return iter([None])


def test_a_mark_is_silent_once_the_text_has_changed_and_speaks_again_after_undo(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    wrong(old, to=new)
    store.update(old.ulid, content="The shop is deployed by make ship.", caller=CALLER)
    assert corrections(old) == {}
    assert "marks" not in found()[0].arms
    history.undo(old.ulid, caller=CALLER, now=NOW)
    assert corrections(old) == {old.pk: new.pk}


def test_a_mark_holds_when_only_the_topic_changes(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    wrong(old, to=new)
    store.update(old.ulid, topic="context-shop", caller=CALLER)
    assert corrections(old) == {old.pk: new.pk}


def test_the_same_reference_marks_a_text_once() -> None:
    memory = make_memory()
    assert helpful(memory)
    assert not helpful(memory)
    assert MemoryMark.objects.count() == 1
    assert helpful(memory, by="S2")


def test_a_memory_cannot_be_its_own_correction() -> None:
    memory = make_memory()
    with pytest.raises(Conflict, match="cannot be its own correction"):
        wrong(memory, to=memory)


def test_unmarking_takes_back_what_one_reference_said() -> None:
    one, other = make_memory("One thing is so."), make_memory("Another is different.")
    helpful(one)
    helpful(other)
    wrong(one)
    assert marking.unmark("S1", memory=one) == 1
    assert marking.unmark("R1") == 1
    assert [mark.memory for mark in MemoryMark.objects.all()] == [other]


def test_a_hidden_correction_does_not_count(deploys: tuple[Memory, Memory]) -> None:
    old, new = deploys
    wrong(old, to=new)
    store.forget(new.ulid, caller=CALLER)
    assert corrections(old) == {}
    assert order() == [old]


def test_the_newest_correction_that_lives_decides() -> None:
    memory, first, second = (make_memory(f"Deploy by way {n}.") for n in (1, 2, 3))
    wrong(memory, by="R1", to=first)
    wrong(memory, by="R2", to=second)
    assert corrections(memory) == {memory.pk: second.pk}
    store.forget(second.ulid, caller=CALLER)
    assert corrections(memory) == {memory.pk: first.pk}


def test_a_superseded_correction_stands_for_what_replaced_it(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    wrong(old, to=new)
    newest = make_memory("Releases go out by themselves.", supersedes=new.ulid)
    assert corrections(old) == {old.pk: newest.pk}


def test_a_memory_that_replaced_its_correction_is_not_corrected(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    wrong(old, to=new)
    store.store(
        topic=old.topic, content=old.summary, supersedes=new.ulid, caller=CALLER
    )
    assert corrections(old) == {}


def test_corrections_are_followed_to_the_last_one() -> None:
    one, two, three = (make_memory(f"Deploy by way {n}.") for n in (1, 2, 3))
    wrong(one, by="R1", to=two)
    wrong(two, by="R2", to=three)
    assert corrections(one, two, three) == {one.pk: three.pk, two.pk: three.pk}
    assert order("deploy by way")[0] == three


def test_of_two_that_correct_each_other_the_newer_record_holds() -> None:
    one, two, three = (make_memory(f"Deploy by way {n}.") for n in (1, 2, 3))
    wrong(three, by="R0", to=one)
    wrong(one, by="R1", to=two)
    wrong(two, by="R2", to=one)
    assert corrections(one, two, three) == {two.pk: one.pk, three.pk: one.pk}


def shown(**given: object) -> RecallResult:
    params = RecallParams(query=QUERY, **given)  # type: ignore[arg-type]
    return operations.memory_recall(params, CALLER)


def test_every_view_of_a_corrected_memory_names_its_correction(
    deploys: tuple[Memory, Memory],
) -> None:
    old, new = deploys
    wrong(old, to=new)
    result = shown(explain=True)
    assert [hit.corrected_by for hit in result.hits] == [None, new.ulid]
    assert f"corrected by: {new.ulid}" in texts.recalled_tool(result)
    assert f"(corrected by {new.ulid})" in texts.recalled_compact(result)
    assert f'"corrected_by": "{new.ulid}"' in texts.recalled_json(result)
    assert f'"corrected_by": "{new.ulid}"' in texts.recalled_as_json(result)
    assert f"corrected by: {new.ulid}" in texts.recalled_detail(result)
    assert f"  {old.ulid}: {new.ulid}" in texts.recalled_toon(result)
    assert f'corrected_by = "{new.ulid}"' in texts.recalled_toml(result)
    assert "marks rank 1 (0.950)" in texts.recalled_tool(result)
    single = operations.memory_get(GetParams(id=old.ulid), CALLER)
    assert f"corrected by: {new.ulid}" in texts.shown(single)


def test_purging_a_memory_takes_its_marks_along(deploys: tuple[Memory, Memory]) -> None:
    old, new = deploys
    wrong(old, to=new)
    Memory.objects.filter(pk=new.pk).delete()
    assert corrections(old) == {}
    Memory.objects.filter(pk=old.pk).delete()
    assert not MemoryMark.objects.exists()


def test_a_correction_already_shown_in_the_project_is_not_shown_twice() -> None:
    own = make_memory("The shop is deployed by make ship.", topic="decisions-shop")
    general = make_memory(
        "How is the shop deployed: by deploy.sh.", topic="errors-resolved"
    )
    wrong(general, to=own)
    assert order(project="shop") == [own, general]


def nothing(keys: Collection[int]) -> Collection[int]:
    return ()


def test_reading_no_marks_gives_the_hits_back() -> None:
    memory = make_memory()
    hits = [Hit(memory.pk, 0.5)]
    assert not marks.exist(raw_connection())
    assert marks.applied(raw_connection(), hits, nothing) == hits

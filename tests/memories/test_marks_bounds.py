"""The bounds of what marks of feedback do to a ranking, for whatever marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories import marks
from memories.rank import Hit

counts = st.integers(0, 10_000)
scores = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("helpful", "wrong", "expected"),
    [
        (0, 0, 1.0),
        (3, 3, 1.0),
        (1, 0, 1.05),
        (4, 0, 1.125),
        (0, 1, 0.95),
        (0, 9, 0.75),
        (5, 6, 0.95),
    ],
)
def test_the_net_of_the_marks_makes_the_factor(
    helpful: int, wrong: int, expected: float
) -> None:
    assert marks.factor(helpful, wrong) == pytest.approx(expected)


@given(counts, counts)
def test_no_number_of_marks_leaves_the_bounds(helpful: int, wrong: int) -> None:
    assert 0.5 <= marks.factor(helpful, wrong) <= 1.25


@given(counts, counts)
def test_each_further_mark_moves_less_and_the_right_way(net: int, other: int) -> None:
    def gain(n: int) -> float:
        return marks.factor(n + 1 + other, other) - marks.factor(n + other, other)

    def loss(n: int) -> float:
        return marks.factor(other, n + other) - marks.factor(other, n + 1 + other)

    for step in (gain, loss):
        assert 0 < step(net + 1) < step(net) <= 0.05 + 1e-9


@st.composite
def rankings(
    draw: st.DrawFn,
) -> tuple[list[Hit], dict[int, float], dict[int, int]]:
    """Hits best first, factors within the bounds, corrections that are final."""
    values = sorted(draw(st.lists(scores, min_size=1, max_size=12)), reverse=True)
    hits = [Hit(i, score) for i, score in enumerate(values, 1)]
    factors = draw(
        st.dictionaries(
            st.sampled_from([h.memory_id for h in hits]), st.floats(0.5, 1.25)
        )
    )
    old = draw(st.sets(st.sampled_from([h.memory_id for h in hits])))
    ends = sorted({*range(1, len(hits) + 4)} - old)
    return hits, factors, {i: draw(st.sampled_from(ends)) for i in sorted(old)}


@given(rankings())
def test_no_hit_is_lost_and_no_score_leaves_the_bounds(
    drawn: tuple[list[Hit], dict[int, float], dict[int, int]],
) -> None:
    hits, factors, corrected = drawn
    done = marks.adjusted(hits, factors, corrected)
    before = {hit.memory_id: hit.score for hit in hits}
    after = {hit.memory_id: hit.score for hit in done}
    assert after.keys() == before.keys() | {*corrected.values()}
    assert len(done) == len(after)
    for memory_id, score in before.items():
        assert after[memory_id] >= 0.5 * score
        if memory_id not in corrected.values():
            assert after[memory_id] <= min(1.0, 1.25 * score)
    assert max(after.values()) <= 1.0


@given(rankings())
def test_a_hit_comes_after_the_memory_that_corrects_it(
    drawn: tuple[list[Hit], dict[int, float], dict[int, int]],
) -> None:
    hits, factors, corrected = drawn
    done = marks.adjusted(hits, factors, corrected)
    order = [hit.memory_id for hit in done]
    assert all(order.index(new) < order.index(old) for old, new in corrected.items())
    assert [hit.score for hit in done] == sorted((h.score for h in done), reverse=True)


@given(rankings(), st.data())
def test_one_wrong_mark_passes_a_hit_only_below_what_is_near(
    drawn: tuple[list[Hit], dict[int, float], dict[int, int]], data: st.DataObject
) -> None:
    hits, _, _ = drawn
    marked = data.draw(st.sampled_from(hits))
    done = marks.adjusted(hits, {marked.memory_id: marks.factor(0, 1)}, {})
    order = [hit.memory_id for hit in done]
    place = order.index(marked.memory_id)
    passed = [h for h in hits[marked.memory_id :] if order.index(h.memory_id) < place]
    assert all(hit.score >= 0.95 * marked.score - 1e-9 for hit in passed)


@given(rankings())
def test_without_marks_nothing_changes(
    drawn: tuple[list[Hit], dict[int, float], dict[int, int]],
) -> None:
    assert marks.adjusted(drawn[0], {}, {}) == drawn[0]


def test_a_raised_score_stays_below_the_ceiling() -> None:
    hits = [Hit(1, 0.5), Hit(2, 0.45)]
    done = marks.adjusted(hits, {1: 1.25, 2: 1.25}, {}, ceiling=0.5)
    assert [(hit.memory_id, hit.score) for hit in done] == [(1, 0.5), (2, 0.5)]

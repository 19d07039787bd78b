"""Ranking without a database."""

import math

import pytest

from memories import lending, rank
from memories.collapse import collapse, is_near_duplicate, said
from memories.rank import Arms, Hit, Neighbours, WordHits


def near(**cosines: float) -> Neighbours:
    """Neighbours by id ("m7") whose nearness equals their cosine."""
    values = {int(name[1:]): value for name, value in cosines.items()}
    order = tuple(sorted(values, key=lambda i: (-values[i], i)))
    return Neighbours(order=order, nearness=values, cosines=values, floor=0.1)


@pytest.mark.parametrize(
    ("asked", "used"), [(-1, 1), (0, 1), (5, 5), (501, 500), (10**12, 500)]
)
def test_limits_are_clamped(asked: int, used: int) -> None:
    assert rank.clamp_limit(asked) == used


@pytest.mark.parametrize(
    ("limit", "override", "depth"),
    [(5, None, 100), (50, None, 200), (500, None, 2000), (5, 1, 20), (5, 9999, 2000)],
)
def test_arms_go_four_times_as_deep_as_the_limit(
    limit: int, override: int | None, depth: int
) -> None:
    assert rank.arm_depth(limit, override) == depth


def test_strength_is_the_covered_weight_times_density() -> None:
    total, rare, common = 1000, 5, 400
    words = [
        WordHits(rare, frozenset({1, 2})),
        WordHits(common, frozenset({1, 3})),
        WordHits(0, frozenset()),
    ]
    bm25 = {1: 6.0, 2: 5.0, 3: 0.4}
    found = rank.text_strengths(bm25, words, total)
    assert 0 < found[3] < found[2] < found[1] < 1


@pytest.mark.parametrize("total", [1, 2, 3, 1000])
def test_a_row_with_every_word_is_strong_in_a_store_of_any_size(total: int) -> None:
    weight = max(math.log((total - 1 + 0.5) / 1.5) if total > 1 else 0.0, 1e-6)
    words = [WordHits(1, frozenset({1}))] * 2
    assert rank.text_strengths({1: 2 * weight}, words, total)[1] > 0.7


def test_a_row_without_a_vector_stands_where_its_words_put_it() -> None:
    strengths = {1: 0.9, 2: 0.1}
    for engine in rank.ENGINES:
        neighbours = near(m3=0.2, m4=0.1)
        scores = rank.fuse(Arms(strengths, strengths, neighbours), engine)
        assert scores[1] > scores[2] > scores[3] > scores[4], engine


@pytest.mark.parametrize("engine", rank.ENGINES)
def test_scores_lie_between_0_and_1_for_any_cosine(engine: str) -> None:
    odd = near(m1=math.nan, m2=-1.0, m3=1.0, m4=math.inf, m5=-math.inf)
    arms = Arms({1: 3.0}, {1: 1.0}, odd)
    scores = rank.fuse(arms, engine)
    assert all(0 <= score <= 1 for score in scores.values())
    assert set(rank.ordered(scores, arms)) <= {1, 2, 3, 4, 5}


def test_of_two_texts_that_both_answer_the_nearer_one_comes_first() -> None:
    arms = Arms({1: 2.0, 2: 1.9}, {1: 0.5, 2: 0.48}, near(m1=0.55, m2=0.7))
    scores = rank.fuse(arms)
    assert rank.ordered(scores, arms) == [2, 1]
    assert scores[1] == pytest.approx(0.5 * 0.5 + 0.5 * 1.05)


def test_the_named_fusions_are_the_documented_ones() -> None:
    arms = Arms({1: 1.0}, {1: 0.5}, near(m1=0.8))
    assert rank.fuse(arms, "blend")[1] == pytest.approx(0.3 * 0.5 + 0.7 * 0.8)
    assert rank.fuse(arms, "additive")[1] == pytest.approx(0.8 + 0.25 * 0.5)


def test_ties_fall_to_the_best_single_rank_and_then_to_the_id() -> None:
    arms = Arms({9: 2.0, 3: 1.0}, {}, Neighbours(order=(7,)))
    scores = {3: 0.5, 7: 0.5, 9: 0.5, 1: 0.5, 2: 0.6, 8: 0.0}
    assert rank.ordered(scores, arms) == [2, 7, 9, 3, 1]


def test_known_words_weigh_more_against_vectors_where_few_are_known() -> None:
    strengths, near_ids = {1: 0.2, 2: 0.05}, near(m1=0.1, m2=0.25)
    whole = rank.fuse(Arms(strengths, strengths, near_ids))
    assert rank.ordered(whole, Arms({}, strengths, near_ids)) == [2, 1]
    few = Arms(strengths, strengths, near_ids, known=0.2)
    scores = rank.fuse(few)
    assert scores[1] == pytest.approx(0.1 / 0.2**0.5 + 0.1)
    assert rank.ordered(scores, few) == [1, 2]
    assert rank.fuse(Arms(strengths, strengths, near_ids, known=0.0)) == (
        rank.fuse(Arms(strengths, strengths, near_ids, known=0.15))
    )
    # Words alone, and the other fusions, keep their scale.
    assert rank.fuse(Arms(strengths, strengths, known=0.2)) == strengths
    blend = rank.fuse(Arms(strengths, strengths, near_ids), "blend")
    assert rank.fuse(few, "blend") == blend


def test_memories_side_by_side_in_a_session_lend_to_each_other() -> None:
    sessions = {1: "a", 2: "a", 3: "a", 4: "b", 6: "a"}
    parts = lending.session_parts({2: 0.5}, sessions, {})
    assert parts == {1: pytest.approx(0.2), 3: pytest.approx(0.2)}
    assert lending.session_parts({1: 1.0}, sessions, {})[3] == pytest.approx(0.2)
    assert lending.with_parts({1: 0.5}, {1: 0.2, 3: 0.1}) == pytest.approx(
        {1: 0.6, 3: 0.1}
    )


def test_a_question_lends_more_to_what_follows_it_and_loses_a_part() -> None:
    sessions = {1: "a", 2: "a", 3: "a", 4: "b"}
    parts = lending.session_parts({2: 0.5, 3: 0.1}, sessions, {}, {2, 3})
    assert parts[1] == pytest.approx(0.2 + 0.02)
    assert parts[3] == pytest.approx(0.3)
    assert 4 not in parts
    raised = lending.with_parts({2: 0.5, 3: 0.1}, parts, {2, 9})
    assert raised[2] == pytest.approx(0.85 * (1 - 0.5 * (1 - parts[2])))
    assert raised[3] == pytest.approx(1 - 0.9 * 0.7)


def test_a_session_that_holds_more_of_the_question_raises_what_it_has() -> None:
    sessions = {1: "a", 5: "a", 9: "b"}
    parts = lending.session_parts({1: 0.5, 9: 0.5}, sessions, {"a": 1.0, "b": 0.5})
    assert parts == {1: pytest.approx(0.3), 9: pytest.approx(0.15)}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The API uses port 8080", "The API server uses port 8080", True),
        ("The API uses port 8080", "The API uses port 8081", False),
        ("Deploys run on Friday", "Deploys do not run on Friday", False),
        ("We use Postgres for the shop", "We use MySQL for the shop", False),
        (
            "Мы используем Postgres для этого",
            "Мы не используем Postgres для этого",
            False,
        ),
        ("Używamy Postgres w tym sklepie", "Nie używamy Postgres w tym sklepie", False),
        ("Pin the client to v2.1", "Pin the client to v2.2", False),
        ("Raise the timeout from 5 to 10 s", "Raise the timeout from 10 to 5 s", False),
        ("The 5 workers use port 8080", "The API: 5 workers use port 8080", True),
        ("会议是5分钟, 记录在这里保存", "会议是５分钟, 记录在这里保存的", True),
        ("Tested on each push to main", "It is tested on each push to main", True),
        ("Alpha beta gamma", "Delta epsilon zeta", False),
        ("", "", False),
        ("Show the log of a branch: git log", "Show the log: git log --all", False),
        ("Sync the files with rsync -a", "Sync the files with rsync -n", False),
        ("Limits are set in core/limits.py", "Limits are set in api/limits.py", False),
        ("UserServiceMock is slow to load", "UserServiceTest is slow to load", False),
        ("Releases are built by GitHub", "The releases are built by Github", True),
        ("Backups run each night", "Backups run each night with encryption off", False),
        (
            "Backups of the shop database run each night at the office",
            "Backups of the shop database run each night at the office by hand, twice",
            False,
        ),
        (
            "Backups of the shop database run each night at the office",
            "The backup of the shop's database runs each night at the main office",
            True,
        ),
    ],
)
def test_near_duplicates_say_the_same(one: str, other: str, same: bool) -> None:
    both = said(one), said(other)
    assert is_near_duplicate(*both) is same
    assert is_near_duplicate(*reversed(both)) is same


def test_near_duplicates_fold_into_the_better_hit_before_the_cut() -> None:
    texts = {
        1: ("t", "the api uses port 8080"),
        2: ("t", "the api server uses port 8080"),
        3: ("t", "the api uses port 8081"),
        4: ("u", "the api uses port 8080"),
        5: ("u", "the api server uses port 8080"),
    }
    hits = [Hit(i, 1 - i / 10) for i in texts]
    kept = collapse(hits, texts.__getitem__, 3)
    assert [hit.memory_id for hit in kept] == [1, 3, 5]
    assert kept[0].collapsed == (2, 4)


def test_equal_words_with_other_names_or_order_do_not_fold_across_topics() -> None:
    texts = {
        1: ("t", "loadUserNames is slow"),
        2: ("u", "loadUserNotes is slow"),
        3: ("t", "load 5, then 10"),
        4: ("u", "load 10, then 5"),
    }
    kept = collapse([Hit(i, 1 - i / 10) for i in texts], texts.__getitem__, 5)
    assert [hit.memory_id for hit in kept] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("sizes", "budget", "chosen"),
    [
        ([4, 4, 4], 2, [0, 1]),
        ([40, 4, 4], 2, [1, 2]),
        ([40, 80], 2, [0]),
        ([], 10, []),
        ([5], 1, [0]),
        ([4, 40, 4], 5, [0, 2]),
    ],
)
def test_a_budget_takes_what_fits_in_rank_order(
    sizes: list[int], budget: int, chosen: list[int]
) -> None:
    assert rank.fit_budget(["x" * size for size in sizes], budget) == chosen

import math

import pytest

from icm_site.benchmarks import scoring

LOG3 = math.log2(3)

RANKINGS = [
    # ranking, relevant, R@1, R@5, R@10, any@5, MRR, nDCG@10
    ("a", "a", 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("xa", "a", 0.0, 1.0, 1.0, 1.0, 0.5, 1 / LOG3),
    (
        "xaxb",
        "ab",
        0.0,
        1.0,
        1.0,
        1.0,
        0.5,
        (1 / LOG3 + 1 / math.log2(5)) / (1 + 1 / LOG3),
    ),
    ("a", "ab", 0.5, 0.5, 0.5, 1.0, 1.0, 1 / (1 + 1 / LOG3)),
    ("vwxyza", "a", 0.0, 0.0, 1.0, 0.0, 1 / 6, 1 / math.log2(7)),
    ("", "a", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
]


@pytest.mark.parametrize(
    ("ranking", "relevant", "r1", "r5", "r10", "any5", "mrr", "ndcg"), RANKINGS
)
def test_a_ranking_is_scored_as_defined(
    ranking: str,
    relevant: str,
    r1: float,
    r5: float,
    r10: float,
    any5: float,
    mrr: float,
    ndcg: float,
) -> None:
    found = scoring.score(list(ranking), list(relevant))
    wanted = {"R@1": r1, "R@5": r5, "R@10": r10, "any@5": any5, "MRR": mrr}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    assert found["nDCG@10"] == pytest.approx(ndcg)
    assert tuple(found) == scoring.METRICS


def test_a_document_below_the_hundredth_place_counts_for_nothing() -> None:
    ranking = [f"x{i}" for i in range(100)]
    assert not any(scoring.score([*ranking, "a"], ["a"]).values())
    assert scoring.score([*ranking[:99], "a"], ["a"])["MRR"] == 0.01


def test_more_than_ten_relevant_documents_can_still_be_ranked_perfectly() -> None:
    names = [f"d{i}" for i in range(12)]
    found = scoring.score(names, names)
    assert found["nDCG@10"] == pytest.approx(1.0)
    assert found["R@10"] == pytest.approx(10 / 12)


def test_means_are_over_queries_and_by_kind() -> None:
    rows = [scoring.score(["a"], ["a"]), scoring.score(["b"], ["a"])]
    assert scoring.mean(rows)["R@1"] == 0.5
    kinds = scoring.by_kind(["easy", "hard"], rows)
    assert {name: (n, m["MRR"]) for name, (n, m) in kinds.items()} == {
        "easy": (1, 1.0),
        "hard": (1, 0.0),
    }
    assert math.isnan(scoring.mean([])["R@1"])


def test_sessions_are_ranked_by_their_best_document() -> None:
    session_of = {"a1": "A", "a2": "A", "b1": "B", "c1": "C"}
    assert scoring.session_ranking(["b1", "a2", "b1", "a1"], session_of) == ("B", "A")


def test_a_forbidden_document_counts_within_the_first_five() -> None:
    assert scoring.has_forbidden(list("abcde"), ["e"])
    assert not scoring.has_forbidden(list("abcdef"), ["f"])


def test_a_clear_gain_has_an_interval_above_zero_and_is_repeatable() -> None:
    first, second = [0.0] * 60 + [1.0] * 40, [1.0] * 80 + [0.0] * 20
    found = scoring.difference(first, second)
    assert found.mean == pytest.approx(0.4)
    assert 0 < found.low < 0.4 < found.high
    assert found.significant
    assert scoring.difference(first, second) == found
    assert scoring.difference(first, second, seed=1) != found


def test_the_interval_is_that_of_the_normal_distribution_for_many_queries() -> None:
    first = [0.0] * 1000
    second = [1.0, -1.0] * 500
    found = scoring.difference(first, second)
    half = 1.96 / math.sqrt(1000)
    assert (found.low, found.high) == pytest.approx((-half, half), abs=0.004)
    assert not found.significant


def test_no_difference_is_exactly_none() -> None:
    found = scoring.difference([0.5, 1.0], [0.5, 1.0], resamples=30)
    assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)
    assert math.isnan(scoring.difference([], []).mean)


def test_unpaired_values_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        scoring.difference([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("positive", "negative", "wanted"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.3, 0.7], [0.3, 0.5], 0.625),
    ],
)
def test_auc_is_the_chance_of_a_higher_score_and_ties_count_half(
    positive: list[float], negative: list[float], wanted: float
) -> None:
    assert scoring.auc(positive, negative) == pytest.approx(wanted)


def test_a_side_without_values_has_neither_auc_nor_quantiles() -> None:
    assert math.isnan(scoring.auc([0.5], []))
    assert math.isnan(scoring.spread([]).median)
    found = scoring.spread([0.0, 1.0, 2.0])
    assert (found.count, found.median) == (3, 1.0)
    assert (found.p10, found.p90) == pytest.approx((0.2, 1.8))

"""The constants of relevance are those of a regression on own and foreign questions."""

import numpy as np
import pytest

from icm_site.benchmarks import data, relevance_fit
from icm_site.benchmarks.data import Document, Evaluation, Query
from icm_site.benchmarks.relevance_fit import Observation, fitted, regression
from icm_site.errors import InvalidInput
from memories import relevance
from memories.rank import HOOK_FLOOR


def observed(
    *, own: bool, near: float | None = None, count: int = 400, seed: int = 1
) -> list[Observation]:
    """Answers whose score is higher on the own side, and that know more of it."""
    random = np.random.default_rng(seed)
    middle = 0.55 if own else 0.2
    return [
        Observation(
            own=own,
            score=float(np.clip(random.normal(middle, 0.1), 0, 1)),
            nearness=None if near is None else near * float(random.random()),
            known=float(np.clip(random.normal(0.5 + middle / 2, 0.2), 0, 1)),
            weight=20.0,
        )
        for _ in range(count)
    ]


def test_a_regression_finds_the_weights_that_drew_its_labels() -> None:
    random = np.random.default_rng(7)
    rows = np.column_stack([np.ones(20_000), random.random((20_000, 2))])
    drawn = np.array([-3.0, 4.0, 2.0])
    labels = (random.random(20_000) < 1 / (1 + np.exp(-rows @ drawn))).astype(float)
    found = regression(rows, labels, np.ones(20_000))
    assert found == pytest.approx(drawn, abs=0.2)
    # Two rows count as one that counts twice.
    halved = regression(rows[:500].repeat(2, 0), labels[:500].repeat(2), np.ones(1000))
    assert halved == pytest.approx(
        regression(rows[:500], labels[:500], 2 * np.ones(500))
    )


def test_a_fit_answers_its_own_questions_and_few_foreign_ones() -> None:
    seen = [*observed(own=True), *observed(own=False, seed=2)]
    fit = fitted(seen)
    assert fit.near is None
    assert fit.own > 0.95
    assert fit.foreign < 0.05
    # Where a store knows every word, the score alone still parts the two.
    a, b, c = fit.constants
    assert 0.1 < -(a + c) / b < 0.5


def test_a_nearness_that_few_foreign_questions_reach_is_enough_alone() -> None:
    seen = [*observed(own=True, near=0.9), *observed(own=False, near=0.4, seed=2)]
    fit = fitted(seen)
    assert fit.near is not None
    assert 0.36 < fit.near < 0.4
    foreign = [o.nearness or 0.0 for o in seen if not o.own]
    share = sum(near > fit.near for near in foreign) / len(foreign)
    assert share == pytest.approx(relevance_fit.FOREIGN_NEAR, abs=0.005)


def test_one_side_alone_cannot_be_fitted() -> None:
    with pytest.raises(InvalidInput, match="two files of one set"):
        fitted(observed(own=True))


def test_the_constants_answer_at_the_floor_what_a_fit_would() -> None:
    """At a score of 0 nothing is shown; where half is known a good hit is."""
    for near in (None, 0.0):
        sure = relevance.Question(known=1.0, weight=20.0).relevance(0.1, near)
        assert sure < HOOK_FLOOR
        good = relevance.Question(known=0.6, weight=20.0).relevance(0.6, near)
        assert good > HOOK_FLOOR


@pytest.mark.slow
@pytest.mark.django_db
def test_questions_are_asked_of_their_own_texts_and_of_the_next_ones() -> None:
    def talk(name: str, text: str, question: str) -> Evaluation:
        corpus = (Document(id="1", text=text, topic=name),)
        asked = Query(id="q", text=question, relevant=("1",))
        trap = Query(id="t", text="Who flew?", relevant=("1",), kind="adversarial")
        return Evaluation(name=name, set="s", corpus=corpus, queries=(asked, trap))

    pair = data.with_foreign(
        [
            talk("one", "Nora painted a lake in Finland.", "What did Nora paint?"),
            talk("two", "The gateway listens on port 8080.", "Which port, gateway?"),
        ]
    )
    first, second = (
        list(relevance_fit.observations(each, no_model=True)) for each in pair
    )
    assert [o.own for o in (*first, *second)] == [True, False, True, False]
    assert all(o.score > 0.3 and o.known == 1.0 for o in (first[0], second[0]))
    assert all(o.score == 0.0 for o in (first[1], second[1]))
    rows = relevance_fit.table(pair, no_model=True).row_count
    assert rows == 1

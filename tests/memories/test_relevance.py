"""How sure it is that a memory has to do with a query."""

import pytest

from icm_site import text
from memories import rank, recall, relevance
from memories.words import Words
from tests.factories import make_memory


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("When did Caroline go to Kyoto?", ["Caroline", "Kyoto"]),
        ("Caroline went home. Then what?", []),
        ("is Melanie's dog 7 years old", ["Melanie", "7"]),
        ("why does getUser fail in utf8_text", ["getUser", "utf8_text"]),
        ("fix README and the API", ["README", "API"]),
        ("- Ask Nora. Then “Max”\nPlease do", ["Nora", "Max"]),
        ("thanks, now run the tests", []),
        ("", []),
    ],
)
def test_names_and_numbers_are_told_by_their_spelling(
    query: str, names: list[str]
) -> None:
    assert relevance.names_in(query) == names


def test_errands_are_in_the_form_of_the_index() -> None:
    said = "continue, thanks, run the tests again, please fix this error"
    assert relevance.ERRANDS.issuperset(text.search_words(said))


def test_an_errand_asks_for_less_than_other_words() -> None:
    errand = relevance.question("fix paint", words({"fix": 0, "paint": 3}))
    matter = relevance.question("lake paint", words({"lake": 0, "paint": 3}))
    assert errand.known > matter.known
    assert errand.weight < matter.weight


def words(holders: dict[str, int]) -> Words:
    return Words(tuple(holders), tuple(holders.values()), (), rows=1000, average=20.0)


def test_an_unknown_word_that_has_another_form_does_not_count() -> None:
    found = words({"vectors": 0, "paint": 3})
    assert relevance.question("vectors paint", found).known < 1
    spare = Words(found.terms, found.holders, ("vectors",), rows=1000, average=20.0)
    assert relevance.question("vectors paint", spare).known == 1


def test_a_name_that_no_memory_knows_counts_more_than_another_word() -> None:
    query = "Did Nora paint a lake"
    all_but_name = words({"nora": 0, "paint": 3, "lake": 3})
    all_but_word = words({"nora": 3, "paint": 3, "lake": 0})
    less = relevance.question(query, all_but_name)
    more = relevance.question(query, all_but_word)
    assert less.known < 0.5 < more.known
    assert less.relevance(0.4) < more.relevance(0.4)


def test_relevance_is_within_0_and_1_and_rises_with_score_and_nearness() -> None:
    asked = relevance.Question(known=0.8, weight=20.0)
    for near in (None, -1.0, 0.0, 0.3, 0.6, 1.0):
        values = [asked.relevance(score / 10, near) for score in range(11)]
        assert values == sorted(values)
        assert values[0] >= 0 and values[-1] <= 1
    nearer = [asked.relevance(0.3, near / 10) for near in range(11)]
    assert nearer == sorted(nearer)


def test_another_language_is_relevant_by_its_nearness_alone() -> None:
    asked = relevance.Question(known=0.0, weight=30.0)
    assert asked.relevance(0.25, 0.45) > rank.HOOK_FLOOR
    assert asked.relevance(0.10, 0.20) < 0.1


NOTES = [
    "Payments: orders are written to Postgres 16 with the outbox pattern.",
    "The staging cluster runs Kubernetes 1.31 in Frankfurt.",
    "Run the linter before each commit; continue only when it is clean.",
    "Nora prefers tabs in Go files and spaces in Python.",
]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("prompt", "answered"),
    [
        ("How are orders written to Postgres?", True),
        ("Which Kubernetes version does the staging cluster run?", True),
        ("continue", False),
        ("thanks, now run the tests", False),
        ("yes please go ahead", False),
        ("ok", False),
        ("Who won the chess tournament in Reykjavik in 1972?", False),
        ("translate it all to french", False),
    ],
)
def test_at_the_floor_of_hooks_only_what_fits_is_answered(
    prompt: str, answered: bool
) -> None:
    for note in NOTES:
        make_memory(note)
    found = recall.recall(query=prompt, min_relevance=rank.HOOK_FLOOR).hits
    assert bool(found) == answered
    assert all(hit.relevance >= rank.HOOK_FLOOR for hit in found)


@pytest.mark.django_db
def test_a_floor_of_relevance_leaves_the_rest_of_the_order_alone() -> None:
    for note in NOTES:
        make_memory(note)
    query = "Which Kubernetes cluster runs in Frankfurt, and who prefers tabs in Go?"
    every = recall.recall(query=query).hits
    sure = recall.recall(query=query, min_relevance=every[0].relevance).hits
    assert len(every) > 1
    assert [hit.memory.pk for hit in sure] == [every[0].memory.pk]


@pytest.mark.django_db
def test_the_substring_fallback_is_never_sure() -> None:
    make_memory("The kubernetes cluster.")
    (hit,) = recall.recall(query="ubernete").hits
    assert hit.relevance == 0

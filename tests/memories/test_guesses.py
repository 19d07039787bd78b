"""Words that no memory holds are taken for the nearest ones that some memory holds."""

import sqlite3
from typing import Any

import pytest

from icm_site.text import search_words
from memories import relevance, words
from memories.driver import raw_connection
from memories.guesses import guessed, is_near
from memories.search import find
from memories.words import GUESS_SHARE, IndexWords
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def asked(query: str) -> words.IndexAsked:
    return IndexWords().ask(raw_connection(), query, depth=20)


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("gatewy", "gatewa", True),
        ("gaetwa", "gatewa", True),
        ("gartew", "gatewa", True),
        ("conect", "connec", True),
        ("musik", "music", True),
        ("gatewa", "gatewa", True),
        ("gtaewy", "gatewa", False),
        ("servic", "server", False),
        ("portal", "port", False),
        ("ledger", "redis", False),
    ],
)
def test_words_are_near_that_are_one_edit_apart(
    one: str, other: str, near: bool
) -> None:
    assert is_near(one, other) is near
    assert is_near(other, one) is near


@pytest.mark.parametrize(
    "query", ["gatewy", "gatweay", "gteway", "gaetway", "gataway", "gattewa"]
)
def test_a_misspelt_word_finds_what_was_meant(query: str) -> None:
    made = make_memory("The gateway listens on 8080.")
    make_memory("Lunch is at noon.")
    assert [hit.memory_id for hit in find(raw_connection(), query)] == [made.pk]


def test_a_guess_says_less_than_the_word_and_leaves_it_unknown() -> None:
    make_memory("The gateway listens on 8080.")
    well, badly = asked("gateway noon"), asked("gatewy noon")
    assert badly.words.known == 0
    assert list(badly.words.terms) == ["gatewi", "noon", "gatewa"]
    assert badly.words.weights[-1] == GUESS_SHARE * well.words.weights[0]
    assert 0 < badly.strengths([1])[1] < well.strengths([1])[1]
    assert relevance.question("gatewy noon", badly.words).known == 0


def test_the_commoner_word_is_guessed() -> None:
    make_memory("The mailer sends mails.")
    make_memory("The mapper runs.")
    make_memory("The mapper rests.")
    assert asked("the maoper").words.terms[-1] == "mapper"


@pytest.mark.parametrize("query", ["prto", "gatew4y", "Gatеwy", "gateway"])
def test_short_words_numbers_and_known_words_are_taken_as_they_are(
    query: str,
) -> None:
    make_memory("The gateway has a port.")
    assert asked(query).words.guesses == 0


def test_of_many_unknown_words_the_first_are_looked_up() -> None:
    make_memory("The gateway listens.")
    many = [f"unknow{letter}" for letter in "abcdefgh"]
    assert asked(" ".join([*"nowhere elsewhere somewhere".split(), "gatewy"])).bm25
    terms = [*(word[::-1] for word in many), "gatewy"]
    assert guessed(raw_connection(), terms, [0] * 9, (), {}) == []


def test_without_the_vocabulary_the_other_words_still_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = make_memory("The gateway listens on 8080.")
    raw = raw_connection()

    class NoVocabulary:
        def execute(self, statement: str, *parameters: Any) -> Any:
            if "memories_terms" in statement:
                raise sqlite3.OperationalError("no such module: fts5vocab")
            return raw.execute(statement, *parameters)

    hits = find(NoVocabulary(), "listens gatewy")
    assert [hit.memory_id for hit in hits] == [made.pk]
    assert "no words were guessed" in caplog.text


def test_what_was_guessed_is_kept_while_nothing_changes() -> None:
    make_memory("The gateway listens.")
    known: dict[str, str] = {}
    terms = search_words("gatewy zanzibar")
    for _ in range(2):
        assert guessed(raw_connection(), terms, [0, 0], (), known) == ["gatewa"]
        assert known == {"gatewi": "gatewa", "zanzib": ""}

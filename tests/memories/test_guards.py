"""What a text says, token by token, and where two texts differ."""

import pytest

from memories.guards import (
    Change,
    changes,
    negations,
    opposition,
    overlap,
    same_word,
)
from memories.reading import Token, fold, read, readings

READ = [
    ("port 5432", ["port", "5432"]),
    ("10ms or 10 ms", ["10", "ms", "or", "10", "ms"]),
    ("10,000 rows, 1,5 GB", ["10000", "rows", "1.5", "gb"]),
    ("ports 80,443,8080", ["ports", "80", "443", "8080"]),
    ("v1.2.3 and 1.2.3", ["1.2.3", "and", "1.2.3"]),
    ("-5 or .5", ["-5", "or", "0.5"]),
    ("due 2024–05–01, 10:30", ["due", "2024-05-01", "10:30"]),
    ("/etc/app and etc/app", ["/etc/app", "and", "etc/app"]),
    ("run --no-cache", ["run", "--no-cache"]),
    ("real-time data", ["real", "time", "data"]),
    ("C++ or C# or C", ["c++", "or", "c#", "or", "c"]),
    ("don’t, cannot, isnt", ["do", "not", "can", "not", "is", "not"]),
    ("it's the user's", ["it", "the", "user"]),
    ("l’API n'est", ["l", "api", "ne", "est"]),
    ("a -> b, a → b", ["a", "→", "b", "a", "→", "b"]),
    ("x != 5, x ≠ 5, x < 5", ["x", "≠", "5", "x", "≠", "5", "x", "<", "5"]),
    ("使用Redis", ["使", "用", "redis"]),
    ("wait...done", ["wait", "done"]),
    ("**bold** “quoted”", ["bold", "quoted"]),
    ("zwei, deux, two", ["2", "2", "2"]),
    ("समय नहीं है", ["समय", "नहीं", "है"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "keys"), READ)
def test_a_text_is_read_as_tokens(text: str, keys: list[str]) -> None:
    assert [token.key for token in read(text)] == keys


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("5432", "number"),
        ("get_user", "identifier"),
        ("getUser", "identifier"),
        ("/var/log", "identifier"),
        ("`user`", "identifier"),
        ("nicht", "negation"),
        ("不", "negation"),
        ("用", "character"),
        ("€", "symbol"),
        ("café", "word"),
    ],
)
def test_a_token_has_a_kind(text: str, kind: str) -> None:
    assert [token.kind for token in read(text)] == [kind]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We store it in Redis", ["Redis"]),
        ("Alice owns the billing service", ["Alice"]),
        ("Prefer tabs in Makefiles", ["Makefiles"]),
        ("First line. Second line of Bob", ["Bob"]),
        ("ALL CAPITALS SAY NOTHING", []),
        ("Every Word Is Capital", []),
    ],
)
def test_names_are_capitals_that_no_sentence_asks_for(
    text: str, names: list[str]
) -> None:
    assert [token.raw for token in read(text) if token.name] == names


@pytest.mark.parametrize(
    ("first", "second", "language", "same"),
    [
        ("server", "servers", "", True),
        ("run", "running", "en", True),
        ("use", "uses", "en", True),
        ("retry", "retries", "en", True),
        ("cache", "caching", "en", True),
        ("used", "use", "en", False),
        ("user", "use", "en", False),
        ("http", "https", "en", False),
        ("new", "news", "en", False),
        ("cat", "car", "en", False),
        ("neue", "neuen", "de", True),
        ("Datei", "Dateien", "de", True),
        ("Nutzer", "Nutzen", "de", False),
        ("fichier", "fichiers", "fr", True),
        ("port", "porte", "fr", False),
    ],
)
def test_endings_decide_whether_it_is_one_word(
    first: str, second: str, language: str, same: bool
) -> None:
    one, two = (Token(word.lower(), "word", word) for word in (first, second))
    assert same_word(one, two, language) is same


def test_names_and_code_have_no_endings() -> None:
    one, two = (
        Token("adam", "word", "Adam", True),
        Token("adams", "word", "Adams", True),
    )
    assert not same_word(one, two, "en")
    assert not same_word(
        Token("user_id", "identifier"), Token("user_ids", "identifier"), "en"
    )


def test_fillers_are_left_out_in_the_language_of_the_text() -> None:
    english, _ = readings("The pods die at night", "A pod is there")
    german, _ = readings("Die Datenbank ist die neue", "Das ist der Server")
    assert english.keys == ["pods", "die", "at", "night"]
    assert german.keys == ["datenbank", "neue"]


def test_a_single_small_word_does_not_tell_a_language() -> None:
    assert readings("set locale el", "set locale")[0].keys == ["set", "locale", "el"]


def test_one_may_stand_for_an_article_but_not_for_nothing() -> None:
    assert changes(*readings("One man is waiting", "A man is waiting")) == []
    assert changes(*readings("One man is waiting", "The man is waiting"))


def test_a_change_names_both_sides() -> None:
    found = changes(*readings("port is 5433", "port is 5432"))
    assert [(c.old and c.old.raw, c.new and c.new.raw) for c in found] == [
        ("5432", "5433")
    ]
    assert opposition(found) == "another number: 5432 -> 5433"


def test_a_value_opposes_only_where_little_else_differs() -> None:
    old, new, *more = read("5432 5433 apples pears")
    added = [Change(None, token) for token in more]
    assert opposition([Change(old, new), *added[:1]])
    assert not opposition([Change(old, new), *added])


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ("able unable", "another side: able -> unable"),
        ("do undo", ""),
        ("getUser getUsers", "another identifier: getUser -> getUsers"),
        ("getUser nobody", ""),
    ],
)
def test_words_oppose_by_a_negative_prefix_or_as_two_names(
    pair: str, reason: str
) -> None:
    old, new = read(pair)
    assert opposition([Change(old, new)]) == reason


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("we don't", 1),
        ("wir haben keine", 1),
        ("使いません", 1),
        ("没有", 1),
        ("ok", 0),
    ],
)
def test_negations_are_counted(text: str, count: int) -> None:
    assert negations(readings(text, text)[0]) == count


def test_small_words_do_not_count_as_common() -> None:
    pair = readings("We use Redis for it", "We run Kafka for it")
    assert overlap(*pair) == 0.0


def test_folding_is_stable() -> None:
    for text in ("Straße  NAÏVE", "Ｆｕｌｌ　width", "İstanbul ılık", "使用Redis"):
        assert fold(fold(text)) == fold(text)
        assert fold(text.upper()) == fold(text)

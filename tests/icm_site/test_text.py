"""Text as search sees it."""

import sqlite3
import time
import unicodedata

import pytest

from icm_site import text
from icm_site.irregular import BASES
from icm_site.stem import stem
from memories.fts_schema import TOKENIZER


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Caf\u00e9", "CAFE\u0301"),
        ("İstanbul", "i\u0307stanbul"),
        ("STRASSE", "straße"),
        ("Ｐｏｓｔｇｒｅｓ", "postgres"),
        ("ﬁle", "file"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
    ],
)
def test_spellings_of_one_text_have_one_normal_form(one: str, other: str) -> None:
    assert text.normalise(one) == text.normalise(other)


@pytest.mark.parametrize("value", ["", "abc", "İ", "ǰ", "ﷺ" * 20, "日本語 テスト"])
def test_normalising_twice_changes_nothing(value: str) -> None:
    assert text.normalise(text.normalise(value)) == text.normalise(value)


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("日本語の検索", "日本"),
        ("日本語の検索", "検索"),
        ("日本語の検索", "索"),
        ("数据库使用Postgres部署", "postgres"),
        ("数据库使用Postgres部署", "数据库使"),
        ("데이터베이스를 옮겼다", "데이터베이스"),
        ("ฐานข้อมูลหลัก", "ข้อมูล"),
        ("call getUserById first", "user"),
        ("call getUserById first", "getUserById"),
        ("call getUserById first", "get_user_by_id"),
        ("set max_retry_count", "maxRetryCount"),
        ("set max_retry_count", "retry"),
        ("import os.path.join", "path"),
        ("HTTPServer restarts", "http server"),
        ("needs UTF-8", "utf8"),
        ("written in JavaScript", "javascript"),
        ("Configuration of the gateway", "configured gateways"),
        ("Миграция базы данных", "миграции данные"),
        ("والمدينة القديمة", "مدينة"),
        ("हिन्दी में खोज", "हिन्दी"),
        ("Der Zürcher Server", "zurcher"),
        ("caching of results", "cached result"),
        ("the queries that were added", "add query"),
        ("kubernetes集群", "Kubernetes"),
    ],
)
def test_the_index_holds_the_words_of_the_query(stored: str, query: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{TOKENIZER}')")
    database.execute("INSERT INTO t VALUES (?)", (text.index_text(stored),))
    assert text.search_words(query)
    for word in text.search_words(query):
        term = text.match_term(word)
        assert database.execute("SELECT 1 FROM t WHERE t MATCH ?", (term,)).fetchall()


@pytest.mark.parametrize(
    "forms",
    [
        "cache caches cached caching",
        "use uses used using",
        "name names named naming",
        "query queries",
        "status statuses",
        "add adds added adding",
        "run running",
        "agree agreed",
        "deploy deploys deployed deploying",
        "id ids",
        "configure configuration",
        "take takes took taken taking",
        "buy buys bought",
        "child children",
        "index indexes indices",
        "rewrite rewrote rewritten",
    ],
)
def test_forms_of_an_english_word_are_one_word(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_an_irregular_form_is_found_by_its_base_and_finds_it() -> None:
    assert text.index_text("The children took two mice.") == "the child take two mous"
    assert text.search_words("Who has taken the mouse?") == ["take", "mous"]
    assert text.index_text("lastBoughtAt") == "lastbo last bui at 0lastboughtat"


def test_irregular_forms_have_one_base_that_is_none_itself() -> None:
    assert not set(BASES) & set(BASES.values())
    ambiguous = "left found saw rose bore lay ground wound bound bit shot led lives"
    assert not set(BASES) & set(ambiguous.split())


def test_what_tells_texts_apart_knows_nothing_of_irregular_forms() -> None:
    took, take = (
        text.summary_hash("t", f"Ann {word} it.") for word in ("took", "take")
    )
    assert took != take
    assert text.word_set("It took") == {"it", "took"}
    assert text.normalise("Took") == "took"
    assert text.plain_words("took") == ["took"]


def test_words_that_only_look_like_forms_stay_apart() -> None:
    words = "note not hope hop plane plan care car use us need speed king sing".split()
    assert len({stem(word) for word in words}) == len(words)


@pytest.mark.parametrize(
    ("query", "spare"),
    [
        ("where is getUserName called", {"getuse", "0getusername"}),
        ("needs UTF-8", {"utf8"}),
        ("a plain question", set()),
    ],
)
def test_forms_of_an_identifier_are_spare(query: str, spare: set[str]) -> None:
    assert text.spare_words(query) == spare


def test_parts_of_an_identifier_are_words_beside_the_whole() -> None:
    assert text.index_text("getUser") == "getuse get user 0getuser"
    assert text.index_text("max_retries") == "maxret max retri 0maxretries"
    assert text.index_text("UTF-8") == "utf8 utf 8"


def test_a_sentence_is_not_taken_for_an_identifier() -> None:
    assert text.index_text("A short note.") == "a short note"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("where is the port of the proxy", ["port", "proxi"]),
        ("what is it", ["what", "is", "it"]),
        ("port port PORT", ["port"]),
        ("", []),
        ("?! --", []),
        ("don't panic", ["panic"]),
        ("never deploy on Friday", ["never", "deploi", "fridai"]),
    ],
)
def test_stop_words_go_unless_nothing_is_left(query: str, words: list[str]) -> None:
    assert text.search_words(query) == words


PUNCTUATION = "".join(map(chr, range(1, 128)))


@pytest.mark.parametrize(
    "query",
    [
        PUNCTUATION,
        'a" OR b*',
        "NEAR(a b) AND NOT c^2",
        "col:x {y}",
        "\0",
        "e\u0301\u202e\U0001f600",
        "語",
    ],
)
def test_no_character_of_a_query_is_an_operator(query: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    expression = text.match_expression(query)
    if expression:
        database.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()


def test_a_match_expression_joins_quoted_words_by_or() -> None:
    assert text.match_expression("Port and proxy") == '"port" OR "proxi"'
    assert text.match_expression("語") == '"語"*'
    assert text.match_expression(" \n ") == ""


def test_a_long_query_is_cut_to_bytes_and_words() -> None:
    assert len(text.search_words(" ".join(f"w{i}x" for i in range(2000)))) == 100
    assert text.search_words("日" * 20_000) == ["日日"]
    assert text.search_words("word " * 2_000 + "tail") == ["word"]


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [
        ("abc", 2, "ab"),
        ("abc", 3, "abc"),
        ("äöü", 3, "ä"),
        ("日本", 5, "日"),
        ("\U0001f600", 3, ""),
        ("abc", 0, ""),
        ("abc", -5, ""),
    ],
)
def test_a_cut_never_splits_a_character(value: str, limit: int, expected: str) -> None:
    assert text.cut(value, limit) == expected


def test_flattened_text_has_no_line_breaks() -> None:
    assert text.flatten("a\r\nb\n\nc\u2028d e") == "a b c d e"


@pytest.mark.parametrize(
    ("value", "cost"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日" * 8, 2)]
)
def test_a_token_is_four_characters(value: str, cost: int) -> None:
    assert text.token_cost(value) == cost


def test_the_hash_ignores_case_blanks_and_unicode_form() -> None:
    value = text.summary_hash("Decisions-X", "Use caf\u00e9  now\n")
    other = text.summary_hash(" decisions-x ", "use CAFE\u0301 now")
    assert value == other
    assert len(value) == 64
    assert value != text.summary_hash("decisions-y", "use café now")
    assert text.summary_hash("a", "b c") != text.summary_hash("a b", "c")


def test_word_sets_compare_texts_by_their_words() -> None:
    assert text.word_set("Run the TESTS") == {"run", "the", "tests"}


@pytest.mark.parametrize(
    "value", ["a" * 65_536, "aB" * 32_768, "a_" * 32_768, "日" * 21_845, "é" * 32_768]
)
def test_the_longest_text_without_a_space_is_indexed_in_linear_time(value: str) -> None:
    start = time.perf_counter()
    text.index_text(value)
    assert time.perf_counter() - start < 5


def test_index_text_is_the_same_for_composed_and_decomposed_text() -> None:
    value = "Ångström naïve の検索 데이터"
    decomposed = unicodedata.normalize("NFD", value)
    assert text.index_text(value) == text.index_text(decomposed)

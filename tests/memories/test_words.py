"""Words of memories: the index and the arrays answer alike and follow the database."""

import logging
import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from icm_site.text import index_text
from memories import arms, fts_schema, search, word_matrix, words
from memories.scope import Scope
from memories.word_matrix import MatrixWords
from memories.words import IndexWords, Words, varints

TABLES = """
CREATE TABLE memories(
    id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT DEFAULT 'live', topic TEXT,
    topic_key TEXT GENERATED ALWAYS AS (lower(topic)),
    summary TEXT, keywords_key TEXT DEFAULT '', superseded_by_id INT,
    agent_session TEXT DEFAULT '',
    topic_index TEXT, summary_index TEXT, keywords_index TEXT DEFAULT '');
CREATE TABLE icm_metadata(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE memory_usage(memory_id INTEGER PRIMARY KEY, weight REAL);
"""
VOCABULARY = """
proxy port staging database cache caching deploy deployed getUserById max_retries UTF-8
the of never 日本語の検索 第3章 설정 Миграция café status statuses v1.2.3 x
""".split()
QUERIES = [
    "proxy port",
    "which database caches are deployed on staging?",
    "get_user_by_id maxRetries utf8",
    "日本",
    "第 章",
    "설정 миграции CAFE",
    "nothing of this is there: zanzibar",
    "stagign proyx databse cahces is depolyed",
    "wich databaze of the staing Musik",
    "the of",
    "?",
    " ".join(VOCABULARY),
]
random_texts = random.Random(7)


def add(raw: sqlite3.Connection, topic: str = "notes", summary: str = "") -> int:
    text = summary or " ".join(random_texts.choices(VOCABULARY, k=9))
    cursor = raw.execute(
        "INSERT INTO memories(topic, summary, topic_index, summary_index)"
        " VALUES (?, ?, ?, ?)",
        (topic, text, index_text(topic), index_text(text)),
    )
    return int(cursor.lastrowid or 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "words.sqlite3"


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(path, isolation_level=None)
    found.executescript(TABLES)
    for statement in [fts_schema.CREATE_VIEW, fts_schema.CREATE_FTS]:
        found.execute(statement)
    for statement in fts_schema.FTS_TRIGGERS:
        found.execute(statement)
    found.execute("PRAGMA synchronous = OFF")
    found.execute("BEGIN")
    for n in range(150):
        add(found, topic=f"topic{n % 3}")
    found.execute("COMMIT")
    yield found
    found.close()


def check(matrix: MatrixWords, raw: sqlite3.Connection, depth: int = 20) -> None:
    """The arrays say exactly what the index says, for every query."""
    rows = [row[0] for row in raw.execute("SELECT id FROM memories_fts_docsize")]
    for query in QUERIES:
        one = IndexWords().ask(raw, query, depth=depth)
        other = matrix.ask(raw, query, depth=depth)
        assert one.words == other.words
        assert list(one.bm25.items()) == list(other.bm25.items()), query
        assert one.strengths(rows) == other.strengths(rows), query
        assert one.held(rows) == other.held(rows), query


def test_the_arrays_answer_what_the_index_answers(raw: sqlite3.Connection) -> None:
    matrix = MatrixWords()
    check(matrix, raw)
    check(matrix, raw, depth=500)


def test_the_arrays_follow_every_change(raw: sqlite3.Connection, path: Path) -> None:
    matrix = MatrixWords()
    check(matrix, raw)
    other = sqlite3.connect(path, isolation_level=None)
    add(other, summary="The proxy has a new port: 日記 8443.")
    check(matrix, raw)
    other.execute("UPDATE memories SET summary_index = 'portal proxi' WHERE id = 5")
    check(matrix, raw)
    other.execute("UPDATE memories SET state = 'forgotten' WHERE id = 7")
    check(matrix, raw)
    other.execute("UPDATE memories SET state = 'superseded' WHERE id = 7")
    check(matrix, raw)
    other.execute("DELETE FROM memories WHERE id > 140")
    check(matrix, raw)
    other.execute("INSERT INTO memories_fts(memories_fts) VALUES ('optimize')")
    check(matrix, raw)
    other.execute("DELETE FROM memories")
    check(matrix, raw)
    add(other)
    check(matrix, raw)
    other.close()


def test_a_new_row_is_added_to_what_is_known(
    raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = MatrixWords()
    matrix.ask(raw, "proxy", depth=5)
    added = add(raw, summary="proxy proxy proxy")
    monkeypatch.setattr(word_matrix, "PLACES", "SELECT 'not to be asked again'")
    assert next(iter(matrix.ask(raw, "proxy", depth=5).bm25)) == added


def test_a_changed_row_alone_is_read_again(
    raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = MatrixWords()
    check(matrix, raw)
    monkeypatch.setattr(word_matrix, "SIZES", "SELECT 'not to be read again'")
    raw.execute("UPDATE memories SET summary_index = 'proxi proxi' WHERE id = 9")
    check(matrix, raw)
    raw.execute("UPDATE memories SET state = 'archived' WHERE id IN (3, 4)")
    check(matrix, raw)
    raw.execute("DELETE FROM memories WHERE id = 10")
    add(raw, summary="proxy")
    check(matrix, raw)


def test_inside_a_transaction_the_index_itself_is_asked(
    raw: sqlite3.Connection,
) -> None:
    matrix = MatrixWords()
    matrix.ask(raw, "zanzibar", depth=5)
    raw.execute("BEGIN")
    added = add(raw, summary="zanzibar")
    asked = matrix.ask(raw, "zanzibar", depth=5)
    assert list(asked.bm25) == [added]
    assert asked.strengths([added])[added] > 0.6
    raw.execute("ROLLBACK")
    assert not matrix.ask(raw, "zanzibar", depth=5).bm25


def test_a_connection_for_reading_will_do(raw: sqlite3.Connection, path: Path) -> None:
    reading = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    reading.execute("PRAGMA query_only = ON")
    check(MatrixWords(), reading)
    assert reading.execute("PRAGMA query_only").fetchone() == (1,)
    reading.close()


def test_a_scope_holds_before_the_cut(raw: sqlite3.Connection) -> None:
    scope = Scope(topics=("topic1",))
    ids = arms.ids_in_scope(raw, scope)
    assert ids
    for source in (IndexWords(), MatrixWords()):
        found = source.ask(raw, "proxy", scope=scope, within=lambda: ids, depth=5)
        assert len(found.bm25) == 5
        assert set(found.bm25) <= set(ids)
        nothing = source.ask(raw, "proxy", scope=Scope(()), within=list, depth=5)
        assert not nothing.bm25


def test_what_is_found_does_not_depend_on_the_source(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE memories SET agent_session = 's' || (id / 10) WHERE id < 90")
    matrix = MatrixWords()
    for query in QUERIES[:-3]:
        one = search.find(raw, query, limit=10)
        assert one == search.find(raw, query, limit=10, words=matrix)


def test_few_rows_with_huge_ids_are_left_to_the_index(
    raw: sqlite3.Connection,
) -> None:
    raw.execute("DELETE FROM memories WHERE id > 20")
    raw.execute("UPDATE sqlite_sequence SET seq = 900000")
    add(raw, summary="proxy")
    check(MatrixWords(), raw)


def test_threads_share_the_arrays(raw: sqlite3.Connection, path: Path) -> None:
    matrix = MatrixWords()
    wrong: list[str] = []

    def ask(mine: int) -> None:
        own = sqlite3.connect(path, isolation_level=None, timeout=20)
        own.execute("PRAGMA synchronous = OFF")
        for n in range(15):
            word = f"thread{mine}word{n}"
            added = add(own, summary=f"{word} proxy port")
            if list(matrix.ask(own, word, depth=5).bm25) != [added]:
                wrong.append(word)
        own.close()

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    check(matrix, raw)


def test_common_words_do_not_lead_where_rare_ones_do(
    raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MOST_HITS", 60)
    counts = {"rare": 3, "often": 50, "always": 90, "never": 0}
    asked = Words(list(counts), list(counts.values()), (), 100, 9.0)
    assert asked.leading == [0, 1]
    assert Words(["always"], [90], (), 100, 9.0).leading == [0]
    check(MatrixWords(), raw)


def test_an_identifier_nobody_wrote_does_not_count_against_its_parts(
    raw: sqlite3.Connection,
) -> None:
    added = add(raw, summary="parse the http response")
    found = IndexWords().ask(raw, "parseHttpResponse", depth=5)
    assert found.words.coverage(found.held([added])[added]) == 1
    whole = add(raw, summary="parse_http_response")
    found = IndexWords().ask(raw, "parseHttpResponse", depth=5)
    assert list(found.bm25) == [whole, added]


def test_few_rows_do_not_make_a_word_weigh_nothing() -> None:
    asked = Words(["proxy", "port", "zebra"], [1, 1, 0], (), 1, 5.0)
    assert 0.5 < asked.coverage(0b011) < 0.7


def test_the_rows_of_the_index_are_counted_in_and_outside_a_transaction(
    raw: sqlite3.Connection,
) -> None:
    outside = words.size(raw)
    raw.execute("BEGIN")
    assert words.size(raw) == outside
    raw.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("block", "numbers"),
    [(b"", []), (b"\x00\x7f", [0, 127]), (b"\x81\x00\x05", [128, 5])],
)
def test_numbers_of_a_block_are_seven_bits_a_byte(
    block: bytes, numbers: list[int]
) -> None:
    assert varints(block) == numbers


def test_no_text_index_is_no_warning(
    raw: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    for statement in fts_schema.DROP[len(fts_schema.DROP_TRIGGERS) :]:
        raw.execute(statement)
    with caplog.at_level(logging.INFO):
        for source in (IndexWords(), MatrixWords()):
            hits = search.find(raw, "proxy", limit=5, words=source)
            assert {hit.decided for hit in hits} == {"substring"}
    assert not caplog.records

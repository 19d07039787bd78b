"""Nearest memories: the matrix and vec0 answer alike and follow the database."""

import logging
import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from icm_site.sqlite.capabilities import capabilities
from memories import embedder, fts_schema, vector_matrix
from memories.centre import PRIORS, QUESTIONS, _decoded, asked_from, prior
from memories.scope import Connection
from memories.vector_matrix import MatrixVectors
from memories.vectors import Vec0Vectors
from tests import centres
from tests.factories import make_memory

MODEL, SIZE = "test/unit", 64

TABLES = """
CREATE TABLE memories(
    id INTEGER PRIMARY KEY, state TEXT DEFAULT 'live',
    topic_index TEXT DEFAULT '', summary_index TEXT DEFAULT '',
    keywords_index TEXT DEFAULT '');
CREATE TABLE memory_vectors(
    id INTEGER PRIMARY KEY, memory_id INT, piece INT, model TEXT, vector BLOB);
CREATE TABLE icm_metadata(key TEXT PRIMARY KEY, value TEXT);
"""


def unit(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def add(
    raw: Connection, memory: int, vector: bytes, piece: int = 0, model: str = MODEL
) -> None:
    raw.execute("INSERT OR IGNORE INTO memories(id) VALUES (?)", (memory,))
    raw.execute(
        "INSERT INTO memory_vectors(memory_id, piece, model, vector)"
        " VALUES (?, ?, ?, ?)",
        (memory, piece, model, vector),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.sqlite3"


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(path, isolation_level=None)
    found.executescript(TABLES)
    for statement in fts_schema.CREATE:
        found.execute(statement)
    found.execute("PRAGMA synchronous = OFF")
    found.execute("BEGIN")
    for i in range(1, 41):
        add(found, i, unit(i).tobytes())
    found.execute("COMMIT")
    yield found
    found.close()


def ids(
    vectors: MatrixVectors, raw: Connection, seed: int, depth: int = 3
) -> list[int]:
    return list(vectors.nearest(raw, unit(seed).tolist(), depth=depth).order)


def test_the_memory_with_the_same_vector_is_the_nearest(
    raw: sqlite3.Connection,
) -> None:
    found = MatrixVectors(MODEL, SIZE).nearest(raw, unit(7).tolist(), depth=5)
    assert found.order[0] == 7
    assert found.cosines[7] == pytest.approx(1.0, abs=1e-4)
    assert len(found.order) == 5


def test_exact_cosines_of_other_candidates_come_along(raw: sqlite3.Connection) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    found = vectors.nearest(raw, unit(7).tolist(), depth=1, also={3, 999})
    assert set(found.cosines) == {7, 3}
    assert found.cosines[3] == pytest.approx(float(unit(7) @ unit(3)), abs=1e-4)


def test_a_memory_counts_by_its_best_piece(raw: sqlite3.Connection) -> None:
    add(raw, 2, unit(99).tobytes(), piece=1)
    assert ids(MatrixVectors(MODEL, SIZE), raw, 99)[0] == 2
    assert ids(MatrixVectors(MODEL, SIZE), raw, 2)[0] == 2


def test_only_memories_within_the_scope_are_found(raw: sqlite3.Connection) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    found = vectors.nearest(raw, unit(7).tolist(), depth=3, within={1, 2})
    assert set(found.order) == {1, 2}


def test_the_matrix_follows_new_changed_and_removed_vectors(
    raw: sqlite3.Connection, path: Path
) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    assert ids(vectors, raw, 7)[0] == 7
    other = sqlite3.connect(path, isolation_level=None)
    add(other, 50, unit(50).tobytes())
    assert ids(vectors, raw, 50)[0] == 50
    other.execute(
        "UPDATE memory_vectors SET vector = ? WHERE memory_id = 1",
        (unit(60).tobytes(),),
    )
    assert ids(vectors, raw, 60)[0] == 1
    other.execute("DELETE FROM memory_vectors WHERE memory_id = 50")
    assert 50 not in ids(vectors, raw, 50, 60)
    other.execute("UPDATE memories SET state = 'forgotten' WHERE id = 7")
    assert 7 not in ids(vectors, raw, 7, 60)
    other.execute("UPDATE memories SET state = 'live' WHERE id = 7")
    assert ids(vectors, raw, 7)[0] == 7
    other.close()


def same_as_fresh(vectors: MatrixVectors, raw: Connection, within: object) -> None:
    how = {"depth": 12, "within": within, "also": (1, 2, 500)}
    fresh = MatrixVectors(MODEL, SIZE)
    for seed in (3, 777):
        needle = unit(seed).tolist()
        one = vectors.nearest(raw, needle, **how)  # type: ignore[arg-type]
        assert one == fresh.nearest(raw, needle, **how)  # type: ignore[arg-type]


def test_what_changed_is_read_by_itself(
    raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_matrix, "SMALL", 4)
    chance = random.Random(5)
    changes = {
        "change": "UPDATE memory_vectors SET vector = ? WHERE memory_id = ?",
        "hide": "UPDATE memories SET state = 'forgotten' WHERE ? <> '' AND id = ?",
        "show": "UPDATE memories SET state = 'live' WHERE ? <> '' AND id = ?",
        "remove": "DELETE FROM memory_vectors WHERE ? <> '' AND memory_id = ?",
    }
    vectors, read = MatrixVectors(MODEL, SIZE), vector_matrix.ALL
    ids(vectors, raw, 1)
    for turn in range(150):
        act = chance.choice(["add", *changes])
        blob, key = unit(chance.randrange(999)).tobytes(), chance.randrange(1, 60)
        if act == "add":
            add(raw, key + 30, blob)
        else:
            raw.execute(changes[act], (blob, key))
        monkeypatch.setattr(vector_matrix, "ALL", "not to be read again")
        vectors.state(raw)
        monkeypatch.setattr(vector_matrix, "ALL", read)
        if turn % 3 == 0:
            same_as_fresh(vectors, raw, None if turn % 2 else range(1, 60, 3))


def test_all_is_read_anew_where_the_log_does_not_reach_back(
    raw: sqlite3.Connection,
) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    ids(vectors, raw, 1)
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 7")
    assert 7 not in ids(vectors, raw, 7, 60)
    raw.execute("UPDATE memories SET state = 'live' WHERE id = 7")
    raw.execute("DELETE FROM search_changes")
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 8")
    found = ids(vectors, raw, 7, 60)
    assert 7 in found
    assert 8 not in found


def test_the_log_stays_short(raw: sqlite3.Connection) -> None:
    raw.execute("BEGIN")
    for turn in range(10):
        raw.execute("UPDATE memory_vectors SET piece = ?", (turn,))
    raw.execute(
        "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'search_changes'",
        (fts_schema.LOG_LENGTH,),
    )
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 1")
    raw.execute("COMMIT")
    assert raw.execute("SELECT count(*) FROM search_changes").fetchone() == (1,)


def test_a_file_without_the_log_is_read_each_time(raw: sqlite3.Connection) -> None:
    for statement in fts_schema.DROP_TRIGGERS[:4]:
        raw.execute(statement)
    raw.execute("DROP TABLE search_changes")
    vectors = MatrixVectors(MODEL, SIZE)
    assert ids(vectors, raw, 7)[0] == 7
    raw.execute("DELETE FROM memory_vectors WHERE memory_id = 7")
    assert 7 not in ids(vectors, raw, 7, 60)


def test_what_an_open_transaction_shows_is_not_kept(raw: sqlite3.Connection) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    raw.execute("BEGIN")
    add(raw, 50, unit(50).tobytes())
    assert ids(vectors, raw, 50)[0] == 50
    raw.execute("ROLLBACK")
    add(raw, 51, unit(51).tobytes())
    assert ids(vectors, raw, 51)[0] == 51
    assert 50 not in ids(vectors, raw, 50, 60)


def test_foreign_and_damaged_vectors_count_as_absent(
    raw: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    add(raw, 50, unit(50).tobytes(), model="another/model")
    add(raw, 51, unit(51).tobytes()[:-1])
    add(raw, 52, unit(52).tobytes() * 2)
    add(raw, 53, np.full(SIZE, np.nan, np.float32).tobytes())
    with caplog.at_level(logging.WARNING):
        found = MatrixVectors(MODEL, SIZE).nearest(raw, unit(50).tolist(), depth=60)
    assert not {50, 51, 52} & set(found.order)
    assert found.cosines[53] == 0
    assert len(caplog.records) == 1


def test_a_query_of_another_size_is_an_error(raw: sqlite3.Connection) -> None:
    with pytest.raises(ValueError, match="shape"):
        MatrixVectors(MODEL, SIZE).nearest(raw, [1.0, 0.0], depth=3)


def test_threads_share_one_matrix(raw: sqlite3.Connection, path: Path) -> None:
    vectors = MatrixVectors(MODEL, SIZE)
    wrong: list[int] = []

    def ask(first: int) -> None:
        mine = sqlite3.connect(path, isolation_level=None, timeout=20)
        mine.execute("PRAGMA synchronous = OFF")
        for i in range(first, 41, 4):
            add(mine, 100 + i, unit(100 + i).tobytes())
            if (
                ids(vectors, mine, 100 + i)[0] != 100 + i
                or ids(vectors, mine, i)[0] != i
            ):
                wrong.append(i)
        mine.close()

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_empty_store_has_no_neighbours(raw: sqlite3.Connection) -> None:
    raw.execute("DELETE FROM memory_vectors")
    assert ids(MatrixVectors(MODEL, SIZE), raw, 1) == []


@pytest.mark.parametrize("model", PRIORS)
def test_a_known_centre_is_the_mean_of_unit_vectors(model: str) -> None:
    mean = prior(model, 384)
    assert 0.5 < float(np.linalg.norm(mean)) < 1
    assert not prior(model, 768).any()
    assert not prior("unknown", 384).any()


@pytest.mark.parametrize("model", QUESTIONS)
def test_a_query_of_unknown_words_is_seen_from_nearer_to_all_questions(
    model: str,
) -> None:
    middle = prior(model, 384)
    views = [asked_from(model, middle, known) for known in (1.0, 0.5, 0.25, 0.0)]
    assert views[0] is middle
    assert views[1] is middle
    assert np.allclose(views[2] - middle, (views[3] - middle) / 2, atol=1e-6)
    questions = middle + 2 * (views[3] - middle)
    assert 0.8 < float(np.linalg.norm(questions)) < 1
    assert asked_from("unknown", middle, 0.0) is middle
    other_size = np.zeros(768, np.float32)
    assert asked_from(model, other_size, 0.0) is other_size


@pytest.mark.slow
@pytest.mark.skipif(bool(embedder.packaged_reason()), reason="no packaged model here")
def test_the_mean_of_questions_is_what_its_command_prints() -> None:
    made = centres.encoded(centres.mean(embedder.PackagedEmbedder()))
    mine, kept = (_decoded(each) for each in (made, QUESTIONS[embedder.PACKAGED]))
    assert float(mine @ kept) > 0.999 * float(np.linalg.norm(mine)) ** 2


@pytest.mark.django_db
def test_vec0_and_the_matrix_give_the_same_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(QUESTIONS, MODEL, centres.encoded(unit(7)))
    if not capabilities(connection).vec0:
        pytest.skip("this SQLite has no vec0")
    raw = connection.connection
    raw.execute(fts_schema.DROP_VECTORS)
    raw.execute(fts_schema.create_vectors(SIZE))
    for i in range(60):
        memory = make_memory(f"Fact number {i} about thing {i * 7}.")
        for piece in range(1 + i % 3):
            add(raw, memory.pk, unit(1000 * piece + i).tobytes(), piece)
    raw.execute(fts_schema.FILL_VECTORS, (MODEL, 4 * SIZE))
    matrix, index = MatrixVectors(MODEL, SIZE), Vec0Vectors(MODEL, SIZE)
    known = [row[0] for row in raw.execute("SELECT id FROM memories ORDER BY id")]
    for within in (None, known[::2]):
        for seed in range(5):
            how = {"depth": 10, "within": within, "also": known[:5], "known": 0.1}
            one = matrix.nearest(raw, unit(seed).tolist(), **how)  # type: ignore[arg-type]
            other = index.nearest(raw, unit(seed).tolist(), **how)  # type: ignore[arg-type]
            assert one == other
            plain = matrix.nearest(raw, unit(seed).tolist(), **{**how, "known": 1.0})  # type: ignore[arg-type]
            assert (plain.cosines, plain.floor) == (one.cosines, one.floor)
            assert plain.nearness != one.nearness

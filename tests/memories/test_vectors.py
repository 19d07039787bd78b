"""Nearest memories: the matrix and vec0 answer alike and follow the database."""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from icm_site.sqlite.capabilities import capabilities
from memories import fts_schema
from memories.scope import Connection
from memories.vectors import PRIORS, MatrixVectors, Vec0Vectors, prior
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


@pytest.mark.django_db
def test_vec0_and_the_matrix_give_the_same_answer() -> None:
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
            how = {"depth": 10, "within": within, "also": known[:5]}
            one = matrix.nearest(raw, unit(seed).tolist(), **how)  # type: ignore[arg-type]
            other = index.nearest(raw, unit(seed).tolist(), **how)  # type: ignore[arg-type]
            assert one == other

"""Kept vectors: mapped at a start, confirmed by the database, never trusted blindly."""

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from memories import (
    approximate,
    driver,
    embedding,
    fts_schema,
    matrices,
    purge,
    store,
    tasks,
    vector_files,
    vector_matrix,
)
from memories.search_log import Mark
from memories.vector_files import Files
from memories.vector_matrix import MatrixVectors
from tests.factories import CALLER, FakeEmbedder, make_memory
from tests.memories.test_vectors import MODEL, SIZE, add, path, raw, unit

__all__ = ["path", "raw"]


@pytest.fixture
def files(tmp_path: Path, raw: sqlite3.Connection) -> Files:
    found = Files(tmp_path / "kept", MODEL, SIZE)
    found.make(raw)
    return found


def answers(vectors: MatrixVectors, raw: sqlite3.Connection) -> list[object]:
    return [
        vectors.nearest(raw, unit(seed).tolist(), depth=15, within=within, also=(1, 9))
        for seed in (1, 7, 50, 300)
        for within in (None, range(1, 60, 2))
    ]


def test_a_start_maps_the_files_and_reads_what_came_since(
    raw: sqlite3.Connection, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(raw, 50, unit(50).tobytes())
    raw.execute("DELETE FROM memory_vectors WHERE memory_id = 9")
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 7")
    monkeypatch.setattr(vector_matrix, "ALL", "not to be read")
    vectors = MatrixVectors(MODEL, SIZE, kept=files)
    found = answers(vectors, raw)
    assert vectors.state(raw).parts[0].is_file
    monkeypatch.undo()
    assert found == answers(MatrixVectors(MODEL, SIZE), raw)
    files.make(raw)
    assert (
        MatrixVectors(MODEL, SIZE, kept=files).state(raw).parts[0].rows.memories[-1]
        == 50
    )
    assert answers(MatrixVectors(MODEL, SIZE, kept=files), raw) == found


def test_files_of_another_history_are_not_used(
    raw: sqlite3.Connection, path: Path, files: Files, tmp_path: Path
) -> None:
    copy = tmp_path / "backup.sqlite3"
    other = sqlite3.connect(copy, isolation_level=None)
    raw.backup(other)
    add(raw, 50, unit(50).tobytes())
    files.make(raw)
    for i in (50, 51):
        add(other, i, unit(1000 + i).tobytes())
    vectors = MatrixVectors(MODEL, SIZE, kept=files)
    assert files.load(other, vectors.state(other).mark) is None
    assert answers(vectors, other) == answers(MatrixVectors(MODEL, SIZE), other)
    other.close()


@pytest.mark.parametrize("name", ["vectors.npy", "memories.npy", "state.json"])
@pytest.mark.parametrize("content", [None, b"", b"garbage", b"{}"])
def test_damaged_files_are_not_used(
    raw: sqlite3.Connection, files: Files, name: str, content: bytes | None
) -> None:
    (file,) = files.folder.glob(f"*{name}")
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    vectors = MatrixVectors(MODEL, SIZE, kept=files)
    assert answers(vectors, raw) == answers(MatrixVectors(MODEL, SIZE), raw)
    assert not vectors.state(raw).parts[0].is_file


def test_files_are_due_where_many_have_changed(
    raw: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(tmp_path / "kept", MODEL, SIZE)
    assert not files.due(raw)
    monkeypatch.setattr(vector_files, "LEAST", 40)
    assert files.due(raw)
    files.make(raw)
    assert not files.due(raw)
    add(raw, 50, unit(50).tobytes())
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 7")
    assert not files.due(raw)
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 8")
    assert files.due(raw)
    shutil.rmtree(files.folder)
    assert files.due(raw)


def test_only_the_newest_files_stay_and_only_the_owner_reads_them(
    raw: sqlite3.Connection, files: Files
) -> None:
    first = files.described()
    files.make(raw)
    second = files.described()
    assert first and second and first.generation != second.generation
    found = sorted(file.name for file in files.folder.iterdir())
    assert found == [
        f"{second.generation}.memories.npy",
        f"{second.generation}.vectors.npy",
        "state.json",
    ]
    assert all(file.stat().st_mode & 0o077 == 0 for file in files.folder.iterdir())


@pytest.fixture
def indexed(
    raw: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Files:
    """An index over 2,000 vectors in groups."""
    monkeypatch.setattr(approximate, "LEAST", 1_000)
    raw.execute("BEGIN")
    for i in range(100, 2100):
        vector = 2 * unit(5000 + i % 50) + unit(i)
        add(raw, i, (vector / np.linalg.norm(vector)).astype("<f4").tobytes())
    raw.execute("COMMIT")
    files = Files(tmp_path / "indexed", MODEL, SIZE)
    files.make(raw)
    return files


def test_the_index_finds_what_is_near_and_scores_it_exactly(
    raw: sqlite3.Connection, indexed: Files
) -> None:
    known = indexed.described()
    assert known and known.recall >= approximate.LEAST_RECALL
    add(raw, 3000, unit(150).tobytes())
    raw.execute("UPDATE memories SET state = 'forgotten' WHERE id = 151")
    mapped, whole = MatrixVectors(MODEL, SIZE, kept=indexed), MatrixVectors(MODEL, SIZE)
    assert mapped.state(raw).parts[0].index is not None
    shared = 0
    for seed in range(150, 190):
        needle = (2 * unit(5000 + seed % 50) + unit(seed)).tolist()
        for within in (None, range(100, 1900)):
            one = mapped.nearest(raw, needle, depth=20, within=within)
            other = whole.nearest(raw, needle, depth=20, within=within)
            shared += len({*one.order} & {*other.order})
            assert 151 not in one.order
            for memory_id in {*one.order} & {*other.order}:
                assert one.nearness[memory_id] == other.nearness[memory_id]
    assert shared >= 0.95 * 80 * 20
    assert 3000 in mapped.nearest(raw, unit(150).tolist(), depth=3).order


def test_without_the_extra_all_vectors_are_searched(
    raw: sqlite3.Connection, indexed: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approximate, "available", lambda: False)
    mapped = MatrixVectors(MODEL, SIZE, kept=indexed)
    assert answers(mapped, raw) == answers(MatrixVectors(MODEL, SIZE), raw)
    assert mapped.state(raw).parts[0].index is None
    indexed.make(raw)
    assert not list(indexed.folder.glob("*.index"))


def test_a_damaged_index_is_left_aside(
    raw: sqlite3.Connection, indexed: Files, caplog: pytest.LogCaptureFixture
) -> None:
    (file,) = indexed.folder.glob("*.index")
    file.write_bytes(b"garbage")
    mapped = MatrixVectors(MODEL, SIZE, kept=indexed)
    assert answers(mapped, raw) == answers(MatrixVectors(MODEL, SIZE), raw)
    assert "cannot be read" in caplog.text


def test_an_index_that_finds_too_little_is_not_kept(
    raw: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approximate, "LEAST", 10)
    monkeypatch.setattr(approximate, "ASKED", 20)
    monkeypatch.setattr(approximate, "LEAST_RECALL", 1.1)
    files = Files(tmp_path / "poor", MODEL, SIZE)
    assert files.make(raw).probes == 0
    assert MatrixVectors(MODEL, SIZE, kept=files).state(raw).parts[0].index is None


@pytest.mark.django_db(transaction=True)
def test_a_task_keeps_vectors_and_a_purge_erases_them(
    model: FakeEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vector_files, "LEAST", 2)
    # The log's stamp goes with the rows of all tables after a test of this kind.
    driver.raw_connection().execute(fts_schema.STAMP)
    rows = [make_memory(f"The port of service {n} is 80{n}.") for n in range(3)]
    embedding.embed_memories(rows, embedding.database_embedder())
    assert tasks.keep_vectors() == 3
    assert tasks.keep_vectors() is None
    files = matrices.files()
    assert files and files.described()
    matrices.reopen()
    store.store(topic="t", content="One more fact.", caller=CALLER)
    purge.purge(rows[:1])
    assert not list(files.folder.glob("*"))


def test_the_description_is_plain_json(files: Files) -> None:
    fields = json.loads((files.folder / "state.json").read_text())
    assert Mark(**fields["mark"]).epoch
    assert fields["rows"] == 40

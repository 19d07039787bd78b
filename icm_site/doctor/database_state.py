"""The database file, read beside the normal opening: a damaged one is examined too."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from icm_site.doctor import hook_state, lock_state
from icm_site.doctor.findings import Finding, note, ok, wrong
from icm_site.errors import IcmError
from icm_site.sqlite import backup, failures, identity, opening, values

PATIENCE = 5.0
ELSEWHERE = "name another with --db, ICM_DB or store.path"
SEARCHABLE = "('live', 'superseded')"
INDEXES = "icm doctor --rebuild-indexes"
# What is searchable and not in the text index, and the other way round. The sizes of
# the rows are a table of FTS5's own, which needs no module to be read.
_TEXT = (
    ("memories", "memories_fts", f"state IN {SEARCHABLE}"),
    ("concepts", "concepts_fts", "1"),
    ("feedback", "feedback_fts", "1"),
)


def examine(path: Path) -> list[Finding]:
    """Findings on a database file; nothing is written, and nothing raised."""
    try:
        state = identity.inspect(path)
    except IcmError as error:
        return [wrong("database", error.message)]
    if state.kind in ("missing", "empty"):
        place = next(folder for folder in path.parents if folder.exists())
        if not os.access(place, os.W_OK):
            text = f"{path} cannot be made: {place} may not be written"
            return [wrong("database", text, ELSEWHERE)]
        return [note("database", f"{path} is not there yet; the first store makes it")]
    if state.kind in ("foreign", "not a database"):
        why = "another program's" if state.kind == "foreign" else "no database"
        remedy = ELSEWHERE
        if state.kind == "not a database":
            remedy += "; if it was one of ours, icm repair saves what is found in it"
        return [wrong("database", f"{path} is {why}", remedy)]
    found = list(_file(path))
    try:
        with closing(opening.reading(path, timeout=PATIENCE)) as connection:
            found += _content(connection, path, state)
    except sqlite3.OperationalError as error:
        found.append(wrong("database", f"{path} cannot be read: {error}"))
    except failures.DAMAGE as error:
        found.append(_damaged(path, failures.words(error)))
    return found


def _content(
    connection: sqlite3.Connection, path: Path, state: identity.FileState
) -> Iterator[Finding]:
    faults = [row[0] for row in connection.execute("PRAGMA quick_check(5)")]
    if faults != ["ok"]:
        yield _damaged(path, faults[0])
        return
    if fault := values.first_fault(connection, {}):
        yield _damaged(path, fault)
        return
    yield ok("database", f"{path}: opens, and its pages are whole")
    if state.kind == "newer":
        text = f"written by a newer version (schema {state.user_version}); read only"
        yield wrong("database", text, "upgrade icm-memory")
    elif 0 < state.user_version < identity.SCHEMA_VERSION:
        yield note("database", "of an older version; the next command migrates it")
    yield from _text_indexes(connection)
    yield from _vectors(connection)
    if _has(connection, "hook_events"):
        yield from hook_state.examine(connection, time.time())


def _damaged(path: Path, why: str) -> Finding:
    copies = backup.copies(path)
    remedy = "icm repair saves what can be read"
    if copies:
        remedy += f"; icm restore latest takes {copies[-1].name}"
    return wrong("database", f"{path} is damaged: {' '.join(why.split())}", remedy)


def _file(path: Path) -> Iterator[Finding]:
    if os.name == "posix":
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            text = f"{path} may be read by others (mode {mode:o})"
            yield wrong("database", text, f"chmod 600 '{path}'")
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        yield wrong("database", f"{path} or its folder may not be written")
    yield from lock_state.examine(path)


def _has(connection: sqlite3.Connection, name: str) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
    return found.fetchone() is not None


def _one(connection: sqlite3.Connection, sql: str, *values: object) -> int:
    return int(connection.execute(sql, values).fetchone()[0])


def _text_indexes(connection: sqlite3.Connection) -> Iterator[Finding]:
    for base, index, within in _TEXT:
        sizes = f"{index}_docsize"
        if not _has(connection, base):
            continue
        if not _has(connection, sizes):
            yield note("text index", f"{base}: none; this SQLite may lack FTS5")
            continue
        rows = f"SELECT id FROM {base} WHERE {within}"
        missing = _one(
            connection,
            f"SELECT count(*) FROM ({rows}) WHERE id NOT IN (SELECT id FROM {sizes})",
        )
        extra = _one(
            connection, f"SELECT count(*) FROM {sizes} WHERE id NOT IN ({rows})"
        )
        if missing or extra:
            text = (
                f"{base}: {missing} rows are not in it, {extra} are gone from the table"
            )
            yield wrong("text index", text, INDEXES)
        else:
            count = _one(connection, f"SELECT count(*) FROM {sizes}")
            yield ok("text index", f"{base}: {count} rows, in step")


def _vectors(connection: sqlite3.Connection) -> Iterator[Finding]:
    if not _has(connection, "memory_vectors"):
        return
    row = connection.execute(
        "SELECT value FROM icm_metadata WHERE key = 'embedding_model'"
    ).fetchone()
    model = row[0] if row else ""
    searchable = f"SELECT id FROM memories WHERE state IN {SEARCHABLE}"
    missing = _one(
        connection,
        f"SELECT count(*) FROM ({searchable}) WHERE id NOT IN "
        "(SELECT memory_id FROM memory_vectors WHERE model = ?)",
        model,
    )
    if missing:
        text = f"{missing} memories have none of the model in use; words find them"
        yield note("vectors", text, "icm embed")
    else:
        yield ok("vectors", "every memory has one")
    if not _has(connection, "vec_memories_rowids"):
        return
    rows = (
        "SELECT v.id FROM memory_vectors v JOIN memories m ON m.id = v.memory_id "
        f"WHERE m.state IN {SEARCHABLE} AND v.model = ?"
    )
    apart = _one(
        connection,
        f"SELECT (SELECT count(*) FROM ({rows}) WHERE id NOT IN "
        "(SELECT rowid FROM vec_memories_rowids)) + (SELECT count(*) FROM "
        f"vec_memories_rowids WHERE rowid NOT IN ({rows}))",
        model,
        model,
    )
    if apart:
        yield wrong("vector index", f"{apart} rows out of step with the table", INDEXES)
    else:
        yield ok("vector index", "in step")

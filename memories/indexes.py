"""Text and vector index: made where SQLite can, rebuilt from the base tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection, transaction

from icm_site.sqlite.capabilities import capabilities
from memories import fts_schema
from memories.models import Metadata

SIZE = 384
TABLE = "memories"
COLUMNS = ("topic_index", "summary_index", "keywords_index")

# The vectors of searchable memories, of the database's own model, follow the base
# tables by triggers as the text index does. A build without vec0 drops the triggers,
# since each write would fail; the next build that has it makes them anew.
_OF_MODEL = (
    "{row}.model = (SELECT value FROM icm_metadata WHERE key = 'embedding_model') "
    "AND length({row}.vector) = {bytes}"
)


def vector_triggers(dimensions: int) -> list[str]:
    """Statements that keep `vec_memories` in step, for vectors of that many floats."""
    of_model = _OF_MODEL.format(row="new", bytes=4 * dimensions)
    of_piece = _OF_MODEL.format(row="v", bytes=4 * dimensions)
    searchable = fts_schema.SEARCHABLE
    return [
        f"""
CREATE TRIGGER vec_memories_insert AFTER INSERT ON memory_vectors
WHEN {of_model} AND EXISTS (
    SELECT 1 FROM memories WHERE id = new.memory_id AND state IN {searchable})
BEGIN
INSERT INTO vec_memories(rowid, embedding) VALUES (new.id, new.vector);
END
""",
        """
CREATE TRIGGER vec_memories_delete AFTER DELETE ON memory_vectors
BEGIN DELETE FROM vec_memories WHERE rowid = old.id; END
""",
        f"""
CREATE TRIGGER vec_memories_hide AFTER UPDATE OF state ON memories
WHEN old.state IN {searchable} AND new.state NOT IN {searchable}
BEGIN
DELETE FROM vec_memories
WHERE rowid IN (SELECT id FROM memory_vectors WHERE memory_id = old.id);
END
""",
        f"""
CREATE TRIGGER vec_memories_show AFTER UPDATE OF state ON memories
WHEN old.state NOT IN {searchable} AND new.state IN {searchable}
BEGIN
INSERT INTO vec_memories(rowid, embedding)
SELECT v.id, v.vector FROM memory_vectors v
WHERE v.memory_id = new.id AND {of_piece};
END
""",
    ]


# The objects that each part consists of; all there, or the part is made anew.
LOG_PARTS = frozenset(
    {
        "memory_vectors_changed",
        "memory_vectors_deleted",
        "memories_changed",
        "memories_deleted",
    }
)
# Earlier versions wrote a stamp and no log.
OLD_PARTS = frozenset(
    {"memory_vectors_update", "memory_vectors_delete", "memories_searchable_change"}
)
TEXT_PARTS = frozenset(
    {"memories_fts_insert", "memories_fts_delete", "memories_fts_update"}
)
VECTOR_PARTS = frozenset(
    {
        "vec_memories_insert",
        "vec_memories_delete",
        "vec_memories_hide",
        "vec_memories_show",
    }
)


def _drop(triggers: Iterable[str]) -> list[str]:
    return [f"DROP TRIGGER IF EXISTS {name}" for name in sorted(triggers)]


DROP_VECTOR_TRIGGERS = _drop(VECTOR_PARTS)


def drop_before_migrate(plan: list[Any], **kwargs: Any) -> None:
    """Take triggers and view away: Django's rebuild of a table trips over them."""
    del kwargs
    if plan:
        _run([*fts_schema.DROP_TRIGGERS, *_drop(OLD_PARTS), *DROP_VECTOR_TRIGGERS])
        _run(["DROP VIEW IF EXISTS memories_searchable"])


def ensure_after_migrate(**kwargs: Any) -> None:
    """Make again what a rebuild of a table has taken away."""
    del kwargs
    if not connection.read_only:  # type: ignore[attr-defined]
        ensure()


def ensure() -> None:
    """Bring both indexes in step with this build of SQLite and with the tables."""
    can = capabilities(connection)
    with transaction.atomic():
        _ensure_log()
        _ensure_text(can.fts5)
        _ensure_vectors(can.vec0)


def in_step() -> bool:
    """Whether the indexes fit this build: one query, no write."""
    can, names = capabilities(connection), _names()
    return (
        names >= LOG_PARTS | {"memories_searchable"}
        and names & TEXT_PARTS == (TEXT_PARTS if can.fts5 else set())
        and names & VECTOR_PARTS == (VECTOR_PARTS if can.vec0 else set())
    )


def rebuild() -> None:
    """Make both indexes anew from the base tables, as far as this SQLite can."""
    can = capabilities(connection)
    with transaction.atomic():
        _run([*fts_schema.DROP_TRIGGERS, *DROP_VECTOR_TRIGGERS])
        if can.fts5:
            _run(fts_schema.DROP)
        ensure()


def states() -> tuple[str, str]:
    """What the text index and the vector index are at the moment, for people."""
    can, names = capabilities(connection), _names()
    text = "FTS5" if can.fts5 else "none: this SQLite lacks FTS5, substrings only"
    vector = f"sqlite-vec ({can.vec0_way})" if can.vec0 else "in memory (no sqlite-vec)"
    if can.fts5 and not names >= TEXT_PARTS:
        text += ", to be rebuilt at the next write access"
    return text, vector


def _ensure_log() -> None:
    if not _names() >= LOG_PARTS:
        _run([*_drop(LOG_PARTS | OLD_PARTS), fts_schema.CREATE_LOG])
        _run([*fts_schema.LOG_TRIGGERS, fts_schema.STAMP])


def _ensure_text(available: bool) -> None:
    names = _names()
    if "memories_searchable" not in names:
        _run([fts_schema.CREATE_VIEW])
    if not available:
        _run(_drop(TEXT_PARTS))
    elif not names >= TEXT_PARTS:
        _run(_drop(TEXT_PARTS))
        if "memories_fts" not in names:
            _run([fts_schema.CREATE_FTS])
        _run([*fts_schema.FTS_TRIGGERS, fts_schema.REBUILD])


def _ensure_vectors(available: bool) -> None:
    if not available:
        _run(DROP_VECTOR_TRIGGERS)
    elif not _names() >= VECTOR_PARTS:
        remake_vectors()


def remake_vectors_if_possible() -> None:
    """Make the vector index anew where this SQLite has vec0."""
    if capabilities(connection).vec0:
        remake_vectors()


def remake_vectors() -> None:
    """Make the vector index anew for the database's model, filled from the tables."""
    model = Metadata.objects.read("embedding_model") or ""
    size = int(Metadata.objects.read("embedding_dims") or SIZE)
    _run([*DROP_VECTOR_TRIGGERS, fts_schema.DROP_VECTORS])
    _run([fts_schema.create_vectors(size), *vector_triggers(size)])
    with connection.cursor() as cursor:
        cursor.execute(fts_schema.FILL_VECTORS.replace("?", "%s"), [model, 4 * size])


def _names() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'memor%' "
            "OR name LIKE 'vec_memories%'"
        )
        return {row[0] for row in cursor.fetchall()}


def _run(statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            # Without parameters Django passes a statement on as it stands.
            cursor.execute(statement)

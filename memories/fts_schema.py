"""SQL that makes, undoes and rebuilds the text index and the vector index."""

SEARCHABLE = "('live', 'superseded')"

# `index_text` has made the words; nothing but its spaces may part them.
TOKENIZER = "ascii"

CREATE_VIEW = f"""
CREATE VIEW memories_searchable AS
SELECT id, topic_index, summary_index, keywords_index
FROM memories WHERE state IN {SEARCHABLE}
"""

CREATE_FTS = f"""
CREATE VIRTUAL TABLE memories_fts USING fts5(
    topic_index, summary_index, keywords_index,
    content='memories_searchable', content_rowid='id',
    tokenize='{TOKENIZER}'
)
"""

_INSERT = """
INSERT INTO memories_fts(rowid, topic_index, summary_index, keywords_index)
SELECT new.id, new.topic_index, new.summary_index, new.keywords_index
"""

# FTS5 takes out exactly the words it is given here, so they must be the old ones.
_DELETE = """
INSERT INTO memories_fts(
    memories_fts, rowid, topic_index, summary_index, keywords_index)
SELECT 'delete', old.id, old.topic_index, old.summary_index, old.keywords_index
"""

FTS_TRIGGERS: list[str] = [
    f"""
CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories
WHEN new.state IN {SEARCHABLE}
BEGIN {_INSERT}; END
""",
    f"""
CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories
WHEN old.state IN {SEARCHABLE}
BEGIN {_DELETE}; END
""",
    # An ORM save names every column, so OF alone would fire on each of them.
    f"""
CREATE TRIGGER memories_fts_update
AFTER UPDATE OF topic_index, summary_index, keywords_index, state ON memories
WHEN old.topic_index IS NOT new.topic_index
    OR old.summary_index IS NOT new.summary_index
    OR old.keywords_index IS NOT new.keywords_index
    OR (old.state IN {SEARCHABLE}) IS NOT (new.state IN {SEARCHABLE})
BEGIN
{_DELETE} WHERE old.state IN {SEARCHABLE};
{_INSERT} WHERE new.state IN {SEARCHABLE};
END
""",
]

# What changed other than by a new row, for processes that keep words and vectors in
# memory: they read those memories again, and all of them if this log does not reach
# back to what they know. A stamp tells two histories of one file apart.
LOG_LENGTH = 10_000

CREATE_LOG = """
CREATE TABLE IF NOT EXISTS search_changes(
    id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id INTEGER NOT NULL,
    stamp TEXT NOT NULL)
"""

_LOG = f"""
INSERT INTO search_changes(memory_id, stamp) VALUES ({{row}}, hex(randomblob(8)));
DELETE FROM search_changes
WHERE id <= (SELECT max(id) FROM search_changes) - {LOG_LENGTH}
"""

# A new value whenever the log may lack something: all is read anew.
STAMP = """
INSERT INTO icm_metadata(key, value)
VALUES ('vectors_rewritten', hex(randomblob(8)))
ON CONFLICT(key) DO UPDATE SET value = excluded.value
"""

LOG_TRIGGERS: list[str] = [
    f"""
CREATE TRIGGER memory_vectors_changed AFTER UPDATE ON memory_vectors
BEGIN {_LOG.format(row="new.memory_id")}; END
""",
    f"""
CREATE TRIGGER memory_vectors_deleted AFTER DELETE ON memory_vectors
BEGIN {_LOG.format(row="old.memory_id")}; END
""",
    f"""
CREATE TRIGGER memories_changed
AFTER UPDATE OF topic_index, summary_index, keywords_index, state ON memories
WHEN old.topic_index IS NOT new.topic_index
    OR old.summary_index IS NOT new.summary_index
    OR old.keywords_index IS NOT new.keywords_index
    OR (old.state IN {SEARCHABLE}) IS NOT (new.state IN {SEARCHABLE})
BEGIN {_LOG.format(row="new.id")}; END
""",
    f"""
CREATE TRIGGER memories_deleted AFTER DELETE ON memories
BEGIN {_LOG.format(row="old.id")}; END
""",
]

DROP_TRIGGERS: list[str] = [
    "DROP TRIGGER IF EXISTS memories_deleted",
    "DROP TRIGGER IF EXISTS memories_changed",
    "DROP TRIGGER IF EXISTS memory_vectors_deleted",
    "DROP TRIGGER IF EXISTS memory_vectors_changed",
    "DROP TRIGGER IF EXISTS memories_fts_update",
    "DROP TRIGGER IF EXISTS memories_fts_delete",
    "DROP TRIGGER IF EXISTS memories_fts_insert",
]

CREATE_TRIGGERS: list[str] = [CREATE_LOG, *FTS_TRIGGERS, *LOG_TRIGGERS]

# Needs the tables memories, memory_vectors and icm_metadata.
CREATE: list[str] = [CREATE_VIEW, CREATE_FTS, *CREATE_TRIGGERS, STAMP]

DROP: list[str] = [
    *DROP_TRIGGERS,
    "DROP TABLE IF EXISTS memories_fts",
    "DROP VIEW IF EXISTS memories_searchable",
]

REBUILD = "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"
# Rank 1 also compares the index with the content view.
INTEGRITY_CHECK = (
    "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
)

DROP_VECTORS = "DROP TABLE IF EXISTS vec_memories"

# chunk_size 128: half the file and faster single inserts than the default 1024.
CREATE_VECTORS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS vec_memories"
    " USING vec0(embedding float[{dimensions}], chunk_size=128)"
)

# Parameters: model, bytes of one vector (4 x dimensions).
FILL_VECTORS = f"""
INSERT INTO vec_memories(rowid, embedding)
SELECT v.id, v.vector FROM memory_vectors v
JOIN memories m ON m.id = v.memory_id
WHERE m.state IN {SEARCHABLE} AND v.model = ? AND length(v.vector) = ?
"""


def create_vectors(dimensions: int) -> str:
    """The statement that makes `vec_memories` for vectors of that many floats."""
    return CREATE_VECTORS.format(dimensions=int(dimensions))

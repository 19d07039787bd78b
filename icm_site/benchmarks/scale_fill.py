"""Databases of up to a million invented memories, made in minutes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from django.db import connection

from icm_site.benchmarks.synthetic import TOPICS, Floats, Ids, Synthetic
from icm_site.caller import Caller
from icm_site.text import index_text
from icm_site.ulid import new_ulid
from memories import fts_schema, indexes, store
from memories.driver import raw_connection
from memories.models import Memory, Metadata

MODEL = "bench/synthetic"
BATCH = 10_000
LEVELS = ("critical", "high", "medium", "low")
TOPIC_NAMES = [f"decisions-project{n}" for n in range(TOPICS)]
SPAN = timedelta(days=700)

INSERT_USAGE = """
INSERT INTO memory_usage
    (memory_id, weight, access_count, last_accessed, decayed_at, importance)
SELECT id, 1.0, id % 7, created_at, created_at, importance FROM memories
WHERE id > ? AND id NOT IN (SELECT memory_id FROM memory_usage WHERE memory_id > ?)
"""
INSERT_VECTOR = """
INSERT INTO memory_vectors (memory_id, piece, model, vector) VALUES (?, 0, ?, ?)
"""

WHOLE_FILE = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"

# What is being done, rows done, rows in all.
Tick = Callable[[str, int, int], None]


class Fill:
    """Adds memories to the open database, as many as are asked for."""

    def __init__(self, made: Synthetic) -> None:
        self._made = made
        self._words = made.vocabulary
        self._indexed = [index_text(word) for word in self._words]
        self._columns, self._values = _template()

    def up_to(self, count: int, tick: Tick) -> None:
        """Bring the number of memories to `count`, with vectors and both indexes."""
        raw = raw_connection()
        (last,) = raw.execute("SELECT max(id) FROM memories").fetchone()
        (known,) = raw.execute("SELECT count(*) FROM memories").fetchone()
        for statement in [*fts_schema.DROP_TRIGGERS, *indexes.DROP_VECTOR_TRIGGERS]:
            raw.execute(statement)
        key = (last or 0) + 1
        for start in range(known, count, BATCH):
            size = min(BATCH, count - start)
            raw.execute("BEGIN IMMEDIATE")
            self._insert(raw, key, size)
            raw.execute("COMMIT")
            key += size
            tick("memories", start + size, count)
        tick("indexes", 0, 1)
        raw.execute(INSERT_USAGE, (last or 0, last or 0))
        Metadata.objects.write("embedding_model", MODEL)
        Metadata.objects.write("embedding_dims", "384")
        indexes.ensure()
        raw.execute("ANALYZE")
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tick("indexes", 1, 1)

    def _insert(self, raw: Any, key: int, size: int) -> None:
        texts, topics = self._made.texts(size), self._made.topics(size)
        marks = ", ".join("?" * len(self._columns))
        names = ", ".join(self._columns)
        raw.executemany(
            f"INSERT INTO memories ({names}) VALUES ({marks})",
            self._rows(key, texts, topics),
        )
        vectors: Floats = self._made.vectors(size)
        raw.executemany(
            INSERT_VECTOR,
            ((key + n, MODEL, row.tobytes()) for n, row in enumerate(vectors)),
        )

    def _rows(self, key: int, texts: Sequence[Ids], topics: Ids) -> Iterator[list[Any]]:
        begun = datetime.now(UTC) - SPAN
        places = {name: n for n, name in enumerate(self._columns)}
        indexed = [index_text(name) for name in TOPIC_NAMES]
        for n, (numbers, topic) in enumerate(zip(texts, topics.tolist(), strict=True)):
            values, words = list(self._values), numbers.tolist()
            text = " ".join([self._words[word] for word in words])
            summary = f"{text} {key + n}"
            moment = begun + SPAN * ((key + n) % 997) / 997
            at = moment.replace(tzinfo=None).isoformat(" ")
            for name, value in (
                ("id", key + n),
                ("ulid", new_ulid()),
                ("created_at", at),
                ("updated_at", at),
                ("topic", TOPIC_NAMES[topic]),
                ("topic_key", TOPIC_NAMES[topic]),
                ("topic_index", indexed[topic]),
                ("summary", summary),
                ("summary_index", " ".join([self._indexed[word] for word in words])),
                ("summary_hash", hashlib.sha256(summary.encode()).hexdigest()),
                ("importance", LEVELS[n % len(LEVELS)]),
            ):
                values[places[name]] = value
            yield values


def _template() -> tuple[list[str], list[Any]]:
    """Columns and values of a memory as the store writes it."""
    done = store.store(
        topic=TOPIC_NAMES[0],
        content="The first of them.",
        caller=Caller(surface="cli"),
        dedup=False,
    )
    cursor = raw_connection().execute(
        "SELECT * FROM memories WHERE id = ?", (done.memory.pk,)
    )
    found = [column[0] for column in cursor.description], list(cursor.fetchone())
    Memory.objects.filter(pk=done.memory.pk).delete()
    return found


def texts_of(keys: Sequence[int]) -> dict[int, list[str]]:
    """The words of some memories, by key."""
    rows = Memory.objects.filter(pk__in=keys).values_list("pk", "summary")
    return {key: summary.split()[:-1] for key, summary in rows}


def sizes() -> dict[str, int]:
    """Bytes of the file by table, its indexes with it; `file`: all of it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        )
        whole = {"file": int(cursor.fetchone()[0])}
        cursor.execute("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'")
        if not cursor.fetchone():
            return whole
        cursor.execute(
            "SELECT coalesce(s.tbl_name, d.name), sum(d.pgsize) "
            "FROM dbstat('main', 1) d LEFT JOIN sqlite_master s ON s.name = d.name "
            "GROUP BY 1 ORDER BY 2 DESC"
        )
        tables: dict[str, int] = {}
        for name, size in cursor.fetchall():
            for prefix in ("memories_fts", "vec_memories"):
                name = prefix if str(name).startswith(prefix) else name
            tables[name] = tables.get(name, 0) + int(size)
    return whole | dict(islice(sorted(tables.items(), key=lambda t: -t[1]), 6))

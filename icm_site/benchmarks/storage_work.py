"""What `icm bench` does: the operations, and the same statements by the driver."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection, transaction

from icm_site import text
from icm_site.benchmarks.quality_run import own_database
from icm_site.caller import Caller
from icm_site.sqlite import opening
from memories import decay, history, search, statements, store
from memories.driver import raw_connection
from memories.models import Memory, MemoryUsage, MemoryVector, Metadata
from memories.vector_matrix import MatrixVectors
from memories.word_matrix import MatrixWords

TOPICS = ("architecture", "decisions", "errors", "context", "preferences")
LEVELS = ("critical", "high", "medium", "low")
QUERIES = (
    "database connection pool timeout",
    "authentication token refresh",
    "cache invalidation strategy",
    "deployment pipeline failure",
    "user interface preferences",
)
WORDS = """
database connection pool timeout authentication token refresh cache queue index server
invalidation strategy deployment pipeline failure user interface preferences client
request response header retry backoff schema migration column row branch commit review
merge release version package module function class test worker socket cluster shard
""".split()
MODEL = "bench/random"
SIZE = 384
SEARCHES = 100
GETS = 1000
BATCH = 2000
BARE_SEARCH = """
SELECT rowid, bm25(memories_fts) AS score FROM memories_fts
WHERE memories_fts MATCH ? ORDER BY score LIMIT 10
"""
FLOOR_TABLES = ("memories", "memory_usage", "changes", "memory_revisions")

Act = Callable[[], object]
Acts = Iterator[Act]


@dataclass
class Work:
    """The steps of one benchmark, on a database file in `folder`.

    `count` memories are stored, `decayed` are there for the last step.
    """

    folder: Path
    count: int
    rng: random.Random
    decayed: int
    caller: Caller = field(default_factory=lambda: Caller(surface="cli"))

    def database(self) -> AbstractContextManager[None]:
        """The benchmark's own database in place of the user's."""
        return own_database(self.folder / "icm.sqlite3")

    def steps(self) -> Iterator[tuple[str, Acts]]:
        """Name and acts of each row, in order; later ones build on earlier ones."""
        yield "Insert (no dedup, no links)", self._inserts()
        yield "  same statements, driver alone", self._floor()
        yield "Store (dedup, topic of 200)", self._stores()
        yield "Vector (one, own transaction)", self._vectors()
        yield "Text search, top 10", self._searches(with_words=True)
        yield "  same words, FTS5 alone", self._text_floor()
        yield "Vector search (KNN), top 10", self._searches(with_vector=True)
        yield "Hybrid search, top 10", self._searches(with_words=True, with_vector=True)
        yield "Get by id", self._gets()
        yield "Decay, all memories", self._decays()
        yield f"Decay, {self.decayed:,} memories", self._large_decay()

    def text(self) -> str:
        return " ".join(self.rng.choice(WORDS) for _ in range(14))

    def vector(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        row = np.array([self.rng.gauss(0, 1) for _ in range(SIZE)], np.float32)
        return row / np.float32(np.linalg.norm(row))

    def _insert(self, n: int, *, topic: str, dedup: bool) -> Act:
        return partial(
            store.store,
            topic=topic,
            content=f"Fact {n}: {self.text()}",
            importance=LEVELS[n % len(LEVELS)],
            caller=self.caller,
            dedup=dedup,
        )

    def _inserts(self) -> Acts:
        for n in range(self.count):
            topic = TOPICS[n % len(TOPICS)]
            yield self._insert(n, topic=topic, dedup=False)

    def _floor(self) -> Acts:
        """The rows just stored, inserted by the driver into a copy without them."""
        file = self.folder / "floor.sqlite3"
        copy = sqlite3.connect(file)
        raw_connection().backup(copy)
        copy.close()
        driver = opening.connect(file)
        kept = {
            name: driver.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
            for name in FLOOR_TABLES
        }
        for name in reversed(FLOOR_TABLES):
            driver.execute(f"DELETE FROM {name}")
        inserts = {
            name: f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})"
            for name, rows in kept.items()
        }
        stored = Memory.objects.order_by("pk")
        keys = list(stored.values_list("summary_hash", "topic_key"))

        def insert(n: int) -> None:
            driver.execute("BEGIN IMMEDIATE")
            digest, topic = keys[n]
            driver.execute(statements.SAME_TEXT, (digest, digest)).fetchone()
            for name in FLOOR_TABLES:
                driver.execute(inserts[name], kept[name][n])
            driver.execute("COMMIT")
            driver.execute(statements.COUNT_IN_TOPIC, (topic,)).fetchone()

        for n in range(self.count):
            yield partial(insert, n)
        driver.close()

    def _stores(self) -> Acts:
        for n in range(200):
            self._insert(self.count + n, topic="full", dedup=False)()
        for n in range(SEARCHES):
            at = self.count + 200 + n
            yield self._insert(at, topic="full", dedup=True)

    def _vectors(self) -> Acts:
        Metadata.objects.write("embedding_model", MODEL)
        Metadata.objects.write("embedding_dims", str(SIZE))
        keys = list(Memory.objects.order_by("pk").values_list("pk", flat=True))

        def insert(key: int, blob: bytes) -> None:
            with transaction.atomic():
                MemoryVector.objects.create(memory_id=key, model=MODEL, vector=blob)

        for key in keys:
            blob = self.vector().astype("<f4").tobytes()
            yield partial(insert, key, blob)

    def _searches(self, *, with_words: bool = False, with_vector: bool = False) -> Acts:
        raw, known = raw_connection(), MatrixWords()
        vectors = MatrixVectors(model=MODEL, dimensions=SIZE)
        vectors.nearest(raw, self.vector(), depth=1)
        for n in range(SEARCHES):
            words, needle = QUERIES[n % len(QUERIES)], self.vector()
            if with_words:
                yield partial(
                    search.find,
                    raw,
                    words,
                    limit=10,
                    query_vector=needle if with_vector else None,
                    vectors=vectors,
                    words=known,
                )
            else:
                yield partial(vectors.nearest, raw, needle, depth=10)

    def _text_floor(self) -> Acts:
        """The same questions asked of the index by the driver, with its own rank."""
        raw = raw_connection()

        def ask(words: str) -> None:
            raw.execute(BARE_SEARCH, (words,)).fetchall()

        for n in range(SEARCHES):
            yield partial(ask, text.match_expression(QUERIES[n % len(QUERIES)]))

    def _gets(self) -> Acts:
        ids = list(Memory.objects.values_list("ulid", flat=True))
        for _ in range(GETS):
            ulid = self.rng.choice(ids)
            yield partial(history.find_memory, ulid)

    def _decays(self) -> Acts:
        now = datetime.now(UTC)
        yield partial(decay.step, factor=0.95, now=now + timedelta(days=1))

    def _large_decay(self) -> Acts:
        """Bookkeeping rows up to `decayed`, of copies of the stored memories."""
        now = datetime.now(UTC)
        missing = self.decayed - MemoryUsage.objects.count()
        template = Memory.objects.order_by("pk")[0]
        fill_rows(template, missing)
        yield partial(decay.step, factor=0.95, now=now + timedelta(days=2))


def fill_rows(template: Memory, count: int) -> None:
    """Add `count` hidden memories with bookkeeping, cheap to make."""
    names = [f for f in Memory._meta.concrete_fields if f.column not in ("id",)]
    with transaction.atomic(), connection.cursor() as cursor:
        for start in range(0, count, BATCH):
            rows = []
            for n in range(start, min(start + BATCH, count)):
                row = Memory(state="archived", summary_hash=f"{n:064d}")
                for name in names:
                    if name.attname not in ("ulid", "state", "summary_hash"):
                        setattr(row, name.attname, getattr(template, name.attname))
                rows.append(row)
            Memory.objects.bulk_create(rows)
        cursor.execute(
            "INSERT INTO memory_usage (memory_id, weight, access_count, "
            "last_accessed, decayed_at, importance) "
            "SELECT id, 1.0, id % 7, created_at, created_at, importance FROM memories "
            "WHERE id NOT IN (SELECT memory_id FROM memory_usage)"
        )

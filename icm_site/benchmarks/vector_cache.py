"""Vectors kept between benchmark runs, since embedding takes most of their time."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from icm_site import paths
from memories import embedder

if TYPE_CHECKING:
    from memories.embedder import Embedder, Vector

CREATE = """
CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID
"""
READ = "SELECT vector FROM vectors WHERE key = ?"
WRITE = "INSERT OR REPLACE INTO vectors(key, vector) VALUES (?, ?)"
WAIT_SECONDS = 60.0


class CachedEmbedder:
    """A model that computes no vector twice; the vectors are the model's own."""

    def __init__(self, model: Embedder, cache: sqlite3.Connection) -> None:
        self.name = model.name
        self.dimensions = model.dimensions
        self._model = model
        self._cache = cache

    def embed_query(self, text: str) -> Vector:
        """See embedder.Embedder."""
        return self._vectors("query", [text], self._embed_queries)[0]

    def embed_texts(self, texts: Sequence[str]) -> Vector:
        """See embedder.Embedder."""
        rows = self._vectors("text", texts, self._embed_texts)
        return np.reshape(rows, (len(texts), self.dimensions))

    def _embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return [self._model.embed_query(text) for text in texts]

    def _embed_texts(self, texts: Sequence[str]) -> list[Vector]:
        return list(self._model.embed_texts(texts))

    def _vectors(
        self,
        kind: str,
        texts: Sequence[str],
        compute: Callable[[Sequence[str]], list[Vector]],
    ) -> list[Vector]:
        known = self._read(kind, texts)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            computed = dict(zip(missing, compute(missing), strict=True))
            self._write(kind, computed)
            known |= computed
        return [known[text] for text in texts]

    def _read(self, kind: str, texts: Sequence[str]) -> dict[str, Vector]:
        known = {}
        for text in texts:
            row = self._cache.execute(READ, (self._key(kind, text),)).fetchone()
            if row is not None and len(row[0]) == 4 * self.dimensions:
                known[text] = np.frombuffer(row[0], "<f4").astype(np.float32)
        return known

    def _write(self, kind: str, vectors: Mapping[str, Vector]) -> None:
        rows = [
            (self._key(kind, text), vector.astype("<f4").tobytes())
            for text, vector in vectors.items()
        ]
        self._cache.executemany(WRITE, rows)
        self._cache.commit()

    def _key(self, kind: str, text: str) -> bytes:
        whole = "\0".join((self.name, kind, text))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


def usual_file() -> Path:
    """Where the vectors are kept. Raises Unavailable without a home folder."""
    return paths.cache_dir() / "bench" / "vectors.sqlite3"


@contextmanager
def cached_models(file: Path) -> Iterator[None]:
    """Put the cache in front of every model of this process while the block runs."""
    paths.make_private_dir(file.parent)
    usual = embedder.MODELS
    with closing(sqlite3.connect(file, timeout=WAIT_SECONDS)) as cache:
        # Without WAL each of thousands of short writes would wait for the disk.
        cache.execute("PRAGMA journal_mode = WAL")
        cache.execute("PRAGMA synchronous = NORMAL")
        cache.execute(CREATE)
        embedder.MODELS = embedder.Models(
            loader=lambda name: CachedEmbedder(usual.get(name), cache)
        )
        try:
            yield
        finally:
            embedder.MODELS = usual

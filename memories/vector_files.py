"""The vectors of a database as files that are mapped: a start need not read them all.

They lie in the cache folder, by database and model. Nothing is right because of them:
what the log of the database does not confirm is not used.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from icm_site import paths
from icm_site.errors import Unavailable
from memories import approximate, search_log
from memories.scope import Connection
from memories.search_log import Mark
from memories.vector_matrix import MatrixVectors, Part, State
from memories.vector_rows import Rows

logger = logging.getLogger(__name__)

VERSION = 1
# From so many vectors on they are kept, and anew once this part of them has changed.
LEAST, CHANGED_PART = 20_000, 16
BATCH = 20_000

# The last vectors and some of all: a file that went another way differs in these.
SAMPLED = 32
LAST = (
    "SELECT id FROM memory_vectors WHERE id <= ? AND model = ? ORDER BY id DESC LIMIT ?"
)
BLOBS = """
SELECT id, memory_id, vector FROM memory_vectors
WHERE model = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id
"""
COUNT = "SELECT count(*) FROM memory_vectors WHERE model = ?"
COUNT_AFTER = """
SELECT (SELECT count(*) FROM memory_vectors WHERE id > ?),
    (SELECT count(*) FROM search_changes WHERE id > ?)
"""
MARK = f"SELECT {search_log.MARK}"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Description:
    """What `state.json` says of the files beside it."""

    version: int
    generation: str
    model: str
    dimensions: int
    mark: Mark
    last_id: int
    rows: int
    # Vector id -> memory id and digest of the vector.
    sample: dict[str, list[Any]]
    # How the index looks into its lists, and what it finds; 0: there is none.
    probes: int = 0
    recall: float = 0.0


@dataclass(frozen=True)
class Files:
    """The files of one database and model."""

    folder: Path
    model: str
    dimensions: int

    def load(self, connection: Connection, now: Mark) -> tuple[Mark, int, Part] | None:
        """See vector_matrix.Kept."""
        known = self.described()
        if known is None or not _confirmed(connection, known, now):
            return None
        try:
            ids = np.load(self._path(known, "memories.npy"))
            vectors = np.load(self._path(known, "vectors.npy"), mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            logger.warning("kept vectors cannot be read: %s", error)
            return None
        if ids.shape != (known.rows,) or vectors.shape != (known.rows, self.dimensions):
            return None
        index = None
        if known.probes:
            file = self._path(known, "index")
            index = approximate.opened(file, rows=known.rows, probes=known.probes)
        # A plain array over the mapped file: a subclass would be felt in each step.
        part = Part(Rows(ids, vectors.view(np.ndarray)), is_file=True, index=index)
        return known.mark, known.last_id, part

    def described(self) -> Description | None:
        """What there is, if it is of this model and readable."""
        try:
            fields = json.loads((self.folder / "state.json").read_text("utf-8"))
            known = Description(**{**fields, "mark": Mark(**fields["mark"])})
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        mine = (VERSION, self.model, self.dimensions)
        return known if (known.version, known.model, known.dimensions) == mine else None

    def due(self, connection: Connection) -> bool:
        """Whether there are vectors enough, and too much has changed since."""
        (count,) = connection.execute(COUNT, (self.model,)).fetchone()
        if count < LEAST:
            return False
        known = self.described()
        if known is None or not _confirmed(connection, known, _mark(connection)):
            return True
        if not known.recall and count >= approximate.LEAST and approximate.available():
            return True
        after = (known.last_id, known.mark.last or 0)
        changed = sum(connection.execute(COUNT_AFTER, after).fetchone())
        return bool(CHANGED_PART * changed > known.rows)

    def make(
        self,
        connection: Connection,
        *,
        progress: Progress = lambda what, done, total: None,
    ) -> Description:
        """Write the vectors as they are now, with an index if they are many."""
        vectors = MatrixVectors(self.model, self.dimensions, kept=self)
        state = vectors.state(connection)
        if state.mark.epoch is None:
            raise Unavailable("the database has no log of changes yet")
        paths.make_private_dir(self.folder)
        generation = secrets.token_hex(8)
        rows = self._write(state, generation, progress)
        built = self._index(rows, generation, progress)
        known = Description(
            version=VERSION,
            generation=generation,
            model=self.model,
            dimensions=self.dimensions,
            mark=state.mark,
            last_id=state.last_id,
            rows=len(rows.memory_ids),
            sample=_sample(connection, self.model, state.last_id),
            probes=built.probes if built else 0,
            recall=built.recall if built else 0.0,
        )
        draft = self._private(generation, "state")
        fields = asdict(known) | {"mark": known.mark._asdict()}
        draft.write_text(json.dumps(fields), "utf-8")
        draft.replace(self.folder / "state.json")
        self._remove(keep=generation)
        return known

    def _write(self, state: State, generation: str, progress: Progress) -> Rows:
        """All rows in the order of their memories, part by part: no second copy."""
        kept = [
            np.flatnonzero(~np.isin(part.rows.memory_ids, part.gone))
            for part in state.parts
        ]
        of_parts = [
            part.rows.memory_ids[rows]
            for part, rows in zip(state.parts, kept, strict=True)
        ]
        ids = np.concatenate(of_parts)
        order = np.argsort(ids, kind="stable")
        place = np.empty(len(ids), np.int64)
        place[order] = np.arange(len(ids))
        np.save(self._private(generation, "memories.npy"), ids[order])
        file, shape = (
            self._private(generation, "vectors.npy"),
            (len(ids), self.dimensions),
        )
        target = np.lib.format.open_memmap(file, "w+", np.float32, shape)
        done = 0
        for part, rows in zip(state.parts, kept, strict=True):
            for start in range(0, len(rows), BATCH):
                some = rows[start : start + BATCH]
                target[place[done : done + len(some)]] = part.rows.vectors[some]
                done += len(some)
                progress("vectors", done, len(ids))
        target.flush()
        return Rows(ids[order], target.view(np.ndarray))

    def _index(
        self, rows: Rows, generation: str, progress: Progress
    ) -> approximate.Built | None:
        if len(rows.memory_ids) < approximate.LEAST or not approximate.available():
            return None
        return approximate.build(
            rows.vectors,
            self._private(generation, "index"),
            progress=lambda done, total: progress("index", done, total),
        )

    def erase(self) -> None:
        """Remove all files, as when vectors were purged."""
        self._remove(keep=None)

    def _remove(self, *, keep: str | None) -> None:
        for file in self.folder.glob("*"):
            if keep is None or not file.name.startswith((keep, "state.json")):
                # One that is mapped stays on some systems until nobody has it open.
                try:
                    file.unlink()
                except OSError as error:
                    logger.debug("%s stays: %s", file.name, error)

    def _path(self, known: Description, name: str) -> Path:
        return self.folder / f"{known.generation}.{name}"

    def _private(self, generation: str, name: str) -> Path:
        path = self.folder / f"{generation}.{name}"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        return path


def files(database: str, model: str, dimensions: int) -> Files | None:
    """Those of a database; None where this user has no cache folder."""
    try:
        root = paths.cache_dir()
    except Unavailable:
        return None
    whole = "\0".join((os.path.realpath(database), model))
    name = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return Files(root / "vectors" / name, model, dimensions)


def _mark(connection: Connection) -> Mark:
    return Mark(*connection.execute(MARK).fetchone())


def _confirmed(connection: Connection, known: Description, now: Mark) -> bool:
    """Whether the database went on from what is described.

    It may be another one at this place, or one put back from a backup.
    """
    changed = search_log.changed_since(connection, known.mark, now)
    if changed is None:
        return False
    asked = (known.model, json.dumps([int(key) for key in known.sample]))
    found = _digests(connection.execute(BLOBS, asked))
    return all(
        found.get(key) == value or value[0] in changed
        for key, value in known.sample.items()
    )


def _sample(connection: Connection, model: str, last_id: int) -> dict[str, list[Any]]:
    spread = np.linspace(1, max(last_id, 1), SAMPLED).astype(np.int64).tolist()
    last = connection.execute(LAST, (last_id, model, SAMPLED)).fetchall()
    asked = json.dumps(sorted({*spread, *(row[0] for row in last)}))
    return _digests(connection.execute(BLOBS, (model, asked)))


def _digests(rows: Iterable[tuple[int, int, bytes]]) -> dict[str, list[Any]]:
    return {
        str(key): [memory_id, hashlib.sha256(vector).hexdigest()]
        for key, memory_id, vector in rows
    }

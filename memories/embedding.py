"""Vectors of stored memories: made after the text is committed, filled in later."""

from __future__ import annotations

import functools
import logging
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import OperationalError, transaction
from django.db.models import Exists, OuterRef

from icm_site.errors import Unavailable
from memories import embedder, lease, wal
from memories.models import Memory, MemoryQuerySet, MemoryVector, Metadata, State

if TYPE_CHECKING:
    from memories.embedder import Embedder, Vector

logger = logging.getLogger(__name__)

# Below the 510 tokens of the packaged model's window in every script measured.
PIECE_CHARS = 1_500
# What is embedded while somebody waits, at most.
SOON_CHARS = 4 * PIECE_CHARS
MODEL_KEY = "embedding_model"
SIZE_KEY = "embedding_dims"
LEASE = "embedding"
QUERIES_KEPT = 256

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """Outcome of a backfill: `done` of `total` memories, `errors` failed."""

    done: int
    total: int
    errors: int


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many searchable memories have a vector of the database's model."""

    embedded: int
    total: int
    model: str
    reason: str


def database_model() -> str:
    """The model whose vectors this database holds, else the configured one.

    Empty where embeddings are switched off. What the database records wins: vectors
    of two models are never compared, and only a migration replaces them.
    """
    configured = embedder.configured()
    return configured and (Metadata.objects.read(MODEL_KEY) or configured)


def database_embedder() -> Embedder | None:
    """The model of this database if it is to be had, else None (words only)."""
    return embedder.get(database_model())


def mismatch() -> str:
    """One sentence where the configuration names another model than the vectors."""
    configured, recorded = embedder.configured(), Metadata.objects.read(MODEL_KEY)
    auto = embedder.configured_as_auto()
    if not configured or not recorded or auto or recorded == configured:
        return ""
    return (
        f"the configuration names the model {configured}, but the stored vectors are "
        f"of {recorded}, which stays in use; `icm embed --migrate` replaces them"
    )


def note() -> str:
    """One sentence where search by meaning is not what the configuration asks for."""
    if text := mismatch():
        return text
    model = database_model()
    if not model or (status := embedder.status(model)).available:
        return ""
    return f"searched by words alone: {status.reason}"


def embed_query(text: str, model: Embedder | None) -> Vector | None:
    """The query's unit vector, None without a model or if the model fails.

    Also None for punctuation and invisible characters alone, which mean nothing.
    """
    if model is None or not any(unicodedata.category(c)[0] in "LMNS" for c in text):
        return None
    try:
        return _query_vector(model, text[:PIECE_CHARS])
    # A failing model is a note: the words still answer.
    except Exception:
        logger.warning("the model %s failed on a query", model.name, exc_info=True)
        return None


@functools.lru_cache(maxsize=QUERIES_KEPT)
def _query_vector(model: Embedder, text: str) -> Vector:
    """Sessions ask the same again: a vector takes longer than the search for it."""
    vector = model.embed_query(text)
    vector.setflags(write=False)
    return vector


def embed_memories(
    memories: Sequence[Memory], model: Embedder | None, *, migrating: bool = False
) -> int:
    """Make and keep the vectors of memories; returns how many have theirs now.

    With `migrating` the database may have another model, which stays. Runs outside
    any transaction up to the short write at its end. A text that was changed meanwhile
    keeps its new state, without a vector.
    """
    if model is None or not memories:
        return 0
    texts = [(memory, piece) for memory in memories for piece in pieces(memory)]
    try:
        vectors = model.embed_texts([text for _, text in texts])
    # A failing model is a note: the text is stored, the vector can follow.
    except Exception:
        logger.warning("the model %s failed", model.name, exc_info=True)
        return 0
    rows = [
        (memory, vector) for (memory, _), vector in zip(texts, vectors, strict=True)
    ]
    try:
        return _write(rows, model, migrating=migrating)
    # The text is stored, and a store that reports failure would be repeated.
    except OperationalError as error:
        logger.warning("vectors were not kept, `icm embed` makes them: %s", error)
        return 0


def embed_missing(memories: Sequence[Memory]) -> int:
    """Make the vectors of those of these memories that are live and lack them.

    A text of many pieces is left to the next backfill: it would take seconds, and
    whoever stored it waits for the answer.
    """
    model = database_embedder()
    if model is None:
        return 0
    keys = {memory.pk for memory in memories}
    rows = missing(model.name).filter(pk__in=keys)
    return embed_memories([m for m in rows if len(m.summary) <= SOON_CHARS], model)


def pieces(memory: Memory) -> list[str]:
    """What is embedded for a memory: `<topic> <summary>`, cut to the model's window."""
    parts = _split(memory.summary, max(PIECE_CHARS - len(memory.topic), 500))
    return [f"{memory.topic} {part}" for part in parts]


def _split(text: str, size: int) -> list[str]:
    """Parts of at most `size` characters, cut at the last line, sentence or blank."""
    parts = []
    while len(text) > size:
        window = text[:size]
        ends = [m.end() for m in re.finditer(r"\n|[.!?。！？](?=\s|$)|\s", window)]
        end = ends[-1] if ends and ends[-1] > size // 2 else size
        parts.append(text[:end].strip())
        text = text[end:]
    return [
        *(part for part in parts if part),
        *([text.strip()] if text.strip() else []),
    ]


def _write(
    rows: Sequence[tuple[Memory, Vector]], model: Embedder, *, migrating: bool
) -> int:
    with transaction.atomic():
        if not migrating and not claim_model(model):
            return 0
        hashes = dict(
            Memory.objects.filter(pk__in={memory.pk for memory, _ in rows}).values_list(
                "pk", "summary_hash"
            )
        )
        same = [row for row in rows if hashes.get(row[0].pk) == row[0].summary_hash]
        keys = list(dict.fromkeys(memory.pk for memory, _ in same))
        MemoryVector.objects.filter(memory_id__in=keys, model=model.name).delete()
        counts: dict[int, int] = {}
        new = []
        for memory, vector in same:
            piece = counts.get(memory.pk, 0)
            counts[memory.pk] = piece + 1
            blob = vector.astype("<f4").tobytes()
            new.append(
                MemoryVector(memory=memory, piece=piece, model=model.name, vector=blob)
            )
        MemoryVector.objects.bulk_create(new)
    return len(keys)


def claim_model(model: Embedder) -> bool:
    """Record the model of the first vectors; False if the database has another."""
    recorded, _ = Metadata.objects.get_or_create(
        key=MODEL_KEY, defaults={"value": model.name}
    )
    if recorded.value != model.name:
        return False
    Metadata.objects.get_or_create(
        key=SIZE_KEY, defaults={"value": str(model.dimensions)}
    )
    return True


def searchable() -> MemoryQuerySet:
    return Memory.objects.filter(state__in=[State.LIVE, State.SUPERSEDED])


def missing(model: str, *, topic: str | None = None) -> MemoryQuerySet:
    """Searchable memories without a vector of this model, oldest first."""
    has = MemoryVector.objects.filter(memory=OuterRef("pk"), model=model)
    rows = searchable().filter(~Exists(has)).order_by("id")
    return rows.in_topic(topic) if topic else rows


def backfill(
    *, topic: str | None = None, batch_size: int = 32, progress: Progress | None = None
) -> Embedded:
    """Give every memory its vector, batch by batch, so that other writers get a turn.

    `progress(done, total)` is called after each batch. Raises Unavailable where
    there is no model, Conflict while another process does the same.
    """
    model = database_embedder()
    if model is None:
        raise Unavailable(f"no embeddings: {embedder.status(database_model()).reason}")
    rows = missing(model.name, topic=topic)
    with lease.held(LEASE):
        return embed_all(rows, model, batch_size=batch_size, progress=progress)


def embed_all(
    rows: MemoryQuerySet,
    model: Embedder,
    *,
    batch_size: int = 32,
    progress: Progress | None = None,
    migrating: bool = False,
) -> Embedded:
    """Make the vectors of these memories; called while the lease is held.

    A batch that fails is tried one by one, so that one bad text costs only itself.
    """
    keys = list(rows.values_list("pk", flat=True))
    done = 0
    for start in range(0, len(keys), batch_size):
        batch = list(Memory.objects.filter(pk__in=keys[start : start + batch_size]))
        done += embed_memories(batch, model, migrating=migrating) or sum(
            embed_memories([memory], model, migrating=migrating) for memory in batch
        )
        lease.renew(LEASE)
        if progress:
            progress(min(start + batch_size, len(keys)), len(keys))
    wal.shorten()
    return Embedded(done=done, total=len(keys), errors=len(keys) - done)


def coverage() -> Coverage:
    """How much of the database can be found by meaning, and why not all of it."""
    model = database_model()
    total = searchable().count()
    embedded = total - missing(model).count() if model else 0
    reason = ""
    if embedded < total:
        waiting = "the others wait for the next backfill, or `icm embed`"
        reason = embedder.status(model).reason or waiting
    return Coverage(
        embedded=embedded, total=total, model=model or "none", reason=reason
    )

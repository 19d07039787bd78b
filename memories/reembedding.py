"""New vectors for all memories: with the same model, or with another one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from django.db import connection, transaction

from icm_site.errors import InvalidInput, Unavailable
from memories import embedder, embedding, indexes, lease
from memories.embedding import Embedded, Progress
from memories.models import MemoryVector, Metadata


def force(*, batch_size: int = 32, progress: Progress | None = None) -> Embedded:
    """Make every vector of the database's model again. Raises Unavailable, Conflict."""
    model = embedding.database_embedder()
    if model is None:
        name = embedding.database_model()
        raise Unavailable(f"no embeddings: {embedder.status(name).reason}")
    with lease.held(embedding.LEASE):
        rows = embedding.searchable().order_by("id")
        return embedding.embed_all(
            rows, model, batch_size=batch_size, progress=progress
        )


def migrate(
    *, batch_size: int = 32, progress: Progress | None = None
) -> tuple[Embedded, Path | None]:
    """Replace the vectors by those of the configured model, after a backup.

    Until all are there, the old ones serve: a run that is cut off loses nothing and
    goes on where it stopped. Returns what was embedded, and the backup (None where
    there was nothing to replace). Raises Unavailable, Conflict, InvalidInput.
    """
    target = embedder.configured()
    if not target:
        raise InvalidInput("embeddings are switched off: nothing to migrate to")
    status = embedder.status(target)
    model = embedder.get(target)
    if model is None:
        raise Unavailable(f"nothing was changed: {status.reason}")
    with lease.held(embedding.LEASE):
        started = MemoryVector.objects.filter(model=target).exists()
        copy = None
        if MemoryVector.objects.exclude(model=target).exists() and not started:
            from icm_site.sqlite import backup

            source = Path(str(connection.settings_dict["NAME"]))
            copy = backup.beside(source, datetime.now(UTC))
        done = Embedded(done=0, total=0, errors=0)
        while not (done.errors or _switched(model)):
            part = embedding.embed_all(
                embedding.missing(target),
                model,
                batch_size=batch_size,
                progress=progress,
                migrating=True,
            )
            done = Embedded(
                done=done.done + part.done,
                total=done.total + part.total,
                errors=part.errors,
            )
    return done, copy


def _switched(model: embedder.Embedder) -> bool:
    """Make the new model the database's own, and the vector index with it.

    False while a memory lacks its vector, such as one that was stored meanwhile.
    """
    with transaction.atomic():
        if embedding.missing(model.name).exists():
            return False
        Metadata.objects.write(embedding.MODEL_KEY, model.name)
        Metadata.objects.write(embedding.SIZE_KEY, str(model.dimensions))
        MemoryVector.objects.exclude(model=model.name).delete()
        indexes.remake_vectors_if_possible()
    return True

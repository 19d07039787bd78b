"""Purge: the only way to erase, from every table, index, page and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import OperationalError, connection, transaction

from icm_site.errors import InvalidInput, Unavailable
from icm_site.sqlite import failures
from icm_site.text import QUERY_BYTES, normalise
from memories import history, indexes, matrices, projects, validation
from memories.models import (
    Change,
    Memory,
    MemoryRevision,
    Metadata,
    State,
)

BATCH = 500
MAX_DAYS = 36_500
# Stands in the metadata from the erasing of rows until their pages are overwritten.
DUE_KEY = "scrub_due"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to erase; all that is given must hold.

    `query` is a part of a text, an excerpt or a keyword in any case, as it is or was,
    or of a text that was merged into the memory.
    """

    id: str | None = None
    topic: str | None = None
    project: str | None = None
    query: str | None = None
    older_than_days: float | None = None
    hidden_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Purged:
    """Ids of erased memories, and copies that are out of reach.

    Not `complete`: another process kept the file busy, so that overwritten pages or
    the log may hold the text until the last of them closes it.
    """

    ids: list[str]
    revisions: int
    backups: list[str]
    complete: bool


def chosen(wanted: Wanted, *, now: datetime) -> list[Memory]:
    """The memories that a purge would erase, in any state.

    Raises NotFound for an unknown id, InvalidInput where nothing is asked or a part
    is blank: an unset variable of a script must not mean everything.
    """
    if wanted == Wanted(hidden_only=wanted.hidden_only) and not wanted.hidden_only:
        raise InvalidInput("say what to purge: an id, topic, project, query or age")
    rows = Memory.objects.order_by("id")
    if wanted.id is not None:
        rows = rows.filter(pk=history.find_memory(wanted.id).pk)
    if wanted.topic is not None:
        rows = rows.in_topic(validation.topic(wanted.topic))
    if wanted.project is not None and not wanted.project.strip():
        raise InvalidInput("project must not be empty")
    if wanted.older_than_days is not None:
        if not 0 <= wanted.older_than_days <= MAX_DAYS:
            raise InvalidInput(f"the age must lie between 0 and {MAX_DAYS} days")
        rows = rows.filter(created_at__lt=now - timedelta(days=wanted.older_than_days))
    if wanted.hidden_only:
        rows = rows.exclude(state=State.LIVE)
    found = [
        memory
        for memory in rows
        if not wanted.project or projects.segment_match(memory.topic, wanted.project)
    ]
    return found if wanted.query is None else _holding(found, wanted.query)


def _holding(memories: Sequence[Memory], query: str) -> list[Memory]:
    """Those that hold the query now, or did; SQLite folds the case of ASCII alone."""
    if not query.strip():
        raise InvalidInput("the query must not be empty")
    if len(query.encode()) > QUERY_BYTES:
        raise InvalidInput(f"the query must not exceed {QUERY_BYTES} bytes")
    wanted = normalise(query)
    revisions = MemoryRevision.objects.order_by().values_list(
        "memory_id", "before", "given"
    )
    earlier = {
        key
        for key, *states in revisions.iterator()
        if any(_holds(state or {}, wanted) for state in states)
    }
    return [
        memory
        for memory in memories
        if memory.pk in earlier or _holds(history.fields_of(memory), wanted)
    ]


def _holds(fields: Mapping[str, Any], wanted: str) -> bool:
    texts = [fields.get("summary"), fields.get("raw_excerpt")]
    texts += fields.get("keywords") or ()
    return any(wanted in normalise(text) for text in texts if text)


def purge(memories: Sequence[Memory]) -> Purged:
    """Erase memories with their revisions, vectors, links and index entries.

    Freed pages are overwritten and the log is emptied, also after a purge that was
    cut off before that. Backups are named, not touched: they are out of reach.
    """
    keys = [memory.pk for memory in memories]
    revisions = 0
    for start in range(0, len(keys), BATCH):
        revisions += _erase(keys[start : start + BATCH])
    complete = scrub() if Metadata.objects.read(DUE_KEY) else True
    return Purged(
        ids=[memory.ulid for memory in memories],
        revisions=revisions,
        backups=backups(),
        complete=complete,
    )


def _erase(keys: Sequence[int]) -> int:
    with transaction.atomic():
        Metadata.objects.write(DUE_KEY, "1")
        revisions = MemoryRevision.objects.filter(memory_id__in=keys)
        changes = list(revisions.values_list("change_id", flat=True))
        count, _ = revisions.delete()
        Memory.objects.filter(pk__in=keys).delete()
        Change.objects.filter(pk__in=changes, revisions__isnull=True).delete()
    return count


def scrub() -> bool:
    """Write both indexes anew without what was deleted, then empty the log.

    Both only mark an entry as deleted and keep its content until they are rebuilt.
    Returns whether all was reached; False while others keep the file busy, or without
    the room for it on the disk.
    """
    if files := matrices.files():
        files.erase()
    try:
        indexes.rebuild()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
        if _empty_log():
            # A short write of its own: the log does not hold what it holds now.
            Metadata.objects.filter(key=DUE_KEY).delete()
            return True
    except OperationalError as error:
        if not isinstance(failures.explain(error), Unavailable):
            raise
    return False


def _empty_log() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return bool(cursor.fetchone()[0] == 0)


def backups() -> list[str]:
    """Copies of this database that lie beside it."""
    from icm_site.sqlite import backup

    path = Path(str(connection.settings_dict["NAME"]))
    return sorted(map(str, backup.copies(path)))


def expire(*, keep_days: float, now: datetime) -> int:
    """Erase history older than `keep_days` days; returns the revisions erased.

    Memories that were hidden before that go with it: no undo can bring them back.
    """
    before = now - timedelta(days=keep_days)
    old = MemoryRevision.objects.filter(change__at__lt=before)
    gone = Memory.objects.filter(
        state__in=[State.FORGOTTEN, State.ARCHIVED], updated_at__lt=before
    )
    keys = list(gone.values_list("pk", flat=True))
    if not keys and not old.exists():
        return 0
    count = purge(list(Memory.objects.filter(pk__in=keys))).revisions if keys else 0
    with transaction.atomic():
        changes = list(old.values_list("change_id", flat=True))
        count += old.delete()[0]
        Change.objects.filter(pk__in=changes, revisions__isnull=True).delete()
    Metadata.objects.write("history_expired_at", now.isoformat())
    return count

"""The only code that writes feedback: record, apply, delete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from feedback import marks, validation
from feedback.models import Feedback
from icm_site.caller import Caller
from icm_site.errors import InvalidInput, NotFound
from icm_site.ulid import is_ulid
from memories import history, store
from memories.cleaner import Cleaner


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A new record, the kinds of secrets masked, the memory it stored if it did."""

    feedback: Feedback
    redacted: tuple[str, ...]
    stored: store.Stored | None = None


def record(
    *,
    topic: str,
    context: str,
    predicted: str,
    corrected: str,
    caller: Caller,
    reason: str = "",
    source: str = "",
    memory: str | None = None,
    correction: str | None = None,
    store_correction: bool = False,
    allow_secret: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Record a wrong prediction; a memory named as misleading is marked wrong.

    `memory` and `correction` are ids; with `store_correction` the corrected text
    becomes a memory and is the correction. Raises InvalidInput, NotFound, Conflict
    for a correction that is hidden or is the memory itself.
    """
    now = now or timezone.now()
    if correction and store_correction:
        raise InvalidInput("give either a correction or store_correction")
    clean = Cleaner(allow_secret=allow_secret)
    row = Feedback(
        topic=validation.topic(topic, clean),
        context=validation.text("context", context, clean),
        predicted=validation.text("predicted", predicted, clean),
        corrected=validation.text("corrected", corrected, clean),
        reason=validation.text("reason", reason, clean, blank=True),
        source=validation.source(source, clean),
        created_at=now,
    )
    row.derive()
    with transaction.atomic():
        row.memory = history.find_memory(memory) if memory else None
        stored = None
        if store_correction:
            stored = _stored(row, caller=caller, allow_secret=allow_secret, now=now)
            row.correction = stored.memory
        elif correction:
            row.correction = marks.live(correction)
        row.save(force_insert=True)
        marks.misled(row)
    return Recorded(feedback=row, redacted=clean.found, stored=stored)


def _stored(
    row: Feedback, *, caller: Caller, allow_secret: bool, now: datetime
) -> store.Stored:
    """The corrected text as a memory, beside the one that misled if there is one."""
    return store.store(
        topic=row.memory.topic if row.memory else row.topic,
        content=row.corrected,
        caller=caller,
        # Alike as it may be to the memory that misled, it must not be merged into it.
        dedup=False,
        allow_secret=allow_secret,
        now=now,
    )


def apply(identifier: str, *, now: datetime | None = None) -> Feedback:
    """Count that a record was used; its correction gains by that. Raises NotFound."""
    now = now or timezone.now()
    with transaction.atomic():
        row = find(identifier)
        Feedback.objects.filter(pk=row.pk).update(applied_count=F("applied_count") + 1)
        marks.used(row, now=now)
        row.refresh_from_db(fields=["applied_count"])
    return row


def delete(identifier: str) -> Feedback:
    """Erase a record and take its marks back. Raises NotFound."""
    with transaction.atomic():
        row = find(identifier)
        marks.withdraw(row)
        Feedback.objects.filter(pk=row.pk).delete()
    return row


def find(identifier: str) -> Feedback:
    """The record of this id. Raises NotFound."""
    wanted = identifier.strip().upper()
    rows = Feedback.objects.with_memories()
    found = rows.filter(ulid=wanted).first() if is_ulid(wanted) else None
    if found is None:
        raise NotFound(f"feedback not found: {identifier.strip()[:64] or '(empty)'}")
    return found

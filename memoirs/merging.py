"""One concept in place of two: its links, labels and sources are those of both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from memoirs import links, lookup, validation, write
from memoirs.models import Concept, ConceptLink, Memoir
from memories.cleaner import Cleaner


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The concept that stays; `dropped` links could not move, as they would be double,
    lead to itself, or close a ring."""

    concept: Concept
    moved: int
    dropped: int


def merge(
    memoir: str, name: str, *, into: str, caller: Caller, now: datetime | None = None
) -> Merged:
    """Take a concept into another one and erase it.

    The definitions stand one after the other, and the higher confidence counts. Raises
    NotFound, InvalidInput for one concept with itself or a text that grows too long.
    """
    now = now or timezone.now()
    with transaction.atomic():
        parent = lookup.memoir(memoir)
        gone, kept = lookup.concept(parent, name), lookup.concept(parent, into)
        if gone.pk == kept.pk:
            raise InvalidInput(f"a concept cannot be merged with itself: {kept.name}")
        write.revise(
            kept,
            operation="merge",
            caller=caller,
            now=now,
            definition=_both(kept.definition, gone.definition),
            labels=list(dict.fromkeys([*kept.labels, *gone.labels])),
            confidence=max(kept.confidence, gone.confidence),
            source_memory_ids=write.united(kept, gone.source_memory_ids),
            revision=kept.revision + 1,
        )
        moved, dropped = _move_links(parent, gone, kept, caller=caller, now=now)
        gone.delete()
    return Merged(concept=kept, moved=moved, dropped=dropped)


def _both(first: str, second: str) -> str:
    if second.strip() in first:
        return first
    return validation.text("definition", f"{first}\n{second}", Cleaner())


def _move_links(
    memoir: Memoir, gone: Concept, kept: Concept, *, caller: Caller, now: datetime
) -> tuple[int, int]:
    """Draw the links of one concept from and to another; (moved, dropped)."""
    rows = ConceptLink.objects.filter(Q(source=gone) | Q(target=gone))
    found = list(rows.select_related("source", "target"))
    rows.delete()
    moved = 0
    for row in found:
        source, target = (
            kept if end == gone else end for end in (row.source, row.target)
        )
        try:
            links.link(
                memoir.name,
                source=source.name,
                target=target.name,
                relation=row.relation,
                weight=row.weight,
                caller=caller,
                now=now,
            )
        # What would be double or run in a ring is left out, and counted.
        except IcmError:
            continue
        moved += 1
    return moved, len(found) - moved

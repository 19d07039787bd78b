"""The only code that writes memoirs and concepts; links are in `links`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput
from memoirs import lookup, validation
from memoirs.models import START_CONFIDENCE, Concept, ConceptRevision, Memoir
from memories.cleaner import Cleaner

GAIN = 0.1
KEPT = ("name", "definition", "labels", "confidence", "source_memory_ids")


@dataclass(frozen=True, kw_only=True)
class Written:
    """A concept as it is now, and the kinds of secrets that were masked."""

    concept: Concept
    redacted: tuple[str, ...]


def create_memoir(
    name: str,
    *,
    description: str = "",
    allow_secret: bool = False,
    now: datetime | None = None,
) -> tuple[Memoir, tuple[str, ...]]:
    """Make an empty memoir; returns it and the kinds of secrets masked.

    Raises InvalidInput, Conflict for a name that exists.
    """
    clean = Cleaner(allow_secret=allow_secret)
    now = now or timezone.now()
    memoir = Memoir(
        name=validation.name("name", name, clean),
        description=validation.text("description", description, clean, blank=True),
        created_at=now,
        updated_at=now,
    )
    with transaction.atomic():
        _refuse_memoir(memoir.name)
        memoir.save(force_insert=True)
    return memoir, clean.found


def update_memoir(
    name: str,
    *,
    new_name: str | None = None,
    description: str | None = None,
    threshold: int | None = None,
    allow_secret: bool = False,
    now: datetime | None = None,
) -> tuple[Memoir, tuple[str, ...]]:
    """Change the given fields of a memoir. Raises NotFound, InvalidInput, Conflict."""
    if new_name is None and description is None and threshold is None:
        raise InvalidInput("nothing to update: give a new name or another field")
    clean = Cleaner(allow_secret=allow_secret)
    with transaction.atomic():
        memoir = lookup.memoir(name)
        if new_name is not None:
            wanted = validation.name("name", new_name, clean)
            if wanted != memoir.name:
                _refuse_memoir(wanted)
            memoir.name = wanted
        if description is not None:
            memoir.description = validation.text(
                "description", description, clean, blank=True
            )
        if threshold is not None:
            memoir.consolidation_threshold = threshold
        memoir.updated_at = now or timezone.now()
        memoir.save()
    return memoir, clean.found


def delete_memoir(name: str) -> tuple[Memoir, int, int]:
    """Erase a memoir; returns it, and how many concepts and links went with it.

    Raises NotFound.
    """
    with transaction.atomic():
        memoir = lookup.memoir(name)
        _, gone = memoir.delete()
    return memoir, gone.get("memoirs.Concept", 0), gone.get("memoirs.ConceptLink", 0)


def add_concept(
    memoir: str,
    *,
    name: str,
    definition: str,
    caller: Caller,
    labels: Iterable[str] = (),
    sources: Iterable[str] = (),
    allow_secret: bool = False,
    now: datetime | None = None,
) -> Written:
    """Add a concept. Raises NotFound, InvalidInput, Conflict for a name in use."""
    clean = Cleaner(allow_secret=allow_secret)
    with transaction.atomic():
        parent = lookup.memoir(memoir)
        concept = insert_concept(
            parent,
            name=name,
            definition=definition,
            labels=labels,
            sources=validation.sources(sources),
            origin=caller.origin,
            clean=clean,
            now=now or timezone.now(),
        )
    return Written(concept=concept, redacted=clean.found)


def refine(
    memoir: str,
    name: str,
    *,
    definition: str,
    caller: Caller,
    sources: Iterable[str] = (),
    allow_secret: bool = False,
    now: datetime | None = None,
) -> Written:
    """Give a concept a better definition; the old one stays in its history.

    Revision + 1, confidence + 0.1 up to 1.0. Raises NotFound, InvalidInput.
    """
    clean = Cleaner(allow_secret=allow_secret)
    with transaction.atomic():
        concept = lookup.concept(lookup.memoir(memoir), name)
        revise(
            concept,
            operation="refine",
            caller=caller,
            now=now or timezone.now(),
            **refined(concept, validation.text("definition", definition, clean)),
            source_memory_ids=united(concept, validation.sources(sources)),
        )
    return Written(concept=concept, redacted=clean.found)


def update_concept(
    memoir: str,
    name: str,
    *,
    caller: Caller,
    new_name: str | None = None,
    labels: Iterable[str] | None = None,
    confidence: float | None = None,
    allow_secret: bool = False,
    now: datetime | None = None,
) -> Written:
    """Change name, labels or confidence of a concept; its definition stays.

    Raises NotFound, InvalidInput, Conflict for a name in use.
    """
    if new_name is None and labels is None and confidence is None:
        raise InvalidInput("nothing to update: give a new name, labels or confidence")
    clean = Cleaner(allow_secret=allow_secret)
    with transaction.atomic():
        concept = lookup.concept(lookup.memoir(memoir), name)
        changed: dict[str, Any] = {}
        if new_name is not None:
            changed["name"] = validation.name("name", new_name, clean)
            if changed["name"] != concept.name:
                _refuse_concept(concept.memoir, changed["name"])
        if labels is not None:
            changed["labels"] = validation.labels(labels, clean)
        if confidence is not None:
            changed["confidence"] = confidence
        revise(
            concept,
            operation="update",
            caller=caller,
            now=now or timezone.now(),
            **changed,
        )
    return Written(concept=concept, redacted=clean.found)


def delete_concept(
    memoir: str, name: str, *, now: datetime | None = None
) -> tuple[Concept, int]:
    """Erase a concept; returns it and how many links went with it. Raises NotFound."""
    with transaction.atomic():
        concept = lookup.concept(lookup.memoir(memoir), name)
        _, gone = concept.delete()
        touch(concept.memoir, now or timezone.now())
    return concept, gone.get("memoirs.ConceptLink", 0)


def insert_concept(
    memoir: Memoir,
    *,
    name: str,
    definition: str,
    origin: str,
    clean: Cleaner,
    now: datetime,
    labels: Iterable[str] = (),
    sources: Iterable[str] = (),
    confidence: float = START_CONFIDENCE,
) -> Concept:
    """Check and save a new concept, inside the caller's transaction.

    `sources` are known ids. Raises InvalidInput, Conflict.
    """
    concept = Concept(
        memoir=memoir,
        name=validation.name("name", name, clean),
        definition=validation.text("definition", definition, clean),
        labels=validation.labels(labels, clean),
        confidence=confidence,
        source_memory_ids=list(sources),
        origin=origin,
        created_at=now,
        updated_at=now,
    )
    concept.derive()
    _refuse_concept(memoir, concept.name)
    concept.save(force_insert=True)
    touch(memoir, now)
    return concept


def revise(
    concept: Concept,
    *,
    operation: str,
    caller: Caller,
    now: datetime,
    origin: str | None = None,
    **changed: Any,
) -> None:
    """Keep a concept as it is in its history, then change the given fields.

    Inside the caller's transaction; the values are checked already.
    """
    note(concept, operation=operation, caller=caller, now=now)
    for name, value in changed.items():
        setattr(concept, name, value)
    concept.origin = origin or caller.origin
    concept.updated_at = now
    concept.derive()
    concept.save()
    touch(concept.memoir, now)


def note(concept: Concept, *, operation: str, caller: Caller, now: datetime) -> None:
    """Keep a concept as it is in its history, before an operation."""
    ConceptRevision.objects.create(
        concept=concept,
        revision=concept.revision,
        written_by=concept.origin,
        written_at=concept.updated_at,
        operation=operation,
        surface=caller.surface,
        origin=caller.origin,
        host=caller.host,
        at=now,
        **{name: getattr(concept, name) for name in KEPT},
    )


def refined(concept: Concept, definition: str) -> dict[str, Any]:
    """The fields that a refinement changes, for `revise`."""
    return {
        "definition": definition,
        "revision": concept.revision + 1,
        "confidence": round(min(1.0, concept.confidence + GAIN), 4),
    }


def united(concept: Concept, sources: Iterable[str]) -> list[str]:
    """The source ids of a concept with more, each once."""
    return list(dict.fromkeys([*concept.source_memory_ids, *sources]))


def touch(memoir: Memoir, now: datetime) -> None:
    """Note that something in a memoir has changed."""
    memoir.updated_at = now
    memoir.save(update_fields=["updated_at"])


def _refuse_memoir(name: str) -> None:
    if Memoir.objects.filter(name=name).exists():
        raise Conflict(f"memoir already exists: {name}")


def _refuse_concept(memoir: Memoir, name: str) -> None:
    if memoir.concepts.filter(name=name).exists():
        raise Conflict(
            f"concept already exists in {memoir.name!r}: {name} (refine it instead)"
        )

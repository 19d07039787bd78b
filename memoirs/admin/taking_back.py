"""What a person changes in a memoir, to be taken back with one click."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.undoing import Key
from memoirs import write
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir


def rows(memoir: int | None) -> list[QuerySet[Any]]:
    """Concepts, links and history of the memoir with this key."""
    return [
        Concept.objects.filter(memoir=memoir),
        ConceptLink.objects.filter(source__memoir=memoir),
        ConceptRevision.objects.filter(concept__memoir=memoir),
    ]


def _note(changed: Iterable[Key], caller: Caller) -> None:
    """Keep in its history what a concept says before an undo."""
    keys = [pk for model, pk in changed if model is Concept]
    for concept in Concept.objects.filter(pk__in=keys):
        write.note(concept, operation="undo", caller=caller, now=timezone.now())


def whole(memoir: int) -> list[QuerySet[Any]]:
    """A memoir with all that is in it."""
    return [Memoir.objects.filter(pk=memoir), *rows(memoir)]


# How `undoing.watching` treats what a concept said before.
HISTORY: dict[str, Any] = {"appended": (ConceptRevision,), "leaving": _note}

"""The only code that writes links between concepts."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound
from memoirs import graph, lookup, relations
from memoirs.models import Concept, ConceptLink
from memoirs.relations import Relation
from memoirs.write import touch


def link(
    memoir: str,
    *,
    source: str,
    target: str,
    relation: str,
    caller: Caller,
    weight: float = 1.0,
    now: datetime | None = None,
) -> ConceptLink:
    """Link two concepts of a memoir.

    Raises NotFound, InvalidInput for an unknown relation or one concept at both ends,
    Conflict for a link that exists or would close a ring.
    """
    kind = relations.parse(relation)
    now = now or timezone.now()
    with transaction.atomic():
        parent = lookup.memoir(memoir)
        one, other = lookup.concept(parent, source), lookup.concept(parent, target)
        _refuse_link(one, other, kind)
        made = ConceptLink(
            source=one,
            target=other,
            relation=kind,
            weight=weight,
            origin=caller.origin,
            created_at=now,
        )
        made.save(force_insert=True)
        touch(parent, now)
    return made


def update_link(
    memoir: str,
    *,
    source: str,
    target: str,
    relation: str,
    weight: float,
    caller: Caller,
    now: datetime | None = None,
) -> ConceptLink:
    """Give a link another weight. Raises NotFound, InvalidInput."""
    with transaction.atomic():
        found = _find_link(memoir, source, target, relation)
        found.weight, found.origin = weight, caller.origin
        found.save(update_fields=["weight", "origin"])
        touch(found.source.memoir, now or timezone.now())
    return found


def retype(
    memoir: str,
    *,
    source: str,
    target: str,
    relation: str,
    to: str,
    caller: Caller,
    now: datetime | None = None,
) -> ConceptLink:
    """Give a link another relation; its weight stays.

    Raises NotFound, InvalidInput, Conflict, and then the link is as it was.
    """
    with transaction.atomic():
        old = delete_link(
            memoir, source=source, target=target, relation=relation, now=now
        )
        return link(
            memoir,
            source=source,
            target=target,
            relation=to,
            weight=old.weight,
            caller=caller,
            now=now,
        )


def delete_link(
    memoir: str,
    *,
    source: str,
    target: str,
    relation: str,
    now: datetime | None = None,
) -> ConceptLink:
    """Erase a link; returns it as it was. Raises NotFound, InvalidInput."""
    with transaction.atomic():
        found = _find_link(memoir, source, target, relation)
        ConceptLink.objects.filter(pk=found.pk).delete()
        touch(found.source.memoir, now or timezone.now())
    return found


def _refuse_link(source: Concept, target: Concept, relation: Relation) -> None:
    if source.pk == target.pk:
        raise InvalidInput(f"a concept cannot be linked to itself: {source.name}")
    arrow = f"{source.name} --{relation.value}--> {target.name}"
    if ConceptLink.objects.filter(
        source=source, target=target, relation=relation
    ).exists():
        raise Conflict(f"link already exists: {arrow}")
    directional = relation in relations.DIRECTIONAL
    if directional and graph.reaches(target.pk, source.pk, relation):
        raise Conflict(
            f"{arrow} would close a cycle: {relation.value} links lead from "
            f"{target.name} to {source.name} already"
        )


def _find_link(memoir: str, source: str, target: str, relation: str) -> ConceptLink:
    kind = relations.parse(relation)
    parent = lookup.memoir(memoir)
    one, other = lookup.concept(parent, source), lookup.concept(parent, target)
    found = ConceptLink.objects.filter(source=one, target=other, relation=kind).first()
    if found is None:
        raise NotFound(f"link not found: {one.name} --{kind.value}--> {other.name}")
    found.source, found.target = one, other
    return found

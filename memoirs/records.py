"""Rows as the records that surfaces show; a constant number of queries a list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from memoirs import graph
from memoirs.graph import Edge
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from memoirs.schemas import (
    ConceptRecord,
    GraphLink,
    GraphNode,
    LinkRecord,
    MemoirRecord,
    RevisionRecord,
)
from memoirs.sql import rows

# The ORM takes longer to write a thousand keys down than SQLite to find the rows.
NODES = """
SELECT id, name, confidence FROM concepts
WHERE id IN (SELECT value FROM json_each(%s))
"""


def memoir_record(memoir: Memoir, *, concepts: int) -> MemoirRecord:
    return MemoirRecord(
        id=memoir.ulid,
        name=memoir.name,
        description=memoir.description,
        consolidation_threshold=memoir.consolidation_threshold,
        created_at=memoir.created_at,
        updated_at=memoir.updated_at,
        concepts=concepts,
        full=concepts > memoir.consolidation_threshold,
    )


def concept_record(concept: Concept) -> ConceptRecord:
    return concept_records([concept])[0]


def concept_records(
    concepts: Sequence[Concept], *, scores: Mapping[int, float] | None = None
) -> list[ConceptRecord]:
    """Records in the given order; `scores` by integer key.

    The concepts come with their memoir loaded.
    """
    keys = [concept.pk for concept in concepts]
    successors, replaced = graph.current(keys), graph.replaced(keys)
    others = {
        key for found in (successors, replaced) for k in found for key in found[k]
    }
    names = names_of(others)
    return [
        ConceptRecord(
            id=concept.ulid,
            memoir=concept.memoir.name,
            name=concept.name,
            definition=concept.definition,
            labels=concept.labels,
            confidence=concept.confidence,
            revision=concept.revision,
            source_memory_ids=concept.source_memory_ids,
            origin=concept.origin,
            created_at=concept.created_at,
            updated_at=concept.updated_at,
            superseded_by=[names[key] for key in successors.get(concept.pk, [])],
            replaces=[names[key] for key in replaced.get(concept.pk, [])],
            score=(scores or {}).get(concept.pk),
        )
        for concept in concepts
    ]


def names_of(keys: Iterable[int]) -> dict[int, str]:
    """Names of concepts by their keys; no query for none."""
    wanted = list(keys)
    if not wanted:
        return {}
    return dict(Concept.objects.filter(pk__in=wanted).values_list("pk", "name"))


def in_order(keys: Sequence[int]) -> list[Concept]:
    """Concepts with their memoirs, in the order of their keys."""
    loaded = Concept.objects.select_related("memoir").filter(pk__in=keys)
    found = {concept.pk: concept for concept in loaded}
    return [found[key] for key in keys if key in found]


def link_record(link: ConceptLink) -> LinkRecord:
    """A link whose ends are loaded."""
    return LinkRecord(
        id=link.ulid,
        source=link.source.name,
        target=link.target.name,
        relation=link.relation,
        weight=link.weight,
        origin=link.origin,
        created_at=link.created_at,
    )


def nodes(distances: Mapping[int, int]) -> dict[int, GraphNode]:
    """The concepts that a walk has met, the nearest first, by key."""
    found = rows(NODES, [json.dumps(list(distances))])
    known = {key: (name, confidence) for key, name, confidence in found}
    return {
        key: GraphNode(name=known[key][0], confidence=known[key][1], distance=distance)
        for key, distance in distances.items()
        if key in known
    }


def edge_records(edges: Sequence[Edge], names: Mapping[int, str]) -> list[GraphLink]:
    """Links that a walk has met, in its order; `names` by concept key."""
    return [
        GraphLink(
            source=names[edge.source],
            target=names[edge.target],
            relation=edge.relation,
            weight=edge.weight,
        )
        for edge in edges
    ]


def revision_record(revision: ConceptRevision) -> RevisionRecord:
    return RevisionRecord(
        revision=revision.revision,
        name=revision.name,
        definition=revision.definition,
        labels=revision.labels,
        confidence=revision.confidence,
        source_memory_ids=revision.source_memory_ids,
        written_by=revision.written_by,
        written_at=revision.written_at,
        operation=revision.operation,
        surface=revision.surface,
        origin=revision.origin,
        host=revision.host,
        at=revision.at,
    )

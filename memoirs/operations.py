"""The operations of memoirs: what agents, people and programs can ask for."""

from __future__ import annotations

from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from memoirs import (
    export,
    graph,
    links,
    listing,
    lookup,
    records,
    relations,
    search,
    write,
)
from memoirs import search_all as everything
from memoirs.models import ConceptLink
from memoirs.schemas import (
    AddConceptParams,
    ConceptParams,
    ConceptResult,
    ConceptsResult,
    CreateParams,
    DeleteConceptResult,
    DeleteMemoirResult,
    EdgeParams,
    ExportParams,
    ExportResult,
    HistoryResult,
    InspectParams,
    InspectResult,
    LabelCount,
    LinkParams,
    LinkResult,
    MemoirParams,
    MemoirResult,
    MemoirsResult,
    Neighbor,
    NeighborsParams,
    NeighborsResult,
    NoParams,
    RefineParams,
    SearchAllParams,
    SearchAllResult,
    SearchEverywhereParams,
    SearchParams,
    ShowResult,
    UpdateConceptParams,
    UpdateLinkParams,
    UpdateMemoirParams,
)


def memoir_create(params: CreateParams, caller: Caller) -> MemoirResult:
    """Start a memoir: a graph of lasting knowledge about one subject.

    Not for events and decisions: those are memories.
    """
    del caller
    memoir, redacted = write.create_memoir(**params.model_dump())
    return MemoirResult(id=memoir.ulid, name=memoir.name, redacted=list(redacted))


def memoir_list(params: NoParams, caller: Caller) -> MemoirsResult:
    """List the memoirs with the number of their concepts."""
    del params, caller
    rows, total = listing.memoirs()
    return MemoirsResult(
        memoirs=[
            records.memoir_record(row, concepts=row.concept_count) for row in rows
        ],
        total=total,
    )


def memoir_show(params: MemoirParams, caller: Caller) -> ShowResult:
    """Show one memoir whole: figures, labels, all concepts.

    To get to know a subject; for one question, search.
    """
    del caller
    memoir = lookup.memoir(params.name)
    figures = listing.figures(memoir)
    return ShowResult(
        memoir=records.memoir_record(memoir, concepts=figures.concepts),
        links=figures.links,
        average_confidence=round(figures.average_confidence, 4),
        labels=[LabelCount(label=name, count=n) for name, n in figures.labels],
        concepts=records.concept_records(listing.concepts(memoir)),
    )


def memoir_update(params: UpdateMemoirParams, caller: Caller) -> MemoirResult:
    """Rename a memoir, or change its description or threshold."""
    del caller
    memoir, redacted = write.update_memoir(**params.model_dump())
    return MemoirResult(id=memoir.ulid, name=memoir.name, redacted=list(redacted))


def memoir_delete(params: MemoirParams, caller: Caller) -> DeleteMemoirResult:
    """Erase a memoir with its concepts and links. It cannot be undone."""
    del caller
    memoir, concepts, count = write.delete_memoir(params.name)
    return DeleteMemoirResult(name=memoir.name, concepts=concepts, links=count)


def memoir_add_concept(params: AddConceptParams, caller: Caller) -> ConceptResult:
    """Add a concept to a memoir: a part, a term, a rule.

    For knowledge that stays. If the concept exists, refine it instead.
    """
    done = write.add_concept(
        params.memoir,
        name=params.name,
        definition=params.definition,
        labels=params.labels,
        sources=params.source_memory_ids,
        allow_secret=params.allow_secret,
        caller=caller,
    )
    return _concept_result(done)


def memoir_refine(params: RefineParams, caller: Caller) -> ConceptResult:
    """Give a concept a better definition; the old one is kept, confidence rises.

    When you learned more of it. If something took its place, link superseded_by.
    """
    done = write.refine(
        params.memoir,
        params.name,
        definition=params.definition,
        sources=params.source_memory_ids,
        allow_secret=params.allow_secret,
        caller=caller,
    )
    return _concept_result(done)


def memoir_update_concept(params: UpdateConceptParams, caller: Caller) -> ConceptResult:
    """Rename a concept, or set its labels or confidence."""
    done = write.update_concept(
        params.memoir,
        params.name,
        new_name=params.new_name,
        labels=params.labels,
        confidence=params.confidence,
        allow_secret=params.allow_secret,
        caller=caller,
    )
    return _concept_result(done)


def memoir_delete_concept(params: ConceptParams, caller: Caller) -> DeleteConceptResult:
    """Erase a concept with its links and history. It cannot be undone.

    What is merely outdated is better linked superseded_by.
    """
    del caller
    concept, count = write.delete_concept(params.memoir, params.name)
    return DeleteConceptResult(
        memoir=concept.memoir.name, name=concept.name, links=count
    )


def memoir_history(params: ConceptParams, caller: Caller) -> HistoryResult:
    """Show how a concept came to say what it says: its earlier definitions."""
    del caller
    concept = lookup.concept(lookup.memoir(params.memoir), params.name)
    return HistoryResult(
        concept=records.concept_record(concept),
        revisions=[records.revision_record(row) for row in concept.revisions.all()],
    )


def memoir_search(params: SearchParams, caller: Caller) -> ConceptsResult:
    """Find concepts of one memoir by words, by label, or both.

    Before you explain or change something that it covers.
    """
    del caller
    if not params.query.strip() and not (params.label or "").strip():
        raise InvalidInput("query must not be empty, unless a label is given")
    memoir = lookup.memoir(params.memoir)
    return _concepts_result(params.query, params.label, params.limit, memoir.pk)


def memoir_search_all(params: SearchEverywhereParams, caller: Caller) -> ConceptsResult:
    """Find concepts in all memoirs, when you do not know in which."""
    del caller
    return _concepts_result(params.query, None, params.limit, None)


def memoir_link(params: LinkParams, caller: Caller) -> LinkResult:
    """Link two concepts of a memoir.

    superseded_by leads from the old one to the new: searches then show the new first.
    """
    made = links.link(
        params.memoir,
        source=params.source,
        target=params.to,
        relation=params.relation,
        weight=params.weight,
        caller=caller,
    )
    return _link_result(made)


def memoir_update_link(params: UpdateLinkParams, caller: Caller) -> LinkResult:
    """Give an existing link another weight."""
    found = links.update_link(
        params.memoir,
        source=params.source,
        target=params.to,
        relation=params.relation,
        weight=params.weight,
        caller=caller,
    )
    return _link_result(found)


def memoir_delete_link(params: EdgeParams, caller: Caller) -> LinkResult:
    """Erase a link between two concepts."""
    del caller
    found = links.delete_link(
        params.memoir,
        source=params.source,
        target=params.to,
        relation=params.relation,
    )
    return _link_result(found)


def memoir_neighbors(params: NeighborsParams, caller: Caller) -> NeighborsResult:
    """List the concepts linked with one, with their definitions."""
    del caller
    concept = lookup.concept(lookup.memoir(params.memoir), params.name)
    relation = relations.parse(params.relation) if params.relation else None
    found = listing.neighbors(concept, relation)
    rows = records.concept_records([concept, *(other for other, _ in found)])
    pairs = [
        Neighbor(concept=row, link=records.link_record(link))
        for row, (_, link) in zip(rows[1:], found, strict=True)
    ]
    pairs.sort(key=lambda pair: bool(pair.concept.superseded_by))
    return NeighborsResult(concept=rows[0], neighbors=pairs)


def memoir_inspect(params: InspectParams, caller: Caller) -> InspectResult:
    """Show a concept and the graph around it.

    Before you change a thing: what it depends on, and what depends on it.
    """
    del caller
    concept = lookup.concept(lookup.memoir(params.memoir), params.name)
    walk = graph.neighbourhood(concept.pk, depth=params.depth)
    current = graph.current([concept.pk]).get(concept.pk, [])
    shown = records.concept_records([concept, *records.in_order(current)])
    nodes = records.nodes(walk.distances)
    return InspectResult(
        concept=shown[0],
        current=shown[1:],
        depth=params.depth,
        nodes=list(nodes.values()),
        links=records.edge_records(
            walk.edges, {key: node.name for key, node in nodes.items()}
        ),
        truncated=walk.truncated,
    )


def memoir_export(params: ExportParams, caller: Caller) -> ExportResult:
    """Give a whole memoir as one text."""
    del caller
    memoir = lookup.memoir(params.name)
    text = export.export(export.load(memoir), params.format)
    return ExportResult(memoir=memoir.name, format=params.format, text=text)


def search_all(params: SearchAllParams, caller: Caller) -> SearchAllResult:
    """Search memories and memoirs together, best first.

    When either may know. For memories alone use icm_memory_recall.
    """
    del caller
    hits, notes = everything.search_all(**params.model_dump())
    return SearchAllResult(query=params.query, hits=hits, notes=list(notes))


def _concept_result(done: write.Written) -> ConceptResult:
    concept = done.concept
    return ConceptResult(
        id=concept.ulid,
        memoir=concept.memoir.name,
        name=concept.name,
        revision=concept.revision,
        confidence=concept.confidence,
        labels=concept.labels,
        redacted=list(done.redacted),
    )


def _concepts_result(
    query: str, label: str | None, limit: int, memoir_id: int | None
) -> ConceptsResult:
    hits = search.find(query, limit=limit, memoir_id=memoir_id, label=label)
    scores = {hit.concept_id: hit.score for hit in hits}
    concepts = records.in_order(list(scores))
    rows = records.concept_records(concepts, scores=scores)
    return ConceptsResult(query=query, label=label, concepts=rows)


def _link_result(link: ConceptLink) -> LinkResult:
    return LinkResult(memoir=link.source.memoir.name, link=records.link_record(link))

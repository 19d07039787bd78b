"""Memories and concepts ranked together, within one limit or one token budget."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from django.utils import timezone

from memoirs import records, search
from memoirs.models import Concept
from memoirs.schemas import SearchHit
from memoirs.search_texts import hit_text
from memories import decay, rank, recall
from memories import records as memory_records
from memories.projects import segment_match


def search_all(
    query: str, *, project: str | None, limit: int, max_tokens: int | None
) -> tuple[list[SearchHit], tuple[str, ...]]:
    """The best hits of both kinds, and what recall has to note.

    Scores of memories and concepts mean the same. Inside a project, concepts of
    memoirs that are not the project's need the score that shared memories need.
    `max_tokens` (4 characters each) replaces `limit`. Memories shown count as
    accessed.
    """
    now = timezone.now()
    decay.run_if_due(now=now)
    wanted = recall.BUDGET_LIMIT if max_tokens is not None else limit
    answer = recall.recall(query=query, project=project, limit=wanted, count=False)
    concepts = _concepts(query, project=project, limit=wanted)
    hits = [*_memory_hits(answer.hits), *concepts]
    hits.sort(key=lambda pair: -pair[0])
    shown = [hit for _, hit in hits][:wanted]
    if max_tokens is not None:
        texts = [hit_text(hit) for hit in shown]
        shown = [shown[place] for place in rank.fit_budget(texts, max_tokens)]
    ids = {hit.memory.id for hit in shown if hit.memory}
    keys = [found.memory.pk for found in answer.hits if found.memory.ulid in ids]
    recall.count_access(keys, now=now)
    return shown, (*answer.notes, *([answer.miss] if answer.miss else ()))


def _memory_hits(found: Iterable[recall.Recalled]) -> list[tuple[float, SearchHit]]:
    """Hits with the score that orders them: never above that of the hit before.

    Inside a project recall puts the project's own memories before shared ones.
    """
    hits = list(found)
    ceilings = accumulate((hit.score for hit in hits), min)
    rows = memory_records.recalled(hits)
    return [
        (ceiling, SearchHit(kind="memory", score=hit.score, memory=row))
        for ceiling, hit, row in zip(ceilings, hits, rows, strict=True)
    ]


def _concepts(
    query: str, *, project: str | None, limit: int
) -> list[tuple[float, SearchHit]]:
    hits = search.find(query, limit=limit)
    scores = {hit.concept_id: hit.score for hit in hits}
    concepts = [
        concept
        for concept in records.in_order(list(scores))
        if not project or _belongs(concept, project, scores[concept.pk])
    ]
    rows = records.concept_records(concepts, scores=scores)
    return [
        (
            row.score or 0.0,
            SearchHit(kind="concept", score=row.score or 0.0, concept=row),
        )
        for row in rows
    ]


def _belongs(concept: Concept, project: str, score: float) -> bool:
    own = segment_match(concept.memoir.name, project)
    return own or score >= recall.SHARED_MIN_SCORE

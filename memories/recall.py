"""Recall: what is asked, within which memories, and what is noted of the answer."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from icm_site import afterwards, conf
from icm_site.sqlite.opening import TIMEOUT
from memories import (
    decay,
    embedding,
    known_projects,
    links,
    loading,
    marks,
    rank,
    tiers,
)
from memories.driver import raw_connection
from memories.matrices import matrix, words
from memories.models import Memory
from memories.rank import Hit
from memories.scope import Scope

if TYPE_CHECKING:
    from memories.embedder import Vector
    from memories.vector_matrix import MatrixVectors

logger = logging.getLogger(__name__)

COUNTED_ROWS = 20
COUNT_WAIT_MS = 100
BUDGET_LIMIT = 100
SHARED_MIN_SCORE = tiers.SHARED_MIN_SCORE
NEIGHBOUR_SHARE = 3

COUNT_ACCESS = """
UPDATE memory_usage SET access_count = access_count + 1, last_accessed = ?
WHERE memory_id IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A memory that was found: `arms` maps an arm to rank (from 1) and value.

    `collapsed`: keys of near-duplicates that were left out in its favour.
    """

    memory: Memory
    score: float
    relevance: float
    arms: Mapping[str, tuple[int, float]]
    decided: str
    collapsed: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was found. `miss` names the project that was perhaps meant."""

    hits: list[Recalled]
    notes: tuple[str, ...] = ()
    miss: str = ""


def recall(
    *,
    query: str,
    topic: str | None = None,
    keyword: str | None = None,
    project: str | None = None,
    limit: int = 5,
    max_tokens: int | None = None,
    min_score: float = 0.0,
    min_relevance: float = 0.0,
    engine: str = "default",
    now: datetime | None = None,
    count: bool = True,
    without: Collection[str] = (),
) -> Answer:
    """The memories that answer a query, best first.

    `project` empty or None means all projects; `max_tokens` (4 characters each)
    replaces `limit`. `min_relevance` leaves out what has hardly to do with the query.
    Without `now`, periods in the query are those of the user's clock. With `count`, the
    rows shown count as accessed, best effort. `without`: see search.find.
    """
    wanted = BUDGET_LIMIT if max_tokens is not None else limit
    aliases = conf.current().projects.aliases
    project = known_projects.named(raw_connection(), project, aliases)
    moment = now or timezone.now()
    if count:
        afterwards.do(partial(decay.run_if_due, now=moment))
    floors = (min_score, min_relevance)
    ways = (engine, now, without)
    hits = _find(query, topic, keyword, project, wanted, floors, ways)
    answer = _load(hits)
    if max_tokens is not None:
        texts = [_rendered(hit.memory) for hit in answer]
        answer = [answer[i] for i in rank.fit_budget(texts, max_tokens)]
    if count:
        shown = [hit.memory.pk for hit in answer]
        afterwards.do(partial(count_access, shown, now=moment))
    note = embedding.note()
    miss = known_projects.miss(raw_connection(), project)
    return Answer(hits=answer, notes=(note,) if note else (), miss=miss)


def _find(
    query: str,
    topic: str | None,
    keyword: str | None,
    project: str | None,
    limit: int,
    floors: tuple[float, float],
    ways: tuple[str, datetime | None, Collection[str]],
) -> list[Hit]:
    engine, now, without = ways
    raw = raw_connection()
    vector, vectors = by_meaning(query)
    marked = conf.current().feedback.affects_recall and marks.exist(raw)
    allowed = tiers.scopes(raw, topic, keyword, project)
    hits = tiers.find(
        raw,
        query,
        allowed,
        limit=limit,
        min_score=floors[0],
        min_relevance=floors[1],
        engine=engine,
        query_vector=vector,
        vectors=vectors,
        words=words(),
        marked=marked,
        now=now,
        without=without,
    )
    near = _neighbours(raw, hits, allowed, limit, floors)
    if marked and near:
        near = marks.applied(raw, near, lambda keys: (), ceiling=hits[-1].score)
    return [*hits, *near]


def by_meaning(query: str) -> tuple[Vector | None, MatrixVectors | None]:
    """The query's vector and the stored ones to compare it with; None for words only.

    The first is missing where there is no model, or the query means nothing to it.
    """
    model = embedding.database_embedder()
    vector = embedding.embed_query(query, model)
    if model is None or vector is None:
        return None, None
    return vector, matrix(model.name, model.dimensions)


def _neighbours(
    raw: Any,
    hits: Sequence[Hit],
    allowed: Sequence[Scope],
    limit: int,
    floors: tuple[float, float],
) -> list[Hit]:
    """Memories linked with the hits, for places that are left: a third at most.

    Each scores half of the hit it is linked with, but not above the lowest hit, and is
    half as relevant; the filters hold for it as well.
    """
    places = min(limit - len(hits), max(1, limit // NEIGHBOUR_SHARE))
    if not hits or places < 1:
        return []
    known = {hit.memory_id for hit in hits}
    found: dict[int, Hit] = {}
    linked = links.neighbours([hit.memory_id for hit in hits])
    for hit in hits:
        score, sure = min(hit.score / 2, hits[-1].score), hit.relevance / 2
        if score < floors[0] or sure < floors[1]:
            continue
        for place, key in enumerate(linked.get(hit.memory_id, ()), 1):
            if key not in known:
                near = Hit(
                    key, score, {"link": place}, {"link": score}, "link", relevance=sure
                )
                found.setdefault(key, near)
    inside = tiers.inside(raw, found, allowed)
    kept = sorted(inside, key=lambda key: (-found[key].score, key))
    return [found[key] for key in kept[:places]]


def _load(hits: Sequence[Hit]) -> list[Recalled]:
    rows = loading.with_usage([hit.memory_id for hit in hits])
    return [
        Recalled(
            memory=rows[hit.memory_id],
            score=hit.score,
            relevance=hit.relevance,
            arms={
                arm: (place, hit.values.get(VALUE_OF.get(arm, arm), 0.0))
                for arm, place in hit.ranks.items()
            },
            decided=f"decided by {hit.decided}" if hit.decided else "",
            collapsed=hit.collapsed,
        )
        for hit in hits
        if hit.memory_id in rows
    ]


VALUE_OF = {"text": "bm25", "vector": "cosine"}


def _rendered(memory: Memory) -> str:
    """The text by which a budget is spent, as an MCP client sees it."""
    lines = [f"--- {memory.ulid} [score: 0.000] ---", f"topic: {memory.topic}"]
    lines += [f"importance: {memory.importance}", "weight: 0.000"]
    lines.append(f"summary: {memory.summary[: rank.SHOWN_CHARS]}")
    if memory.keywords:
        lines.append(f"keywords: {', '.join(memory.keywords)}")
    if memory.raw_excerpt:
        lines.append(f"raw: {memory.raw_excerpt[:2048]}")
    return "\n".join([*lines, ""])


def count_access(keys: Sequence[int], *, now: datetime) -> None:
    """Note that memories were shown; a busy or read-only database is left alone."""
    if not keys:
        return
    raw = raw_connection()
    moment = now.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    try:
        raw.execute(f"PRAGMA busy_timeout = {COUNT_WAIT_MS:d}")
        raw.execute(COUNT_ACCESS, (moment, json.dumps(list(keys[:COUNTED_ROWS]))))
    except sqlite3.OperationalError as error:
        logger.debug("access was not counted: %s", error)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {int(TIMEOUT * 1000):d}")

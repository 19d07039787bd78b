"""Search over concepts: words ranked by BM25, labels exactly, the current one first."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError

from icm_site import text
from memoirs import graph, validation
from memoirs.indexes import INDEX
from memoirs.sql import rows
from memories import rank
from memories.rank import WordHits

logger = logging.getLogger(__name__)

# BM25 weights of name, definition, labels.
COLUMN_WEIGHTS = (2.0, 1.0, 1.0)
PREFIX_CHARS = 4

IN_SCOPE = """
(%s IS NULL OR c.memoir_id = %s)
AND (%s IS NULL OR EXISTS (SELECT 1 FROM json_each(c.labels) WHERE value = %s))
"""

TEXT_ARM = f"""
SELECT c.id, -bm25(concepts_fts, %s, %s, %s) AS score, c.confidence
FROM concepts_fts JOIN concepts c ON c.id = concepts_fts.rowid
WHERE concepts_fts MATCH %s AND {IN_SCOPE}
ORDER BY score DESC, c.confidence DESC, c.id LIMIT %s
"""

SUBSTRING_ARM = f"""
SELECT c.id, (
    SELECT sum(2 * (instr(body, json_extract(value, '$[0]')) > 0)
        + (instr(body, json_extract(value, '$[1]')) > 0))
    FROM (SELECT c.name_index || ' ' || c.definition_index || ' '
        || c.labels_index AS body) CROSS JOIN json_each(%s)) AS found
FROM concepts c WHERE {IN_SCOPE} AND found > 0
ORDER BY found DESC, c.confidence DESC, c.id LIMIT %s
"""

LABELLED = f"""
SELECT c.id FROM concepts c WHERE {IN_SCOPE}
ORDER BY c.confidence DESC, c.name LIMIT %s
"""

AMONG = f"""
SELECT c.id FROM concepts c
WHERE c.id IN (SELECT value FROM json_each(%s)) AND {IN_SCOPE}
"""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A concept (key) that was found.

    `score` lies in 0-1 and means what it means for memories; 0 for a hit by label
    alone or by a part of a word.
    """

    concept_id: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Where to look: one memoir (key) or all, concepts with a label or any."""

    memoir_id: int | None = None
    label: str | None = None

    @property
    def parameters(self) -> list[Any]:
        """The four parameters of IN_SCOPE."""
        return [self.memoir_id, self.memoir_id, self.label, self.label]


def find(
    query: str,
    *,
    limit: int,
    memoir_id: int | None = None,
    label: str | None = None,
) -> list[Hit]:
    """The concepts that answer a query, have a label, or both; best first.

    The limit (1-500) holds after both. A superseded concept gives its place to the
    one that has replaced it, if that one is in scope too. Raises InvalidInput for a
    label that is none.
    """
    limit = rank.clamp_limit(limit)
    wanted = validation.label(label) if label and label.strip() else None
    scope = Scope(memoir_id=memoir_id, label=wanted)
    query = query.encode("utf-8", "replace").decode("utf-8")
    if not query.strip():
        hits = _labelled(scope, limit) if wanted else []
    else:
        hits = _ranked(query, scope, limit) or _substring(query, scope, limit)
    return _current(hits, scope)[:limit]


def _ranked(query: str, scope: Scope, limit: int) -> list[Hit]:
    """Hits of the text index; none where this SQLite has no FTS5."""
    expression = text.match_expression(query)
    if not expression:
        return []
    depth = rank.arm_depth(limit)
    parameters = [*COLUMN_WEIGHTS, expression, *scope.parameters, depth]
    try:
        found = rows(TEXT_ARM, parameters)
        strengths = _strengths(query, {key: score for key, score, _ in found})
    except OperationalError as error:
        logger.warning("concepts are searched without the text index: %s", error)
        return []
    if not found:
        return []
    best = found[0][1]
    # Rounded, so that what differs by a hair counts as a tie.
    order = sorted(
        found,
        key=lambda row: (
            -round(strengths.get(row[0], 0.0), 2),
            -round(row[1] / best, 2),
            -row[2],
            row[0],
        ),
    )
    return [Hit(concept_id=key, score=strengths.get(key, 0.0)) for key, _, _ in order]


def _strengths(query: str, bm25: dict[int, float]) -> dict[int, float]:
    """Strengths 0-1 by concept key (see memories.rank.text_strengths)."""
    if not bm25:
        return {}
    terms = [text.match_term(word) for word in text.search_words(query)]
    words = [WordHits(count, held) for count, held in INDEX.holders(terms, bm25)]
    return rank.text_strengths(bm25, words, INDEX.size())


def _substring(query: str, scope: Scope, limit: int) -> list[Hit]:
    """Concepts that hold a word anywhere, or the beginning of a word.

    "authentication" finds what speaks of auth.
    """
    words = [w for w in text.search_words(query) if len(w) > 2 or not w.isascii()]
    if not words:
        return []
    needles = json.dumps([[word, word[:PREFIX_CHARS]] for word in words])
    depth = rank.arm_depth(limit)
    found = rows(SUBSTRING_ARM, [needles, *scope.parameters, depth])
    return [Hit(concept_id=key, score=0.0) for key, _ in found]


def _labelled(scope: Scope, limit: int) -> list[Hit]:
    found = rows(LABELLED, [*scope.parameters, rank.arm_depth(limit)])
    return [Hit(concept_id=key, score=0.0) for (key,) in found]


def _current(hits: Sequence[Hit], scope: Scope) -> list[Hit]:
    """Each hit once, a superseded one as the concepts that have replaced it."""
    successors = graph.current([hit.concept_id for hit in hits])
    if not successors:
        return list(hits)
    ends = sorted({key for keys in successors.values() for key in keys})
    inside = {key for (key,) in rows(AMONG, [json.dumps(ends), *scope.parameters])}
    places: dict[int, Hit] = {}
    for hit in hits:
        live = [key for key in successors.get(hit.concept_id, []) if key in inside]
        for key in live or [hit.concept_id]:
            places.setdefault(key, Hit(concept_id=key, score=hit.score))
    return list(places.values())

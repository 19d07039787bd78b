"""Search over feedback: words ranked as in recall, the newest first among equals."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection

from feedback.indexes import INDEX
from feedback.models import Feedback
from icm_site import text
from memories import rank
from memories.listing import LIMIT
from memories.models import topic_key
from memories.rank import WordHits

logger = logging.getLogger(__name__)

IN_TOPIC = "(%s IS NULL OR f.topic_key = %s)"

TEXT_ARM = f"""
SELECT f.id, -bm25(feedback_fts) AS score
FROM feedback_fts JOIN feedback f ON f.id = feedback_fts.rowid
WHERE feedback_fts MATCH %s AND {IN_TOPIC}
ORDER BY score DESC, f.id DESC LIMIT %s
"""

# Each word comes with its spellings in capitals: lower() of SQLite knows ASCII only.
SUBSTRING_ARM = f"""
SELECT f.id, (
    SELECT count(*) FROM json_each(%s) AS word WHERE EXISTS (
        SELECT 1 FROM json_each(word.value) AS form WHERE instr(
            lower(f.topic || ' ' || f.context || ' ' || f.predicted || ' '
                || f.corrected || ' ' || f.reason), form.value) > 0)) AS words
FROM feedback f WHERE {IN_TOPIC} AND words > 0
ORDER BY words DESC, f.id DESC LIMIT %s
"""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A record that was found.

    `score` lies in 0-1 and means what it means for memories; 0 for a hit by a part of
    a word, None where there was no query.
    """

    feedback: Feedback
    score: float | None


def find(query: str, *, topic: str | None = None, limit: int = 5) -> list[Hit]:
    """The records that answer a query, best first; the newest for a blank query.

    `topic`: only records of exactly this topic, blank for all. `limit` is clamped to
    1-500.
    """
    limit = rank.clamp_limit(limit)
    query = query.encode("utf-8", "replace").decode("utf-8")
    if not query.strip():
        return [Hit(feedback=row, score=None) for row in listed(topic, limit=limit)]
    wanted = topic_key(topic) if topic and topic.strip() else None
    scores = _ranked(query, wanted, limit) or _substring(query, wanted, limit)
    rows = Feedback.objects.with_memories().in_bulk(list(scores))
    return [
        Hit(feedback=rows[key], score=score)
        for key, score in scores.items()
        if key in rows
    ]


def listed(topic: str | None = None, *, limit: int) -> list[Feedback]:
    """The newest records first, of exactly this topic or (blank) of all."""
    rows = Feedback.objects.with_memories()
    if topic and topic.strip():
        rows = rows.in_topic(topic)
    return list(rows[: min(max(0, limit), LIMIT)])


def _ranked(query: str, topic: str | None, limit: int) -> dict[int, float]:
    """Scores by key, best first; none where this SQLite has no FTS5."""
    expression = text.match_expression(query)
    if not expression:
        return {}
    depth = rank.arm_depth(limit)
    try:
        bm25 = dict(_rows(TEXT_ARM, [expression, topic, topic, depth]))
        strengths = _strengths(query, bm25)
    except OperationalError as error:
        logger.warning("feedback is searched without the text index: %s", error)
        return {}
    # Rounded, so that what differs by a hair counts as equal.
    best = sorted(strengths, key=lambda key: (-round(strengths[key], 2), -key))
    return {key: strengths[key] for key in best[:limit]}


def _strengths(query: str, bm25: dict[int, float]) -> dict[int, float]:
    """Strengths 0-1 by key (see memories.rank.text_strengths)."""
    if not bm25:
        return {}
    terms = [text.match_term(word) for word in text.search_words(query)]
    words = [WordHits(count, held) for count, held in INDEX.holders(terms, bm25)]
    return rank.text_strengths(bm25, words, INDEX.size())


def _substring(query: str, topic: str | None, limit: int) -> dict[int, float]:
    """Records that hold words of the query anywhere, short words only if unspaced."""
    words = [w for w in text.plain_words(query) if len(w) > 2 or text.is_unspaced(w)]
    if not words:
        return {}
    forms = json.dumps([sorted({w, w.upper(), w.title()}) for w in words])
    rows = _rows(SUBSTRING_ARM, [forms, topic, topic, limit])
    return {key: 0.0 for key, _ in rows}


def _rows(statement: str, parameters: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, list(parameters))
        rows: list[Any] = cursor.fetchall()
    return rows

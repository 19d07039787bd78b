"""Rows of feedback as the records that surfaces show."""

from __future__ import annotations

from feedback.models import Feedback
from feedback.schemas import FeedbackRecord
from memories.models import Memory


def record(row: Feedback, *, score: float | None = None) -> FeedbackRecord:
    """The record of a row whose memories are loaded."""
    return FeedbackRecord(
        id=row.ulid,
        topic=row.topic,
        context=row.context,
        predicted=row.predicted,
        corrected=row.corrected,
        reason=row.reason,
        source=row.source,
        created_at=row.created_at,
        applied_count=row.applied_count,
        memory=public_id(row.memory),
        correction=public_id(row.correction),
        score=score,
    )


def public_id(memory: Memory | None) -> str | None:
    return memory.ulid if memory is not None else None

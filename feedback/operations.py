"""The operations of feedback: what agents, people and programs can ask for."""

from __future__ import annotations

from django.utils import timezone

from feedback import figures, marks, records, search, write
from feedback.schemas import (
    ApplyResult,
    DeleteResult,
    FeedbackParams,
    HelpfulParams,
    HelpfulResult,
    ListParams,
    ListResult,
    NoParams,
    RecordParams,
    RecordResult,
    SearchParams,
    SearchResult,
    StatsResult,
)
from icm_site.caller import Caller
from memories import embedding
from memories.schemas import TopicCount


def feedback_record(params: RecordParams, caller: Caller) -> RecordResult:
    """Record a correction when an AI prediction was wrong.

    Use it when the user or a result shows that what you said or did was wrong. If a
    recalled memory misled you, name it as memory, and as correction the memory that is
    right: recall will rank the one below the other. Not for a fact that has merely
    changed: store that with supersedes.
    """
    done = write.record(**params.model_dump(), caller=caller)
    if done.stored is not None:
        embedding.embed_missing([done.stored.memory])
    change = done.stored.change if done.stored else None
    return RecordResult(
        feedback=records.record(done.feedback),
        redacted=list(done.redacted),
        stored=change.ulid if change else None,
    )


def feedback_search(params: SearchParams, caller: Caller) -> SearchResult:
    """Search past corrections to inform future predictions.

    Use it before you predict, estimate or choose where a mistake was made before. Not
    for facts: recall those.
    """
    del caller
    hits = search.find(params.query, topic=params.topic, limit=params.limit)
    return SearchResult(
        query=params.query,
        feedback=[records.record(hit.feedback, score=hit.score) for hit in hits],
    )


def feedback_list(params: ListParams, caller: Caller) -> ListResult:
    """List past corrections, the newest first."""
    del caller
    rows = search.listed(params.topic, limit=params.limit)
    return ListResult(feedback=[records.record(row) for row in rows])


def feedback_stats(params: NoParams, caller: Caller) -> StatsResult:
    """Feedback statistics: total count, breakdown by topic, most applied.

    Use it to see where mistakes repeat. Not before a prediction: search.
    """
    del params, caller
    counted = figures.figures()
    return StatsResult(
        total=counted.total,
        topics=[TopicCount(topic=name, count=count) for name, count in counted.topics],
        most_applied=[records.record(row) for row in counted.most_applied],
    )


def feedback_apply(params: FeedbackParams, caller: Caller) -> ApplyResult:
    """Report that a past correction changed what you did; its count rises.

    Use it after you followed a record that a search gave. Not for one that you only
    read.
    """
    del caller
    row = write.apply(params.id)
    return ApplyResult(
        id=row.ulid,
        applied_count=row.applied_count,
        correction=records.public_id(row.correction),
    )


def feedback_delete(params: FeedbackParams, caller: Caller) -> DeleteResult:
    """Erase a correction that was itself wrong; its marks on memories go with it.

    It cannot be undone. Memories stay as they are.
    """
    del caller
    return DeleteResult(id=write.delete(params.id).ulid)


def feedback_helpful(params: HelpfulParams, caller: Caller) -> HelpfulResult:
    """Report that a recalled memory helped: recall will rank it a little higher.

    Use it when a memory was right and changed what you did. Not for every hit.
    """
    memory, changed = marks.helped(
        params.id, caller=caller, now=timezone.now(), undo=params.undo
    )
    return HelpfulResult(id=memory.ulid, undo=params.undo, changed=changed)

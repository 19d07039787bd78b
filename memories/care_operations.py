"""The operations that keep a store useful: suggestions, health, decay, purge."""

from __future__ import annotations

from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from memories import (
    activity,
    consolidate,
    decay,
    embedder,
    embedding,
    health,
    history,
    links,
    projects,
    prune,
    purge,
    records,
    schedules,
    suggestions,
)
from memories.care_schemas import (
    ConsolidateParams,
    ConsolidateResult,
    DecayParams,
    DecayResult,
    DownloadParams,
    DownloadResult,
    HealthResult,
    PruneParams,
    PruneResult,
    PurgeParams,
    PurgeResult,
    RelatedParams,
    RelatedRecord,
    RelatedResult,
    ScheduleParams,
    ScheduleResult,
    SuggestionListParams,
    SuggestionListResult,
    SuggestionParams,
    SuggestionResult,
    TopicHealthRecord,
)


def suggestion_list(
    params: SuggestionListParams, caller: Caller
) -> SuggestionListResult:
    """List pairs of memories where the newer may replace or contradict the older.

    Use it when a store answered `may update`, or to tidy up. Accept or dismiss each.
    """
    del caller
    rows = suggestions.listed(status=params.status, limit=params.limit)
    return SuggestionListResult(
        suggestions=[activity.suggestion_record(row) for row in rows]
    )


def suggestion_accept(params: SuggestionParams, caller: Caller) -> SuggestionResult:
    """Let the newer memory of a suggestion replace the older one. It can be undone."""
    row, change = suggestions.accept(params.id, caller=caller, now=timezone.now())
    return SuggestionResult(
        suggestion=activity.suggestion_record(row), change=change.ulid
    )


def suggestion_dismiss(params: SuggestionParams, caller: Caller) -> SuggestionResult:
    """Keep both memories of a suggestion and do not suggest it again."""
    del caller
    row = suggestions.dismiss(params.id)
    return SuggestionResult(suggestion=activity.suggestion_record(row), change=None)


def memory_related(params: RelatedParams, caller: Caller) -> RelatedResult:
    """Walk from one memory to those linked with it, nearest first.

    Use it when a recalled memory matters and you want what belongs to it.
    """
    del caller
    start = history.find_memory(params.id)
    project = params.project or ""
    if project and not _within(start.topic, project):
        raise InvalidInput(f"memory {start.ulid} is outside project {project}")
    found = [
        row
        for row in links.related(start, depth=params.depth, limit=params.limit)
        if not project or _within(row.memory.topic, project)
    ]
    shown = records.records([row.memory for row in found])
    return RelatedResult(
        id=start.ulid,
        related=[
            RelatedRecord(memory=memory, hops=row.hops)
            for memory, row in zip(shown, found, strict=True)
        ],
    )


def memory_decay(params: DecayParams, caller: Caller) -> DecayResult:
    """Let weights fall by one step, as a day does. Runs by itself once a day."""
    del caller
    count = decay.step(factor=params.factor, now=timezone.now())
    return DecayResult(factor=params.factor, memories=count)


def memory_prune(params: PruneParams, caller: Caller) -> PruneResult:
    """Hide medium and low memories that have faded. It can be undone."""
    rows, change = prune.prune(
        threshold=params.threshold,
        caller=caller,
        now=timezone.now(),
        dry_run=params.dry_run,
    )
    return PruneResult(
        threshold=prune.checked_threshold(params.threshold),
        dry_run=params.dry_run,
        memories=records.records(rows),
        change=change.ulid if change else None,
    )


def health_of_topics(topic: str | None) -> HealthResult:
    """The health report without memoirs, which know of memories but not the reverse."""
    rows = health.topics(now=timezone.now(), topic=topic)
    return HealthResult(
        topics=[
            TopicHealthRecord(
                topic=row.topic,
                status=row.status,
                entries=row.entries,
                average_weight=round(row.average_weight, 3),
                average_access=round(row.average_access, 1),
                stale=row.stale,
            )
            for row in rows
        ],
        need_consolidation=sum(row.needs_consolidation for row in rows),
        stale=sum(row.stale for row in rows),
    )


def memory_consolidate(params: ConsolidateParams, caller: Caller) -> ConsolidateResult:
    """Replace the memories of a topic by one summary that you wrote.

    Use it when a topic holds more than seven memories: read them, write what still
    holds, pass it as summary. Critical memories stay; the originals can be restored
    by undo.
    """
    done = consolidate.consolidate(
        topic=params.topic,
        summary=params.summary,
        ids=params.ids,
        keep_originals=params.keep_originals,
        dry_run=params.dry_run,
        caller=caller,
        now=timezone.now(),
    )
    if done.successor is not None:
        embedding.embed_memories([done.successor], embedding.database_embedder())
    rows = [memory for memory in done.originals if memory != done.successor]
    return ConsolidateResult(
        topic=done.topic,
        id=done.successor.ulid if done.successor else None,
        replaced=records.records(rows),
        left=done.left,
        critical=done.critical,
        joined=params.summary is None,
        kept_originals=params.keep_originals,
        change=done.change.ulid if done.change else None,
    )


def memory_purge(params: PurgeParams, caller: Caller) -> PurgeResult:
    """Erase memories for good: rows, history, indexes, vectors, pages and log.

    Nothing brings them back. Without --yes it only shows what would be erased.
    """
    del caller
    wanted = purge.Wanted(**params.model_dump(exclude={"yes"}))
    rows = purge.chosen(wanted, now=timezone.now())
    shown = records.records(rows)
    if not params.yes:
        return PurgeResult(
            erased=False, memories=shown, revisions=0, backups=purge.backups()
        )
    done = purge.purge(rows)
    return PurgeResult(
        erased=True,
        memories=shown,
        revisions=done.revisions,
        backups=done.backups,
        complete=done.complete,
    )


def embeddings_download(params: DownloadParams, caller: Caller) -> DownloadResult:
    """Fetch a model from its hub: the one command that uses the network for one."""
    del caller
    model = embedder.download(params.model)
    return DownloadResult(model=model.name, dimensions=model.dimensions)


def schedule(params: ScheduleParams, caller: Caller) -> ScheduleResult:
    """Create the schedules of a django-q2 cluster: decay and missing vectors.

    Only for those who run `manage.py qcluster`; without it a recall does the decay.
    """
    del caller
    if params.remove:
        return ScheduleResult(created=[], removed=schedules.remove())
    return ScheduleResult(created=schedules.create(), removed=0)


def _within(topic: str, project: str) -> bool:
    return projects.segment_match(topic, project) or projects.is_global_topic(topic)

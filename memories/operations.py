"""The operations of memories: what agents, people and programs can ask for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound, UsageError
from memories import (
    embedder,
    embedding,
    history,
    indexes,
    links,
    listing,
    pausing,
    recall,
    records,
    reembedding,
    store,
    suggestions,
)
from memories.cleaner import Cleaner
from memories.models import Suggestion
from memories.schemas import (
    CloseMemory,
    EmbeddingsResult,
    EmbedParams,
    EmbedResult,
    ForgetParams,
    ForgetResult,
    ForgetTopicParams,
    GetParams,
    GetResult,
    ListParams,
    ListResult,
    NoParams,
    RecallParams,
    RecallResult,
    RenameTopicParams,
    RenameTopicResult,
    StatsResult,
    StoreParams,
    StoreResult,
    TopicCount,
    TopicsResult,
    UndoParams,
    UndoResult,
    UpdateParams,
)


def memory_store(params: StoreParams, caller: Caller) -> StoreResult:
    """Store one durable fact so that later sessions and other agents can recall it.

    Use it right after a decision, a solved error, a stated preference or a finished
    piece of work. Not for passing chatter, code, secrets or what a file in the
    repository says already. Storing the same text again adds nothing.
    """
    done = store.store(**params.model_dump(), caller=caller)
    embedding.embed_missing([done.memory])
    linked = links.link_to_nearest(done.memory) if done.created else []
    close = suggestions.keep_close(done)
    return _store_result(done, caller, links=len(linked), close=close)


def memory_recall(params: RecallParams, caller: Caller) -> RecallResult:
    """Search the memories by words and by meaning, in any language.

    Use it at the start of a task and before deciding something that may have been
    decided before. Ask in plain words. Not for listing everything, and not for
    questions that the files at hand answer.
    """
    del caller
    found = recall.recall(**params.model_dump(exclude={"explain"}))
    hits = records.recalled(found.hits, explain=params.explain)
    return RecallResult(
        query=params.query, hits=hits, notes=list(found.notes), miss=found.miss
    )


def memory_get(params: GetParams, caller: Caller) -> GetResult:
    """Show one memory by its id, in full, with the history of its changes."""
    del caller
    try:
        memory = history.find_memory(params.id)
    except NotFound:
        return GetResult(id=params.id, memory=None, history=[])
    return GetResult(
        id=memory.ulid,
        memory=records.record(memory),
        history=records.history_entries(memory),
    )


def memory_list(params: ListParams, caller: Caller) -> ListResult:
    """List memories of a topic or of all topics, without a search."""
    del caller
    if params.topic is None and not params.all:
        raise UsageError("give a topic with -t, or -a for all memories")
    rows, total = listing.listed(
        topic=params.topic, sort=params.sort, limit=params.limit
    )
    return ListResult(memories=records.records(rows), total=total)


def memory_update(params: UpdateParams, caller: Caller) -> StoreResult:
    """Correct a memory in place: its text, topic, importance or keywords.

    Use it when a stored fact was wrong or has become more precise. When a fact
    changed in the world, store the new one with `supersedes` instead.
    """
    fields = params.model_dump(exclude={"id"})
    done = store.update(params.id, **fields, caller=caller)
    embedding.embed_missing([done.memory])
    return _store_result(done, caller)


def memory_forget(params: ForgetParams, caller: Caller) -> ForgetResult:
    """Hide one memory that is wrong or of no use any more. It can be undone."""
    if (params.id is None) == (params.topic is None):
        raise InvalidInput("give either the id of a memory or a topic")
    if params.topic is not None:
        return memory_forget_topic(ForgetTopicParams(topic=params.topic), caller)
    memory, change = store.forget(params.id or "", caller=caller)
    return ForgetResult(id=memory.ulid, topic=None, count=1, change=change.ulid)


def memory_forget_topic(params: ForgetTopicParams, caller: Caller) -> ForgetResult:
    """Hide all memories of exactly one topic. It can be undone."""
    count, change = store.forget_topic(params.topic, caller=caller)
    return ForgetResult(
        id=None,
        topic=params.topic.strip(),
        count=count,
        change=change.ulid if change else None,
    )


def memory_undo(params: UndoParams, caller: Caller) -> UndoResult:
    """Take back a change, or the last change of a memory. An undo can be undone.

    Use it when a store, update or forget turns out to have been a mistake.
    """
    change, memories = history.undo(params.id, caller=caller, now=timezone.now())
    embedding.embed_missing(memories)
    undid = change.undoes
    assert undid is not None
    return UndoResult(
        change=change.ulid,
        undid=undid.ulid,
        operation=undid.operation,
        ids=[memory.ulid for memory in memories],
    )


def memory_list_topics(params: NoParams, caller: Caller) -> TopicsResult:
    """List the topics with the number of their memories.

    Use it to learn under which names things are stored before storing or recalling.
    """
    del params, caller
    rows = [TopicCount(topic=name, count=count) for name, count in listing.topics()]
    return TopicsResult(topics=rows)


def memory_rename_topic(
    params: RenameTopicParams,
    caller: Caller,
    progress: embedding.Progress | None = None,
) -> RenameTopicResult:
    """Rename a topic, or merge it into another one. It can be undone."""
    new = Cleaner()(params.new).strip()
    moved, merged, change = store.rename_topic(params.old, new, caller=caller)
    if moved == 0:
        raise NotFound(f"topic not found: {params.old.strip()}")
    if embedding.database_embedder() is not None:
        # The renaming is done, so a backfill that runs elsewhere is no failure of it.
        with suppress(Conflict):
            embedding.backfill(topic=new, progress=progress)
    return RenameTopicResult(
        old=params.old.strip(),
        new=new,
        moved=moved,
        merged=merged,
        change=change.ulid if change else None,
    )


def memory_stats(params: NoParams, caller: Caller) -> StatsResult:
    """Figures of the whole memory: counts, weight, age, search by meaning."""
    del params, caller
    figures, coverage = listing.stats(), embedding.coverage()
    text_index, vector_index = indexes.states()
    return StatsResult(
        memories=figures.memories,
        topics=figures.topics,
        average_weight=round(figures.average_weight, 3),
        oldest=figures.oldest,
        newest=figures.newest,
        embedded=coverage.embedded,
        searchable=coverage.total,
        model=coverage.model,
        reason=coverage.reason,
        hidden=figures.hidden,
        text_index=text_index,
        vector_index=vector_index,
        note=embedding.mismatch(),
        paused=pausing.state(),
    )


def memory_embed_all(
    params: EmbedParams, caller: Caller, progress: embedding.Progress | None = None
) -> EmbedResult:
    """Give each memory that lacks one a vector, so that meaning finds it.

    Use it after embeddings were off; a store does it by itself.
    """
    del caller
    if params.force and params.migrate:
        raise InvalidInput("give either --force or --migrate")
    size, copy = params.batch_size, None
    if params.migrate:
        done, copy = reembedding.migrate(batch_size=size, progress=progress)
    elif params.force:
        done = reembedding.force(batch_size=size, progress=progress)
    else:
        done = embedding.backfill(
            topic=params.topic, batch_size=size, progress=progress
        )
    return EmbedResult(
        embedded=done.done,
        total=done.total,
        errors=done.errors,
        model=embedding.database_model(),
        backup=str(copy) if copy else None,
    )


def embeddings_status(params: NoParams, caller: Caller) -> EmbeddingsResult:
    """Which model turns text into vectors, whether it is to be had, and coverage."""
    del params, caller
    coverage = embedding.coverage()
    status = embedder.status(embedding.database_model())
    return EmbeddingsResult(
        model=status.name,
        available=status.available,
        reason=status.reason,
        embedded=coverage.embedded,
        searchable=coverage.total,
        note=embedding.mismatch(),
    )


def _store_result(
    done: store.Stored,
    caller: Caller,
    *,
    links: int = 0,
    close: Sequence[Suggestion] = (),
) -> StoreResult:
    return StoreResult(
        id=done.memory.ulid,
        created=done.created,
        similarity=done.similarity,
        change=done.change.ulid if done.change else None,
        topic=done.memory.topic,
        in_topic=done.in_topic,
        supersedes=done.replaced.ulid if done.replaced else None,
        redacted=list(done.redacted),
        links=links,
        close=[
            CloseMemory(
                id=row.target.ulid,
                kind=row.kind,
                reason=row.reason,
                summary=row.target.summary,
                suggestion=row.ulid,
            )
            for row in close
        ],
        project=caller.project,
    )

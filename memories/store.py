"""The only code that writes the text of memories: store, update, forget, rename."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from icm_site import conf
from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput
from memories import (
    history,
    merge,
    outgoing,
    project_visits,
    statements,
    validation,
)
from memories.cleaner import Cleaner
from memories.models import (
    Change,
    Memory,
    MemoryUsage,
    Origin,
    State,
)
from memories.redact import redact

CONSOLIDATE_ABOVE = 7


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What a store did.

    `similarity` is None for a new memory, 1.0 where the text was there before, else
    the likeness of the memory it was merged into. `in_topic` counts the live, not
    critical memories of the topic afterwards.
    """

    memory: Memory
    change: Change | None
    similarity: float | None = None
    in_topic: int = 0
    redacted: tuple[str, ...] = ()
    replaced: Memory | None = None
    close: tuple[merge.Close, ...] = ()

    @property
    def created(self) -> bool:
        return self.similarity is None


@dataclass(frozen=True, kw_only=True)
class _Text:
    """Checked fields of a memory, secrets masked."""

    topic: str
    summary: str
    raw_excerpt: str | None
    keywords: list[str]
    redacted: tuple[str, ...]


def store(
    *,
    topic: str,
    content: str,
    caller: Caller,
    importance: str = "",
    keywords: Iterable[str] = (),
    raw_excerpt: str | None = None,
    supersedes: str | None = None,
    occurred_at: datetime | None = None,
    created_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
    allow_secret: bool = False,
    dedup: bool = True,
    now: datetime | None = None,
) -> Stored:
    """Store a text, or refresh the memory that holds it already.

    `importance` defaults to the configured one. `supersedes` names the memory that
    this one replaces. `created_at` dates an imported memory. Raises InvalidInput,
    NotFound for an unknown `supersedes`, Conflict where it is not live.
    """
    now = now or timezone.now()
    memory, redacted = _new(
        caller=caller,
        now=now,
        topic=topic,
        content=content,
        importance=importance,
        keywords=keywords,
        raw_excerpt=raw_excerpt,
        created_at=created_at,
        occurred_at=occurred_at,
        metadata=metadata,
        allow_secret=allow_secret,
    )
    with history.change("store", caller=caller, now=now) as log:
        old = history.find_memory(supersedes) if supersedes else None
        kept, similarity, close = _put(
            memory, dedup=dedup, replaced=old, log=log, now=now
        )
        if old is not None:
            merge.supersede(old, by=kept, log=log, now=now)
    project_visits.see(caller, now=now)
    return Stored(
        memory=kept,
        change=log.change if log.before else None,
        similarity=similarity,
        in_topic=statements.count_in_topic(kept.topic_key),
        redacted=redacted,
        replaced=old,
        close=tuple(row for row in close if old is None or row.memory.pk != old.pk),
    )


def insert_within(
    log: history.Log, *, caller: Caller, now: datetime, **fields: Any
) -> Memory:
    """Store a text as part of a larger change; `fields` as `store` takes them.

    Raises InvalidInput.
    """
    memory, _ = _new(caller=caller, now=now, **fields)
    return _put(memory, dedup=False, log=log, now=now)[0]


def update(
    identifier: str,
    *,
    caller: Caller,
    content: str | None = None,
    topic: str | None = None,
    importance: str | None = None,
    keywords: Iterable[str] | None = None,
    raw_excerpt: str | None = None,
    allow_secret: bool = False,
    now: datetime | None = None,
) -> Stored:
    """Change the given fields of a memory; its weight goes back to 1.0.

    Raises NotFound, InvalidInput, Conflict where the memory is not live or where
    another live memory of the topic has the new text.
    """
    now = now or timezone.now()
    if all(v is None for v in (content, topic, importance, keywords, raw_excerpt)):
        raise InvalidInput("nothing to update: give content or another field")
    with history.change("update", caller=caller, now=now) as log:
        memory = _live(identifier)
        text = _checked(
            memory.topic if topic is None else topic,
            memory.summary if content is None else content,
            memory.raw_excerpt if raw_excerpt is None else raw_excerpt,
            memory.keywords if keywords is None else keywords,
            allow_secret=allow_secret,
            known={memory.topic, memory.summary, memory.raw_excerpt, *memory.keywords},
        )
        log.keep(memory)
        if text.summary != memory.summary:
            # Texts that were merged into the old one do not mean the new one.
            history.set_hashes(memory, [])
        old, memory.topic, memory.summary = memory.topic, text.topic, text.summary
        memory.raw_excerpt, memory.keywords = text.raw_excerpt, text.keywords
        if importance is not None:
            memory.importance = validation.importance(importance)
        _refuse_taken(memory)
        if memory.topic != old:
            history.carry_hashes(memory, topic=old)
        history.save(memory, log=log, now=now)
        MemoryUsage.objects.filter(pk=memory.pk).update(weight=1.0, decayed_at=now)
    return Stored(
        memory=memory,
        change=log.change,
        in_topic=statements.count_in_topic(memory.topic_key),
        redacted=text.redacted,
    )


def forget(
    identifier: str, *, caller: Caller, now: datetime | None = None
) -> tuple[Memory, Change]:
    """Hide a memory. Raises NotFound, Conflict where it is forgotten already."""
    now = now or timezone.now()
    with history.change("forget", caller=caller, now=now) as log:
        memory = history.find_memory(identifier)
        if memory.state == State.FORGOTTEN:
            raise Conflict(f"memory {memory.ulid} is forgotten already")
        history.hide([memory], State.FORGOTTEN, log=log, now=now)
    return memory, log.change


def forget_topic(
    topic: str, *, caller: Caller, now: datetime | None = None
) -> tuple[int, Change | None]:
    """Hide all memories of a topic; returns how many. Raises InvalidInput."""
    name = validation.topic(topic)
    now = now or timezone.now()
    with history.change("forget_topic", caller=caller, now=now) as log:
        rows = list(_searchable().in_topic(name))
        history.hide(rows, State.FORGOTTEN, log=log, now=now)
    return len(rows), log.change if rows else None


def rename_topic(
    old: str, new: str, *, caller: Caller, now: datetime | None = None
) -> tuple[int, int, Change | None]:
    """Move the memories of a topic to another name, merging equal texts.

    Secrets in the new name are masked. Returns how many moved and how many of those
    were hidden, since the new topic holds the same text. Raises InvalidInput.
    """
    names = {validation.topic(old): validation.topic(Cleaner()(new))}
    return rename_topics(names, operation="rename_topic", caller=caller, now=now)


def rename_topics(
    names: Mapping[str, str],
    *,
    operation: str,
    caller: Caller,
    now: datetime | None = None,
) -> tuple[int, int, Change | None]:
    """Move the memories of topics to other names (old: new) in one change.

    Returns the same as `rename_topic`.
    """
    now = now or timezone.now()
    moved = merged = 0
    with history.change(operation, caller=caller, now=now) as log:
        for source, target in names.items():
            rows = list(_searchable().in_topic(source).order_by("id"))
            history.load_hashes(rows)
            merged += sum(move_within(row, target, log=log, now=now) for row in rows)
            moved += len(rows)
    return moved, merged, log.change if moved else None


def _searchable() -> Any:
    return Memory.objects.filter(state__in=[State.LIVE, State.SUPERSEDED])


def move_within(memory: Memory, topic: str, *, log: history.Log, now: datetime) -> bool:
    """Give a memory another topic (checked, masked); True if an equal one hides it."""
    log.keep(memory)
    old, memory.topic = memory.topic, topic
    memory.derive()
    history.carry_hashes(memory, topic=old)
    same = merge.same_text(memory.summary_hash)
    if memory.is_live and same is not None and same.pk != memory.pk:
        merge.refresh(same, memory, log=log, now=now)
        memory.state = State.ARCHIVED
        memory.superseded_by = same
    history.save(memory, log=log, now=now)
    return memory.state == State.ARCHIVED


def _checked(
    topic: str,
    content: str,
    raw_excerpt: str | None,
    keywords: Iterable[str],
    *,
    allow_secret: bool,
    known: Collection[str | None] = (),
) -> _Text:
    """Check and mask fields; `known` texts were let through before and stay."""
    found: list[str] = []

    def clean(value: str) -> str:
        if allow_secret or value in known:
            return value
        settings = conf.current().redaction
        result = redact(value, extra=settings.extra, allow=settings.allow)
        found.extend(result.found)
        return result.text

    # Sizes first: a text that will be refused is not worth the masking.
    validation.summary(content)
    validation.raw_excerpt(raw_excerpt)
    if allow_secret:
        outgoing.let_through(filter(None, [topic, content, raw_excerpt, *keywords]))
    return _Text(
        topic=validation.topic(clean(topic)),
        summary=validation.summary(clean(content)),
        raw_excerpt=validation.raw_excerpt(clean(raw_excerpt) if raw_excerpt else None),
        keywords=validation.keywords(clean(word) for word in keywords),
        redacted=tuple(dict.fromkeys(found)),
    )


def _origin(caller: Caller) -> dict[str, Any]:
    """Columns that say who stored a memory."""
    details = {name: value for name, value in caller.details.items() if value}
    if caller.agent_session:
        details["session_id"] = caller.agent_session
    if caller.project:
        details["project"] = caller.project
    kinds = {"claude-code": "claude_code"}
    source = kinds.get(caller.host, "manual" if caller.origin == Origin.USER else "")
    return {
        "origin": caller.origin,
        "host": caller.host,
        "agent_session": caller.agent_session,
        "source_type": source or "conversation",
        "source_data": details,
    }


def _refuse_taken(memory: Memory) -> None:
    memory.derive()
    taken = statements.live_holder(memory.summary_hash, other_than=memory.pk)
    if taken is not None:
        raise Conflict(f"memory {taken} of this topic has the same text")


def _new(
    *,
    caller: Caller,
    now: datetime,
    topic: str,
    content: str,
    importance: str | None = None,
    keywords: Iterable[str] = (),
    raw_excerpt: str | None = None,
    created_at: datetime | None = None,
    occurred_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
    allow_secret: bool = False,
) -> tuple[Memory, tuple[str, ...]]:
    """A checked memory that is not stored yet, and what was masked in it."""
    text = _checked(topic, content, raw_excerpt, keywords, allow_secret=allow_secret)
    level = importance or conf.current().memory.default_importance
    memory = statements.new(
        Memory,
        topic=text.topic,
        summary=text.summary,
        raw_excerpt=text.raw_excerpt,
        keywords=text.keywords,
        importance=validation.importance(level),
        metadata=dict(metadata or {}),
        occurred_at=occurred_at,
        created_at=created_at or now,
        updated_at=now,
        **_origin(caller),
    )
    memory.derive()
    return memory, text.redacted


def _put(
    memory: Memory,
    *,
    dedup: bool,
    replaced: Memory | None = None,
    log: history.Log,
    now: datetime,
) -> tuple[Memory, float | None, list[merge.Close]]:
    """The memory that holds the text now, its likeness if it was there, close ones.

    It is not merged into the one that it is to replace, however alike they are.
    """
    # Two live rows with one text cannot be, so an equal one is looked for always.
    same = merge.same_text(memory.summary_hash)
    if same is not None:
        merge.refresh(same, memory, log=log, now=now)
        return same, 1.0, []
    close = merge.close_to(memory) if dedup else []
    same_fact = (row for row in close if row.verdict.kind == "same")
    twin = next((row for row in same_fact if row.memory != replaced), None)
    if twin is not None:
        merge.merge(twin.memory, memory, twin.verdict.likeness, log=log, now=now)
        return twin.memory, twin.verdict.likeness, []
    _insert(memory, log=log, now=now)
    return memory, None, close


def _insert(memory: Memory, *, log: history.Log, now: datetime) -> None:
    statements.insert_memory(memory, decayed_at=max(memory.created_at, now))
    log.created(memory)


def _live(identifier: str) -> Memory:
    memory = history.find_memory(identifier)
    if not memory.is_live:
        raise Conflict(f"memory {memory.ulid} is {memory.state}, not live")
    return memory

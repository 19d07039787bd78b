"""What the operations of memories take and give: the published contract."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from icm_site.operation import Params, Result
from memories.models import Importance

Level = Annotated[
    Literal["critical", "high", "medium", "low"],
    BeforeValidator(lambda v: v.strip().lower() if isinstance(v, str) else v),
]


def _words(value: object) -> object:
    """A list, also from a comma list or a list that is written as JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        # Not a list after all: a word may begin like one.
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value.split(",")


Keywords = Annotated[list[str], BeforeValidator(_words)]
Identifier = Annotated[str, StringConstraints(strip_whitespace=True)]
Identifiers = Annotated[list[Identifier], BeforeValidator(_words)]


class StoreParams(Params):
    topic: str = Field(
        description="Where it belongs, e.g. decisions-<project>, errors-resolved-"
        "<project>, context-<project>, preferences"
    )
    content: str = Field(description="The fact itself, in one or two sentences")
    importance: Level | None = Field(
        None, description="critical (never fades), high, medium or low"
    )
    keywords: Keywords = Field(default_factory=list, description="Words to find it by")
    raw_excerpt: str | None = Field(
        None, description="Verbatim text behind the fact: an error, a snippet"
    )
    supersedes: Identifier | None = Field(
        None, description="Id of the memory that this one replaces"
    )
    allow_secret: bool = Field(False, description="Keep text that looks like a secret")


class RecallParams(Params):
    query: str = Field(description="What you want to know, in your own words")
    topic: str | None = Field(None, description="Only topics that contain this name")
    keyword: str | None = Field(None, description="Only memories with this keyword")
    project: str | None = Field(None, description="Only this project's; empty for all")
    limit: int = Field(5, description="At most so many")
    max_tokens: int | None = Field(None, description="Token budget instead of limit")
    min_score: float = Field(
        0.0, ge=0.0, le=1.0, description="Leave out hits below this"
    )
    min_relevance: float = Field(
        0.0,
        ge=0.0,
        le=1.0,
        description="Leave out what hardly has to do with the query (0.5: be sure)",
    )
    engine: Literal["default", "blend", "additive"] = Field(
        "default", description="How word and meaning scores are joined"
    )
    explain: bool = Field(False, description="Say how each hit was found")


class GetParams(Params):
    id: Identifier = Field(description="Id of the memory")


class ListParams(Params):
    topic: str | None = Field(None, description="Memories of exactly this topic")
    all: bool = Field(False, description="Memories of all topics")
    sort: Literal["weight", "created", "accessed"] = Field(
        "weight", description="Largest or newest first by this"
    )
    limit: int | None = Field(None, description="At most so many")


class UpdateParams(Params):
    id: Identifier = Field(description="Id of the memory")
    content: str | None = Field(None, description="The new text")
    topic: str | None = Field(None, description="Move it to this topic")
    importance: Level | None = Field(None, description="The new importance")
    keywords: Keywords | None = Field(None, description="The new keywords")
    raw_excerpt: str | None = Field(None, description="The new verbatim text")
    allow_secret: bool = Field(False, description="Keep text that looks like a secret")


class ForgetParams(Params):
    id: Identifier | None = Field(None, description="Id of the memory")
    topic: str | None = Field(None, description="Forget all memories of this topic")


class ForgetTopicParams(Params):
    topic: str = Field(description="Forget all memories of exactly this topic")


class UndoParams(Params):
    id: Identifier = Field(
        description="Id of a change, or of a memory to take back its last change"
    )


class RenameTopicParams(Params):
    old: str = Field(description="The topic's present name")
    new: str = Field(description="Its new name; an existing topic is merged with")


class EmbedParams(Params):
    topic: str | None = Field(None, description="Only memories of this topic")
    batch_size: int = Field(32, ge=1, le=1024, description="Texts in one batch")
    force: bool = Field(False, description="Make every vector again")
    migrate: bool = Field(
        False, description="Replace the vectors by those of the configured model"
    )


class NoParams(Params):
    pass


class Source(Result):
    type: str
    data: dict[str, Any] = Field(default_factory=dict)


class Explanation(Result):
    """Rank (from 1) and value of a hit in each arm, and what decided."""

    arms: dict[str, tuple[int, float]]
    decided: str


class MemoryRecord(Result):
    """A memory as every surface shows it."""

    id: str
    created_at: datetime
    updated_at: datetime
    last_accessed: datetime
    access_count: int
    weight: float
    topic: str
    summary: str
    raw_excerpt: str | None
    keywords: list[str]
    importance: Importance
    source: Source
    origin: str
    host: str
    state: str
    related_ids: list[str]
    superseded_by: str | None
    replaces: list[str]
    same_as: list[str] | None = None
    corrected_by: str | None = None
    scope: str = "user"
    has_embedding: bool
    score: float | None = None
    relevance: float | None = None
    explain: Explanation | None = None


class CloseMemory(Result):
    """A memory that the stored text may update or contradict, kept as a suggestion."""

    id: str
    kind: str
    reason: str
    summary: str
    suggestion: str


class StoreResult(Result):
    id: str
    created: bool
    similarity: float | None
    change: str | None
    topic: str
    in_topic: int
    supersedes: str | None
    redacted: list[str]
    links: int = 0
    close: list[CloseMemory] = Field(default_factory=list)
    project: str = ""


class RecallResult(Result):
    query: str
    hits: list[MemoryRecord]
    notes: list[str] = Field(default_factory=list)
    miss: str = ""


class HistoryEntry(Result):
    """One change of one memory; `before` holds only the fields it changed."""

    change: str
    operation: str
    at: datetime
    surface: str
    origin: str
    host: str
    undone: bool
    undoes: str | None
    before: dict[str, Any] | None
    after: dict[str, Any]


class GetResult(Result):
    id: str
    memory: MemoryRecord | None
    history: list[HistoryEntry]


class ListResult(Result):
    memories: list[MemoryRecord]
    total: int


class ForgetResult(Result):
    id: str | None
    topic: str | None
    count: int
    change: str | None


class UndoResult(Result):
    change: str
    undid: str
    operation: str
    ids: list[str]


class TopicCount(Result):
    topic: str
    count: int


class TopicsResult(Result):
    topics: list[TopicCount]


class RenameTopicResult(Result):
    old: str
    new: str
    moved: int
    merged: int
    change: str | None


class StatsResult(Result):
    memories: int
    topics: int
    average_weight: float
    oldest: datetime | None
    newest: datetime | None
    embedded: int
    searchable: int
    model: str
    reason: str
    hidden: dict[str, int]
    text_index: str
    vector_index: str
    note: str
    paused: str = ""


class EmbedResult(Result):
    embedded: int
    total: int
    errors: int
    model: str
    backup: str | None


class EmbeddingsResult(Result):
    """State of the model; `available` false comes with the reason."""

    model: str
    available: bool
    reason: str
    embedded: int
    searchable: int
    note: str

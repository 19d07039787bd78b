"""What the operations take and give that keep a store useful over years."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from icm_site.operation import Params, Result
from memories.schemas import Identifier, Identifiers, MemoryRecord


class SuggestionListParams(Params):
    status: Literal["open", "accepted", "dismissed"] = Field(
        "open", description="Which suggestions"
    )
    limit: int = Field(20, description="How many at most")


class SuggestionParams(Params):
    id: Identifier = Field(description="Id of the suggestion")


class SuggestionRecord(Result):
    """`source` is the newer memory, `target` the one it may replace."""

    id: str
    kind: str
    status: str
    score: float
    reason: str
    created_at: datetime
    source_id: str
    source: str
    target_id: str
    target: str


class SuggestionListResult(Result):
    suggestions: list[SuggestionRecord]


class SuggestionResult(Result):
    suggestion: SuggestionRecord
    change: str | None


class RelatedParams(Params):
    id: Identifier = Field(description="Id of the memory to start from")
    depth: int = Field(1, description="How many links away")
    limit: int = Field(10, description="At most so many")
    project: str | None = Field(None, description="Only this project's; empty for all")


class RelatedRecord(Result):
    memory: MemoryRecord
    hops: int


class RelatedResult(Result):
    id: str
    related: list[RelatedRecord]


class DecayParams(Params):
    factor: float = Field(
        0.95, ge=0.0, lt=1.0, description="What the step leaves of a weight"
    )


class DecayResult(Result):
    factor: float
    memories: int


class PruneParams(Params):
    threshold: float | None = Field(
        None, ge=0.0, le=1.0, description="Hide memories whose weight is below this"
    )
    dry_run: bool = Field(False, description="Show what would go, change nothing")


class PruneResult(Result):
    threshold: float
    dry_run: bool
    memories: list[MemoryRecord]
    change: str | None


class HealthParams(Params):
    topic: str | None = Field(None, description="Only this topic")


class TopicHealthRecord(Result):
    topic: str
    status: str
    entries: int
    average_weight: float
    average_access: float
    stale: int


class HealthResult(Result):
    topics: list[TopicHealthRecord]
    need_consolidation: int
    stale: int
    full_memoirs: list[str] = Field(default_factory=list)


class ConsolidateParams(Params):
    topic: str = Field(description="The topic whose memories are merged")
    summary: str | None = Field(
        None, description="The text that takes their place; without it they are joined"
    )
    ids: Identifiers = Field(
        default_factory=list, description="Merge only these memories of the topic"
    )
    keep_originals: bool = Field(False, description="Leave the originals in sight")
    dry_run: bool = Field(False, description="Show what would go, change nothing")


class ConsolidateResult(Result):
    topic: str
    id: str | None
    replaced: list[MemoryRecord]
    left: int
    critical: int
    joined: bool
    kept_originals: bool
    change: str | None


class PurgeParams(Params):
    id: Identifier | None = Field(None, description="Erase this memory")
    topic: str | None = Field(None, description="Erase all of this topic")
    project: str | None = Field(None, description="Erase all of this project")
    query: str | None = Field(
        None, description="Erase memories that hold, or held, this text"
    )
    older_than_days: float | None = Field(
        None,
        ge=0.0,
        le=36_500.0,
        description="Erase memories stored more than so many days ago",
    )
    hidden_only: bool = Field(
        False, description="Erase only what is forgotten, archived or superseded"
    )
    yes: bool = Field(False, description="Really erase; without it, show what would go")


class PurgeResult(Result):
    erased: bool
    memories: list[MemoryRecord]
    revisions: int
    backups: list[str]
    complete: bool = True


class DownloadParams(Params):
    model: str | None = Field(
        None, description="Name of the model; the configured one by default"
    )


class DownloadResult(Result):
    model: str
    dimensions: int


class ScheduleParams(Params):
    remove: bool = Field(False, description="Remove the schedules instead")


class ScheduleResult(Result):
    created: list[str]
    removed: int

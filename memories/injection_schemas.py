"""What the operations of wake-up and injection take and give."""

from __future__ import annotations

from pydantic import Field

from icm_site.operation import Params, Result
from memories import rank
from memories.schemas import Keywords, Level, MemoryRecord


class WakeUpParams(Params):
    project: str | None = Field(None, description="Else the current one; - for all")
    max_tokens: int = Field(200, description="Token budget")
    include_preferences: bool = Field(True, description="Preferences and identity")


class ContextParams(Params):
    project: str | None = Field(None, description="Else the current one; - for none")
    max_tokens: int = Field(1200, description="Token budget")


class RecallContextParams(Params):
    query: str = Field(description="What to know")
    project: str | None = Field(None, description="Else the current one; - for all")
    limit: int = Field(10, description="At most so many")
    min_relevance: float = Field(
        rank.HOOK_FLOOR,
        ge=0.0,
        le=1.0,
        description="Leave out what hardly has to do with the query; 0 for nothing",
    )


class RecallProjectParams(Params):
    project: str | None = Field(None, description="Else the current one")
    limit: int = Field(10, description="At most so many")


class SaveProjectParams(Params):
    content: str = Field(description="The fact")
    project: str | None = Field(None, description="Else the current one")
    importance: Level | None = Field(None, description="As in store")
    keywords: Keywords = Field(default_factory=list, description="To find it by")


class SectionResult(Result):
    title: str
    lines: list[str]


class WakeUpResult(Result):
    """The pack; `project` None stands for all of them, "" for none."""

    project: str | None
    sections: list[SectionResult]
    ids: list[str]
    miss: str = ""


class ContextResult(Result):
    project: str
    sections: list[SectionResult]
    ids: list[str]
    total_chars: int
    max_chars: int
    over_budget: bool
    dropped: int
    miss: str = ""


class RecallContextResult(Result):
    query: str
    project: str
    hits: list[MemoryRecord]
    notes: list[str] = Field(default_factory=list)
    miss: str = ""

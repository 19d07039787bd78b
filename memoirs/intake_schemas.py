"""What the operations that make concepts of memories and projects take and give."""

from __future__ import annotations

from pydantic import Field

from icm_site.operation import Params, Result
from memoirs.schemas import Given


class DistillParams(Params):
    from_topic: str = Field(description="Topic whose memories become concepts")
    into: str = Field(description="Name of the memoir that receives them")


class PatternsParams(Params):
    topic: str = Field(description="The topic")
    memoir: Given = Field(None, description="To keep them in")
    min_cluster_size: int = Field(3, description="Least size of a group")


class LearnParams(Params):
    directory: str = Field(".", description="Folder of the project")
    name: Given = Field(None, description="Of the memoir, else the project's")


class DistillResult(Result):
    """`skipped`: memories whose text had no room in their concept."""

    topic: str
    memoir: str
    memories: int
    created: list[str]
    refined: list[str]
    unchanged: int
    skipped: list[str]


class Pattern(Result):
    """Memories that share most keywords; `concept` is its name in the memoir."""

    keywords: list[str]
    count: int
    summary: str
    memory_ids: list[str]
    concept: str | None


class PatternsResult(Result):
    topic: str
    memoir: str | None
    memories: int
    patterns: list[Pattern]


class LearnResult(Result):
    """Figures of the memoir's learned part; `kept`: not learned, so left alone."""

    id: str
    name: str
    concepts: int
    links: int
    added: int
    updated: int
    removed: int
    kept: int

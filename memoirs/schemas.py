"""What the operations of memoirs take and give: the published contract."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from icm_site.operation import Params, Result
from memoirs.relations import NAMES
from memories.schemas import Identifiers, MemoryRecord


def _split(value: object) -> object:
    """A comma list as a list."""
    return value.split(",") if isinstance(value, str) else value


def _given(value: object) -> object:
    """None for a blank text: agents send "" for what they leave out."""
    return None if isinstance(value, str) and not value.strip() else value


Given = Annotated[str | None, BeforeValidator(_given)]
# Published as a comma list; a list is accepted as well.
Labels = Annotated[
    list[str], BeforeValidator(_split), WithJsonSchema({"type": "string"})
]

_LABELS = "namespace:value, comma-separated"
_SOURCES = "Memories it rests on"


class NoParams(Params):
    pass


class Keeping(Params):
    """Of all that write text."""

    allow_secret: bool = Field(False, description="Keep text that looks like a secret")


class CreateParams(Keeping):
    name: str = Field(description="Its name")
    description: str = Field("", description="What it is about")


class MemoirParams(Params):
    name: str = Field(description="The memoir")


class UpdateMemoirParams(Keeping):
    name: str = Field(description="The memoir")
    new_name: Given = Field(None, description="Its new name")
    description: Given = Field(None, description="Its new description")
    threshold: int | None = Field(
        None, ge=1, le=1_000_000, description="Concepts above which it is full"
    )


class AddConceptParams(Keeping):
    memoir: str
    name: str = Field(description="Its name, unique there")
    definition: str = Field(description="What it is, in 1-3 sentences")
    labels: Labels = Field(default_factory=list, description=_LABELS)
    source_memory_ids: Identifiers = Field(default_factory=list, description=_SOURCES)


class RefineParams(Keeping):
    memoir: str
    name: str = Field(description="The concept")
    definition: str = Field(description="The whole new definition")
    source_memory_ids: Identifiers = Field(default_factory=list, description=_SOURCES)


class UpdateConceptParams(Keeping):
    memoir: str
    name: str = Field(description="The concept")
    new_name: Given = Field(None, description="Its new name")
    labels: Annotated[Labels | None, BeforeValidator(_given)] = Field(
        None, description="All its labels; a comma alone for none"
    )
    confidence: float | None = Field(None, ge=0.0, le=1.0, description="0 to 1")


class ConceptParams(Params):
    memoir: str
    name: str = Field(description="The concept")


class SearchParams(Params):
    memoir: str
    query: str = Field("", description="Words; optional with a label")
    label: Given = Field(None, description="namespace:value")
    limit: int = 10


class SearchEverywhereParams(Params):
    query: str = Field(description="Words to find")
    limit: int = 10


if TYPE_CHECKING:

    class Ends(Params):
        """`to`, and `from`, which Python has no attribute for."""

        to: str

else:
    Ends = create_model(
        "Ends",
        __base__=Params,
        **{
            "from": (str, Field(description="Concept it starts from")),
            "to": (str, Field(description="Concept it leads to")),
        },
    )


class EdgeParams(Ends):
    """One link, by its memoir, ends and relation."""

    memoir: str
    relation: str = Field(description=f"One of {NAMES}")

    @property
    def source(self) -> str:
        name: str = getattr(self, "from")
        return name


class LinkParams(EdgeParams):
    weight: float = Field(1.0, ge=0.0, le=1.0, description="How strong, 0 to 1")


class UpdateLinkParams(EdgeParams):
    weight: float = Field(ge=0.0, le=1.0, description="How strong, 0 to 1")


class NeighborsParams(ConceptParams):
    relation: Given = Field(None, description=f"Only one of {NAMES}")


class InspectParams(ConceptParams):
    depth: int = Field(1, description="Steps from the concept")


class ExportParams(Params):
    name: str = Field(description="The memoir")
    format: Literal["json", "dot", "ascii", "ai", "mermaid", "svg"] = Field(
        "json", description="ai is the shortest to read"
    )


class SearchAllParams(Params):
    query: str = Field(description="What you want to know")
    project: str | None = Field(
        None, description="Only this one's memories; empty for all"
    )
    limit: int = 10
    max_tokens: int | None = Field(None, description="Token budget instead of limit")


class MemoirRecord(Result):
    """A memoir as every surface shows it; `full` is more than its threshold."""

    id: str
    name: str
    description: str
    consolidation_threshold: int
    created_at: datetime
    updated_at: datetime
    concepts: int
    full: bool


class ConceptRecord(Result):
    """A concept as every surface shows it.

    `superseded_by` names its current successors, `replaces` all that it has replaced.
    """

    id: str
    memoir: str
    name: str
    definition: str
    labels: list[str]
    confidence: float
    revision: int
    source_memory_ids: list[str]
    origin: str
    created_at: datetime
    updated_at: datetime
    superseded_by: list[str] = Field(default_factory=list)
    replaces: list[str] = Field(default_factory=list)
    score: float | None = None


class LinkRecord(Result):
    """A link; `source` and `target` are names of concepts."""

    id: str
    source: str
    target: str
    relation: str
    weight: float
    origin: str
    created_at: datetime


class MemoirResult(Result):
    id: str
    name: str
    redacted: list[str] = Field(default_factory=list)


class MemoirsResult(Result):
    memoirs: list[MemoirRecord]
    total: int


class LabelCount(Result):
    label: str
    count: int


class ShowResult(Result):
    """`labels`: the most frequent first. `concepts`: up to the limit of lists."""

    memoir: MemoirRecord
    links: int
    average_confidence: float
    labels: list[LabelCount]
    concepts: list[ConceptRecord]


class DeleteMemoirResult(Result):
    name: str
    concepts: int
    links: int


class ConceptResult(Result):
    id: str
    memoir: str
    name: str
    revision: int
    confidence: float
    labels: list[str]
    redacted: list[str] = Field(default_factory=list)


class DeleteConceptResult(Result):
    memoir: str
    name: str
    links: int


class ConceptsResult(Result):
    query: str
    label: str | None
    concepts: list[ConceptRecord]


class LinkResult(Result):
    memoir: str
    link: LinkRecord


class Neighbor(Result):
    concept: ConceptRecord
    link: LinkRecord


class NeighborsResult(Result):
    concept: ConceptRecord
    neighbors: list[Neighbor]


class GraphNode(Result):
    name: str
    confidence: float
    distance: int


class GraphLink(Result):
    source: str
    target: str
    relation: str
    weight: float


class InspectResult(Result):
    """`current`: what has replaced the concept; `truncated`: there are more links."""

    concept: ConceptRecord
    current: list[ConceptRecord]
    depth: int
    nodes: list[GraphNode]
    links: list[GraphLink]
    truncated: bool


class ExportResult(Result):
    memoir: str
    format: str
    text: str


class RevisionRecord(Result):
    """A concept as it was until `at`; what was done then, and by whom."""

    revision: int
    name: str
    definition: str
    labels: list[str]
    confidence: float
    source_memory_ids: list[str]
    written_by: str
    written_at: datetime
    operation: str
    surface: str
    origin: str
    host: str
    at: datetime


class HistoryResult(Result):
    concept: ConceptRecord
    revisions: list[RevisionRecord]


class SearchHit(Result):
    """A memory or a concept, never both."""

    kind: Literal["memory", "concept"]
    score: float
    memory: MemoryRecord | None = None
    concept: ConceptRecord | None = None


class SearchAllResult(Result):
    query: str
    hits: list[SearchHit]
    notes: list[str] = Field(default_factory=list)

"""What the operations of feedback take and give: the published contract."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from icm_site.operation import Params, Result
from memories.schemas import Identifier, TopicCount

_TOPIC = "Only records of exactly this topic"


class RecordParams(Params):
    topic: str = Field(description="What kind of prediction it was, e.g. deploy-shop")
    context: str = Field(description="The situation in which you predicted")
    predicted: str = Field(description="What you said or did, which was wrong")
    corrected: str = Field(description="What would have been right")
    reason: str = Field("", description="Why it was wrong")
    source: str = Field("", description="Where the correction comes from, e.g. user")
    memory: Identifier | None = Field(None, description="Id of the memory that misled")
    correction: Identifier | None = Field(
        None, description="Id of the memory that says what is right"
    )
    store_correction: bool = Field(
        False, description="Store the corrected text as the memory that is right"
    )
    allow_secret: bool = Field(False, description="Keep text that looks like a secret")


class SearchParams(Params):
    query: str = Field(
        description="What you are about to predict; blank for the newest records"
    )
    topic: str | None = Field(None, description=_TOPIC)
    limit: int = Field(5, description="How many records at most")


class ListParams(Params):
    topic: str | None = Field(None, description=_TOPIC)
    limit: int = Field(20, description="How many records at most")


class NoParams(Params):
    pass


class FeedbackParams(Params):
    id: Identifier = Field(description="Id of the feedback record")


class HelpfulParams(Params):
    id: Identifier = Field(description="Id of the memory that helped")
    undo: bool = Field(False, description="Take your mark back")


class FeedbackRecord(Result):
    """A record as every surface shows it; `memory` and `correction` are ids."""

    id: str
    topic: str
    context: str
    predicted: str
    corrected: str
    reason: str
    source: str
    created_at: datetime
    applied_count: int
    memory: str | None
    correction: str | None
    score: float | None = None


class RecordResult(Result):
    """`stored` is the change by which a correction was stored, for undo."""

    feedback: FeedbackRecord
    redacted: list[str]
    stored: str | None


class SearchResult(Result):
    query: str
    feedback: list[FeedbackRecord]


class ListResult(Result):
    feedback: list[FeedbackRecord]


class StatsResult(Result):
    total: int
    topics: list[TopicCount]
    most_applied: list[FeedbackRecord]


class ApplyResult(Result):
    id: str
    applied_count: int
    correction: str | None


class DeleteResult(Result):
    id: str


class HelpfulResult(Result):
    """`changed` is false where the mark was there, or gone, before."""

    id: str
    undo: bool
    changed: bool

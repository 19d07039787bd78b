"""What happened, as records: changes that can be undone, and pairs to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Window
from django.db.models.functions import RowNumber

from icm_site.operation import Result
from memories.care_schemas import SuggestionRecord
from memories.models import Change, MemoryRevision, Suggestion

# Ids that a record of a change shows; one of a whole topic may concern thousands.
SHOWN = 100


class ChangeRecord(Result):
    """One act, by whom and from where; `undoes` is the change that it took back.

    `memories` are the ids of the first hundred that it concerned, `count` is how many.
    """

    id: str
    operation: str
    at: datetime
    surface: str
    origin: str
    host: str
    agent_session: str
    undone: bool
    undoes: str | None
    memories: list[str]
    count: int


def change_records(changes: Sequence[Change]) -> list[ChangeRecord]:
    """Records in the given order, `undoes` loaded; two queries for all of them."""
    rows = MemoryRevision.objects.filter(change_id__in=[row.pk for row in changes])
    counted = rows.order_by().values_list("change_id").annotate(count=Count("id"))
    place = Window(RowNumber(), partition_by="change_id", order_by="id")
    first = rows.order_by("id").alias(place=place).filter(place__lte=SHOWN)
    concerned: dict[int, list[str]] = defaultdict(list)
    for key, ulid in first.values_list("change_id", "memory__ulid"):
        concerned[key].append(ulid)
    counts = dict(counted)
    return [
        _change_record(row, concerned[row.pk], counts.get(row.pk, 0)) for row in changes
    ]


def _change_record(change: Change, memories: list[str], count: int) -> ChangeRecord:
    return ChangeRecord(
        id=change.ulid,
        operation=change.operation,
        at=change.at,
        surface=change.surface,
        origin=change.origin,
        host=change.host,
        agent_session=change.agent_session,
        undone=change.undone,
        undoes=change.undoes.ulid if change.undoes else None,
        memories=memories,
        count=count,
    )


def suggestion_record(row: Suggestion) -> SuggestionRecord:
    """The record of a pair, `source` and `target` loaded."""
    return SuggestionRecord(
        id=row.ulid,
        kind=row.kind,
        status=row.status,
        score=round(row.score, 3),
        reason=row.reason,
        created_at=row.created_at,
        source_id=row.source.ulid,
        source=row.source.summary,
        target_id=row.target.ulid,
        target=row.target.summary,
    )

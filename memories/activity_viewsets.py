"""The REST interface of what happened: `/api/changes/` and `/api/suggestions/`."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, OuterRef

from icm_site.rest import ReadOnlyRecordViewSet, RecordSerializer
from icm_site.rest_filters import (
    Filter,
    Rows,
    choice,
    equal,
    flag,
    moments,
    number,
    row_id,
)
from memories import activity
from memories.activity import ChangeRecord
from memories.care_schemas import SuggestionRecord
from memories.models import Change, MemoryRevision, Origin, Suggestion


def of_memory(rows: Rows, value: str) -> Rows:
    """The changes of one memory, each once. Raises InvalidInput."""
    revisions = MemoryRevision.objects.filter(change=OuterRef("pk"))
    one = row_id(["memory__ulid"], "").apply(revisions, value)
    return rows.filter(Exists(one))


class ChangeSerializer(RecordSerializer):
    """Rows come with the change that they undo."""

    def records(self, rows: Sequence[Change]) -> Sequence[ChangeRecord]:
        return activity.change_records(rows)


class SuggestionSerializer(RecordSerializer):
    """Rows come with both memories."""

    def records(self, rows: Sequence[Suggestion]) -> Sequence[SuggestionRecord]:
        return [activity.suggestion_record(row) for row in rows]


class ChangeViewSet(ReadOnlyRecordViewSet):
    """Every act that can be undone. Undo one by the operation memory_undo."""

    queryset = Change.objects.select_related("undoes")
    serializer_class = ChangeSerializer
    noun = "change"
    record = ChangeRecord
    filters = {
        "memory": Filter(
            of_memory,
            "The id of a memory that it concerned.",
            {"type": "string", "minLength": 26, "maxLength": 26},
        ),
        "operation": equal("operation", "What was done, as in store or forget."),
        "surface": equal("surface", "Through which door: cli, mcp, http, admin, hook."),
        "origin": choice("origin", Origin.values, "Who did it."),
        "host": equal("host", "The program or token that did it."),
        "session": equal("agent_session", "The agent's session that did it."),
        "undone": flag("undone", "Whether it was taken back."),
        **moments("at", "at"),
    }
    orderings = {"at": "at"}


class SuggestionViewSet(ReadOnlyRecordViewSet):
    """Pairs to look at. Accept or dismiss one by suggestion_accept, suggestion_dismiss.

    Unlike the operation suggestion_list also those of memories that are hidden by now.
    """

    queryset = Suggestion.objects.select_related("source", "target")
    serializer_class = SuggestionSerializer
    noun = "suggestion"
    record = SuggestionRecord
    filters = {
        "status": choice("status", Suggestion.Status.values, "Whether it is decided."),
        "kind": choice("kind", Suggestion.Kind.values, "What is suspected."),
        "memory": row_id(
            ["source__ulid", "target__ulid"], "The id of one of its memories."
        ),
        "min_score": number("score__gte", "At least this score."),
        **moments("created_at"),
    }
    orderings = {"created_at": "created_at", "score": "score"}

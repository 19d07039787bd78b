"""The REST interface of feedback: `/api/feedback/`."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from feedback import write
from feedback.models import TEXTS, Feedback
from feedback.schemas import FeedbackRecord
from feedback.serializers import FeedbackSerializer
from icm_site.rest import RecordViewSet
from icm_site.rest_filters import Filter, Rows, equal, moments, row_id
from icm_site.text_filter import containing
from memories.models import topic_key

SEARCHED = tuple(f"{name}_index" for name in ("topic", *TEXTS))


class FeedbackViewSet(RecordViewSet):
    """Corrections of predictions. They stay as recorded; DELETE erases one."""

    queryset = Feedback.objects.with_memories()
    serializer_class = FeedbackSerializer
    noun = "feedback"
    record = FeedbackRecord
    http_method_names = ["get", "delete", "head", "options"]
    filters = {
        "topic": Filter(
            lambda rows, value: rows.filter(topic_key=topic_key(value)),
            "Exactly this topic.",
        ),
        "memory": row_id(["memory__ulid"], "The id of the memory that misled."),
        "correction": row_id(
            ["correction__ulid"], "The id of the memory in its place."
        ),
        "source": equal("source", "Where the correction comes from."),
        **moments("created_at"),
    }
    orderings = {"created_at": "created_at", "applied_count": "applied_count"}

    def search(self, rows: Rows, words: str) -> Rows:
        return containing(rows, words, SEARCHED)

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        return Response({"id": write.delete(kwargs["id"]).ulid})

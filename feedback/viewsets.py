"""The REST interface of feedback: `/api/feedback/`."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from feedback import write
from feedback.models import TEXTS, Feedback
from feedback.serializers import FeedbackSerializer
from icm_site.rest import RecordViewSet, Rows
from icm_site.text_filter import containing
from memories.models import topic_key

SEARCHED = tuple(f"{name}_index" for name in ("topic", *TEXTS))


class FeedbackViewSet(RecordViewSet):
    """Corrections of predictions. They stay as recorded; DELETE erases one.

    Filters: topic, memory (the id of the one that misled).
    """

    queryset = Feedback.objects.with_memories()
    serializer_class = FeedbackSerializer
    noun = "feedback"
    http_method_names = ["get", "delete", "head", "options"]
    filters = {
        "topic": lambda rows, value: rows.filter(topic_key=topic_key(value)),
        "memory": lambda rows, value: rows.filter(memory__ulid=value.upper()),
    }
    orderings = {"created_at": "created_at", "applied_count": "applied_count"}

    def search(self, rows: Rows, words: str) -> Rows:
        return containing(rows, words, SEARCHED)

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        return Response({"id": write.delete(kwargs["id"]).ulid})

"""How the REST interface shows feedback; nothing of it is edited."""

from __future__ import annotations

from collections.abc import Sequence

from feedback import records
from feedback.models import Feedback
from feedback.schemas import FeedbackRecord
from icm_site.rest import RecordSerializer


class FeedbackSerializer(RecordSerializer):
    """Rows come with their memories."""

    def records(self, rows: Sequence[Feedback]) -> Sequence[FeedbackRecord]:
        return [records.record(row) for row in rows]

"""How the REST interface shows memories, and what an edit of one may change."""

from __future__ import annotations

from collections.abc import Sequence

from rest_framework import serializers

from icm_site.rest import RecordSerializer
from memories import records
from memories.models import Importance, Memory
from memories.schemas import MemoryRecord


class MemorySerializer(RecordSerializer):
    """Texts are taken as they are: `store` checks them, on every surface alike."""

    topic = serializers.CharField(trim_whitespace=False, allow_blank=True)
    summary = serializers.CharField(trim_whitespace=False, allow_blank=True)
    raw_excerpt = serializers.CharField(
        trim_whitespace=False, allow_blank=True, allow_null=True
    )
    keywords = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, allow_blank=True)
    )
    importance = serializers.ChoiceField(choices=Importance.choices)

    def records(self, rows: Sequence[Memory]) -> Sequence[MemoryRecord]:
        return records.records(rows)

"""How the REST interface shows memoirs, and what an edit of them may change."""

from __future__ import annotations

from collections.abc import Sequence

from rest_framework import serializers

from icm_site.rest import RecordSerializer
from memoirs import records
from memoirs.models import Concept, ConceptLink, Memoir
from memoirs.schemas import ConceptRecord, LinkRecord, MemoirRecord


class LinkOfMemoirRecord(LinkRecord):
    """A link that stands alone; `memoir` is the name of its memoir."""

    memoir: str


class MemoirSerializer(RecordSerializer):
    """Rows come with `concept_count`."""

    name = serializers.CharField(trim_whitespace=False, allow_blank=True)
    description = serializers.CharField(trim_whitespace=False, allow_blank=True)
    consolidation_threshold = serializers.IntegerField(min_value=1, max_value=1_000_000)

    def records(self, rows: Sequence[Memoir]) -> Sequence[MemoirRecord]:
        return [records.memoir_record(row, concepts=row.concept_count) for row in rows]


class ConceptSerializer(RecordSerializer):
    """Rows come with their memoir."""

    name = serializers.CharField(trim_whitespace=False, allow_blank=True)
    definition = serializers.CharField(trim_whitespace=False, allow_blank=True)
    labels = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, allow_blank=True)
    )
    confidence = serializers.FloatField(min_value=0.0, max_value=1.0)

    def records(self, rows: Sequence[Concept]) -> Sequence[ConceptRecord]:
        return records.concept_records(rows)


class LinkSerializer(RecordSerializer):
    """Rows come with both ends and the memoir of the source."""

    weight = serializers.FloatField(min_value=0.0, max_value=1.0)

    def records(self, rows: Sequence[ConceptLink]) -> Sequence[LinkRecord]:
        return [
            LinkOfMemoirRecord(
                memoir=row.source.memoir.name, **records.link_record(row).model_dump()
            )
            for row in rows
        ]

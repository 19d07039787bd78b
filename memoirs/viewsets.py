"""The REST interface of memoirs: `/api/memoirs/`, `/api/concepts/`, `/api/links/`."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from rest_framework.request import Request
from rest_framework.response import Response

from icm_site.errors import InvalidInput
from icm_site.rest import RecordViewSet
from icm_site.rest_filters import Filter, Rows, choice, equal, moments, number
from icm_site.text_filter import containing
from memoirs import links, relations, validation, write
from memoirs.models import Concept, ConceptLink, Memoir, Origin
from memoirs.schemas import ConceptRecord, MemoirRecord
from memoirs.serializers import (
    ConceptSerializer,
    LinkOfMemoirRecord,
    LinkSerializer,
    MemoirSerializer,
)

SEARCHED = ("name_index", "definition_index", "labels_index")
LABELLED = """
EXISTS (SELECT 1 FROM json_each(concepts.labels) AS label WHERE label.value = %s)
"""


def with_label(rows: Rows, label: str) -> Rows:
    """Concepts that bear a label. Raises InvalidInput."""
    return rows.extra(where=[LABELLED], params=[validation.label(label)])


class MemoirViewSet(RecordViewSet):
    """The memoirs. PATCH edits; DELETE erases one with all that is in it."""

    queryset = Memoir.objects.with_counts()
    serializer_class = MemoirSerializer
    noun = "memoir"
    record = MemoirRecord
    edit_adds = {"redacted": list[str]}
    deletion_adds = {"concepts": int, "links": int}
    filters = {
        "name": equal("name", "Exactly this name."),
        **moments("created_at"),
        **moments("updated_at"),
    }
    orderings = {
        "created_at": "created_at",
        "updated_at": "updated_at",
        "name": "name",
        "concepts": "concept_count",
    }

    def search(self, rows: Rows, words: str) -> Rows:
        for word in words.split():
            rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
        return rows

    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        memoir, changes = self.get_object(), self.changes()
        _, redacted = write.update_memoir(
            memoir.name,
            new_name=changes.get("name"),
            description=changes.get("description"),
            threshold=changes.get("consolidation_threshold"),
        )
        return self.shown(self.find(memoir.ulid), redacted=list(redacted))

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        memoir = self.get_object()
        _, concepts, count = write.delete_memoir(memoir.name)
        return Response({"id": memoir.ulid, "concepts": concepts, "links": count})


class ConceptViewSet(RecordViewSet):
    """The concepts of all memoirs.

    PATCH edits, and refines where it gives a definition; DELETE erases.
    """

    queryset = Concept.objects.select_related("memoir")
    serializer_class = ConceptSerializer
    noun = "concept"
    record = ConceptRecord
    edit_adds = {"redacted": list[str]}
    deletion_adds = {"links": int}
    filters = {
        "memoir": equal("memoir__name", "The name of its memoir."),
        "label": Filter(with_label, "A label, as namespace:value."),
        "origin": choice("origin", Origin.values, "Who wrote it."),
        "min_confidence": number("confidence__gte", "At least this confidence."),
        "max_confidence": number("confidence__lte", "At most this confidence."),
        **moments("created_at"),
        **moments("updated_at"),
    }
    orderings = {
        "created_at": "created_at",
        "updated_at": "updated_at",
        "name": "name",
        "confidence": "confidence",
    }

    def search(self, rows: Rows, words: str) -> Rows:
        return containing(rows, words, SEARCHED)

    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        concept, changes = self.get_object(), self.changes()
        place = (concept.memoir.name, concept.name)
        definition = changes.pop("definition", None)
        if definition == concept.definition:
            # The same words make a concept no surer.
            definition = None
        redacted: list[str] = []
        # One edit is whole or not at all, though two functions do it.
        with transaction.atomic():
            if definition is not None:
                done = write.refine(*place, definition=definition, caller=self.caller)
                redacted += done.redacted
            if changes or definition is None:
                done = write.update_concept(
                    *place,
                    new_name=changes.get("name"),
                    labels=changes.get("labels"),
                    confidence=changes.get("confidence"),
                    caller=self.caller,
                )
                redacted += done.redacted
        return self.shown(self.find(concept.ulid), redacted=redacted)

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        concept = self.get_object()
        _, count = write.delete_concept(concept.memoir.name, concept.name)
        return Response({"id": concept.ulid, "links": count})


class LinkViewSet(RecordViewSet):
    """The links between concepts. PATCH changes the weight; DELETE erases."""

    queryset = ConceptLink.objects.select_related("source__memoir", "target")
    serializer_class = LinkSerializer
    noun = "link"
    record = LinkOfMemoirRecord
    filters = {
        "memoir": equal("source__memoir__name", "The name of its memoir."),
        "concept": Filter(
            lambda rows, value: rows.filter(
                Q(source__name=value) | Q(target__name=value)
            ),
            "The name of the concept at either end.",
        ),
        "relation": Filter(
            lambda rows, value: rows.filter(relation=relations.parse(value)),
            "The kind of link.",
            {"type": "string", "enum": relations.Relation.values},
        ),
        **moments("created_at"),
    }
    orderings = {"created_at": "created_at", "weight": "weight"}

    def search(self, rows: Rows, words: str) -> Rows:
        for word in words.split():
            rows = rows.filter(
                Q(source__name__icontains=word) | Q(target__name__icontains=word)
            )
        return rows

    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        link, changes = self.get_object(), self.changes()
        if "weight" not in changes:
            raise InvalidInput("nothing to update: give a weight")
        links.update_link(
            link.source.memoir.name, **_ends(link), **changes, caller=self.caller
        )
        return self.shown(self.find(link.ulid))

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        link = self.get_object()
        links.delete_link(link.source.memoir.name, **_ends(link))
        return Response({"id": link.ulid})


def _ends(link: ConceptLink) -> dict[str, Any]:
    return {
        "source": link.source.name,
        "target": link.target.name,
        "relation": link.relation,
    }

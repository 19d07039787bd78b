"""The REST interface of memories: `/api/memories/`."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from icm_site.errors import InvalidInput
from icm_site.rest import RecordViewSet, Rows
from icm_site.text_filter import containing
from memories import embedding, projects, store, validation
from memories.models import Memory, Origin, State, topic_key
from memories.serializers import MemorySerializer

ANY = "any"
SEARCHED = ("topic_index", "summary_index", "keywords_index")


def in_project(rows: Rows, project: str) -> Rows:
    """Rows whose topic names the project."""
    topics = Memory.objects.order_by().values_list("topic", flat=True).distinct()
    own = [topic for topic in topics if projects.segment_match(topic, project)]
    return rows.filter(topic__in=own)


def in_state(rows: Rows, state: str) -> Rows:
    """Rows of one state, or of any. Raises InvalidInput."""
    if state == ANY:
        return rows
    return rows.filter(state=_one_of("state", state, [*State.values, ANY]))


def of_origin(rows: Rows, origin: str) -> Rows:
    """Rows that a person, an agent, … stored. Raises InvalidInput."""
    return rows.filter(origin=_one_of("origin", origin, Origin.values))


def _one_of(name: str, value: str, known: list[str]) -> str:
    if value not in known:
        raise InvalidInput(f"unknown {name} {value!r}: use one of {', '.join(known)}")
    return value


class MemoryViewSet(RecordViewSet):
    """The memories: live ones, unless another state, or "any", is asked for.

    Filters: topic, project, importance, state, origin, host. A search finds the rows
    that have all of its words; for a ranked answer ask the operation memory_recall.

    PATCH edits; DELETE forgets, which can be undone.
    """

    queryset = Memory.objects.with_usage()
    serializer_class = MemorySerializer
    noun = "memory"
    filters = {
        "topic": lambda rows, value: rows.filter(
            topic_key=topic_key(validation.topic(value))
        ),
        "project": in_project,
        "importance": lambda rows, value: rows.filter(
            importance=validation.importance(value)
        ),
        "state": in_state,
        "origin": of_origin,
        "host": lambda rows, value: rows.filter(host=value),
    }
    orderings = {
        "created_at": "created_at",
        "updated_at": "updated_at",
        "last_accessed": "usage__last_accessed",
        "access_count": "usage__access_count",
        "weight": "usage__weight",
        "topic": "topic_key",
    }

    def filter_queryset(self, queryset: Rows) -> Rows:
        rows = super().filter_queryset(queryset)
        asked = "state" in self.request.query_params
        return rows if asked else rows.filter(state=State.LIVE)

    def search(self, rows: Rows, words: str) -> Rows:
        return containing(rows, words, SEARCHED)

    def partial_update(self, request: Request, **kwargs: Any) -> Response:
        changes = self.changes()
        if "summary" in changes:
            changes["content"] = changes.pop("summary")
        if "raw_excerpt" in changes:
            # None would mean that it stays.
            changes["raw_excerpt"] = changes["raw_excerpt"] or ""
        done = store.update(kwargs["id"], caller=self.caller, **changes)
        embedding.embed_missing([done.memory])
        change = done.change.ulid if done.change else None
        memory = self.find(done.memory.ulid)
        return self.shown(memory, change=change, redacted=list(done.redacted))

    def destroy(self, request: Request, **kwargs: Any) -> Response:
        memory, change = store.forget(kwargs["id"], caller=self.caller)
        return Response({"id": memory.ulid, "change": change.ulid})

"""The REST interface of memories: `/api/memories/`."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Exists, OuterRef
from rest_framework.request import Request
from rest_framework.response import Response

from icm_site.rest import RecordViewSet
from icm_site.rest_filters import (
    Filter,
    Rows,
    choice,
    equal,
    flag,
    moments,
    number,
    one_of,
)
from icm_site.text import normalise
from icm_site.text_filter import containing
from memories import embedding, models, projects, store, validation
from memories.models import Importance, Memory, MemoryVector, Origin, State, topic_key
from memories.schemas import MemoryRecord
from memories.serializers import MemorySerializer

ANY = "any"
STATES = [*State.values, ANY]
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
    return rows.filter(models.in_state(one_of("state", state, STATES)))


def with_keyword(rows: Rows, keyword: str) -> Rows:
    """Rows that have this keyword, in whatever spelling."""
    held = "char(10) || keywords_key || char(10) LIKE %s ESCAPE '!'"
    plain = re.sub("([%_!])", r"!\1", normalise(keyword.strip().replace("\0", "")))
    return rows.extra(where=[held], params=[f"%\n{plain}\n%"])


class MemoryViewSet(RecordViewSet):
    """The memories: live ones, unless another state, or "any", is asked for.

    A search finds the rows that have all of its words; for a ranked answer ask the
    operation memory_recall.

    PATCH edits; DELETE forgets, which can be undone.
    """

    queryset = Memory.objects.with_usage()
    serializer_class = MemorySerializer
    noun = "memory"
    record = MemoryRecord
    edit_adds = {"change": str | None, "redacted": list[str]}
    deletion_adds = {"change": str}
    filters = {
        "topic": Filter(
            lambda rows, value: rows.filter(
                topic_key=topic_key(validation.topic(value))
            ),
            "Exactly this topic.",
        ),
        "project": Filter(in_project, "Topics that name this project."),
        "importance": Filter(
            lambda rows, value: rows.filter(importance=validation.importance(value)),
            "How important.",
            {"type": "string", "enum": Importance.values},
        ),
        "state": Filter(
            in_state, "Live ones without this.", {"type": "string", "enum": STATES}
        ),
        "origin": choice("origin", Origin.values, "Who stored it."),
        "host": equal("host", "The program or token that stored it."),
        "session": equal("agent_session", "The agent's session that stored it."),
        "keyword": Filter(with_keyword, "One of its keywords."),
        "embedded": flag(
            Exists(MemoryVector.objects.filter(memory=OuterRef("pk"))),
            "Whether it can be found by meaning.",
        ),
        "min_weight": number("usage__weight__gte", "At least this weight."),
        "max_weight": number("usage__weight__lte", "At most this weight."),
        **moments("created_at"),
        **moments("updated_at"),
        **moments("usage__last_accessed", "accessed"),
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
        return rows if asked else in_state(rows, State.LIVE)

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

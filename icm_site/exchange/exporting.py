"""Writes everything, or a part of it, as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from icm_site import __version__
from icm_site.exchange import rows
from icm_site.exchange.columns import SUCCESSOR, Mask
from icm_site.exchange.kinds import GROUPS, KINDS, METADATA, Kind
from memories.driver import raw_connection
from memories.models import Memory, topic_key

FORMAT = "icm-export"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What of the database is exported; all of it by default."""

    topic: str = ""
    project: str = ""
    since: datetime | None = None
    groups: tuple[str, ...] = GROUPS
    vectors: bool = True

    @property
    def partial(self) -> bool:
        return bool(self.topic or self.project or self.since)

    def named(self) -> dict[str, Any]:
        """The choice as the header tells it, without what is as always."""
        given = {
            "topic": self.topic,
            "project": self.project,
            "since": self.since.isoformat() if self.since else "",
            "kinds": list(self.groups) if self.groups != GROUPS else [],
            "vectors": "" if self.vectors else "left out",
        }
        return {name: value for name, value in given.items() if value}


@contextmanager
def one_state() -> Iterator[None]:
    """Let all that is read be of one moment, without keeping writers out."""
    if connection.in_atomic_block:
        yield
        return
    raw = raw_connection()
    raw.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        raw.execute("ROLLBACK")


def lines(choice: Choice, mask: Mask) -> Iterator[bytes]:
    """The lines of an export, header first; called within `one_state`."""
    chosen = [(kind, rows_of(kind, choice)) for kind in KINDS if _wanted(kind, choice)]
    counts = {kind.name: found.count() for kind, found in chosen}
    head = {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "counts": counts,
        "filters": choice.named(),
    }
    yield line(head)
    inside = _Inside(choice)
    for kind, found in chosen:
        for _, record in rows.records(kind, found, mask):
            yield line(inside.only(kind, record))


def line(record: dict[str, Any]) -> bytes:
    """A record as a line of UTF-8; half characters as JSON escapes."""
    compact = (",", ":")
    try:
        return (
            f"{json.dumps(record, ensure_ascii=False, separators=compact)}\n".encode()
        )
    except UnicodeEncodeError:
        return f"{json.dumps(record, separators=compact)}\n".encode()


def memories(choice: Choice) -> QuerySet[Memory]:
    """The memories of a choice."""
    found = Memory.objects.all()
    if choice.topic:
        found = found.in_topic(choice.topic)
    if choice.project:
        found = found.in_project(choice.project)
    if choice.since:
        found = found.filter(updated_at__gte=choice.since)
    return found


def rows_of(kind: Kind, choice: Choice) -> QuerySet[Any]:
    """The rows of one type that belong to a choice."""
    found: QuerySet[Any] = kind.model._default_manager.all()
    if kind.name == "metadata":
        return found.filter(key__in=METADATA)
    if not choice.partial:
        return found
    inside = memories(choice).order_by().values("pk")
    if kind.name == "memory":
        return found.filter(pk__in=inside)
    if kind.name in ("hash", "vector", "revision", "mark"):
        return found.filter(memory__in=inside)
    if kind.name in ("link", "suggestion"):
        return found.filter(source__in=inside, target__in=inside)
    if kind.name == "change":
        return found.filter(revisions__memory__in=inside).distinct()
    if kind.name == "project":
        return found.filter(name=choice.project) if choice.project else found.none()
    return _others(kind, found, choice)


def _others(kind: Kind, found: QuerySet[Any], choice: Choice) -> QuerySet[Any]:
    """Memoirs belong to no topic; feedback has one, and the memory it is about."""
    since = choice.since
    if kind.name == "feedback":
        wanted = Q(memory__in=memories(choice).order_by().values("pk"))
        if choice.topic:
            wanted |= Q(topic_key=topic_key(choice.topic))
        if since:
            found = found.filter(created_at__gte=since)
            return (
                found
                if not choice.topic and not choice.project
                else found.filter(wanted)
            )
        return found.filter(wanted)
    if choice.topic or choice.project:
        return found.none()
    path = {
        "memoir": "updated_at",
        "concept": "memoir__updated_at",
        "concept_link": "source__memoir__updated_at",
        "concept_revision": "concept__memoir__updated_at",
    }[kind.name]
    return found.filter(**{f"{path}__gte": since})


def _wanted(kind: Kind, choice: Choice) -> bool:
    if kind.name == "vector" and not choice.vectors:
        return False
    return not kind.group or kind.group in choice.groups


class _Inside:
    """Takes away references to rows that are not part of the choice."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._all = not choice.partial
        self._memories = "memories" in choice.groups

    def only(self, kind: Kind, record: dict[str, Any]) -> dict[str, Any]:
        if self._all and self._memories:
            return record
        for column in kind.references:
            if column.null and not self._has(column.refers, record[column.name]):
                record[column.name] = None
        before = record.get("before")
        if before and not self._has("memory", before.get(SUCCESSOR)):
            before[SUCCESSOR] = None
        return record

    def _has(self, kind: str, ulid: str | None) -> bool:
        if ulid is None or not self._memories:
            return False
        if kind == "change":
            changes = rows_of(
                next(k for k in KINDS if k.name == "change"), self._choice
            )
            return bool(changes.filter(ulid=ulid).exists())
        return memories(self._choice).filter(ulid=ulid).exists()

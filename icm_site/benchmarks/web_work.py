"""What `icm bench-web` does: memories, and a visitor who asks for pages."""

from __future__ import annotations

import json
import random
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from icm_site.benchmarks.storage_work import LEVELS, TOPICS, WORDS
from memories.models import Change, Memory, MemoryRevision, MemoryUsage

BATCH = 2_000
HOSTS = ("", "claude-code", "codex", "scripts")
PROJECTS = 40
# Name, address, body of a POST. `{next}` stands for the second page of the list,
# `{id}` for a memory in the middle.
ADDRESSES: tuple[tuple[str, str, dict[str, object] | None], ...] = (
    ("Dashboard", "/", None),
    ("Admin: topics", "/admin/memories/memory/topics/", None),
    ("Admin: review", "/admin/memories/memory/review/", None),
    ("Admin: list", "/admin/memories/memory/", None),
    ("Admin: list, by weight", "/admin/memories/memory/?o=4", None),
    ("Admin: search", "/admin/memories/memory/?q=pool+timeout", None),
    ("Admin: search, nothing", "/admin/memories/memory/?q=nonsense", None),
    ("Admin: one host", "/admin/memories/memory/?host=codex", None),
    ("Admin: weak old ones", "/admin/memories/memory/?weight=fading&age=old", None),
    ("Admin: one topic", "/admin/memories/memory/?topic=context-p7", None),
    ("Admin: a memory", "/admin/memories/memory/{key}/change/", None),
    ("Admin: changes", "/admin/memories/change/", None),
    ("Admin: feedback", "/admin/feedback/feedback/", None),
    ("Rows: newest", "/api/memories/", None),
    ("Rows: second page", "{next}", None),
    ("Rows: by weight", "/api/memories/?ordering=-weight", None),
    ("Rows: last used", "/api/memories/?ordering=-last_accessed", None),
    ("Rows: last changed", "/api/memories/?ordering=-updated_at", None),
    ("Rows: by topic", "/api/memories/?ordering=topic", None),
    ("Rows: one topic", "/api/memories/?topic=context-p7", None),
    ("Rows: one project", "/api/memories/?project=p7", None),
    ("Rows: weak ones", "/api/memories/?max_weight=0.05", None),
    ("Rows: one host", "/api/memories/?host=nobody", None),
    ("Rows: a keyword", "/api/memories/?keyword=cache", None),
    ("Rows: search", "/api/memories/?search=pool+timeout", None),
    ("Rows: search, nothing", "/api/memories/?search=nonsense", None),
    ("Rows: a memory", "/api/memories/{id}/", None),
    ("Rows: changes", "/api/changes/", None),
    ("Verb: recall", "/ops/memory_recall", {"query": "pool timeout in p7"}),
    ("Verb: topics", "/ops/memory_list_topics", {}),
    ("Verb: health", "/ops/memory_health", {}),
    ("Verb: stats", "/ops/memory_stats", {}),
)


def fill(count: int) -> None:
    """Memories with their usage and history, without vectors."""
    chance, now = random.Random(count), timezone.now()
    with transaction.atomic():
        for at in range(0, count, BATCH):
            rows = [_memory(chance, n) for n in range(at, min(at + BATCH, count))]
            for number, row in enumerate(rows):
                row.created_at = now - timedelta(minutes=count - at - number)
                row.updated_at = row.created_at
            _insert(rows, chance)


def _memory(chance: random.Random, number: int) -> Memory:
    words = " ".join(chance.choices(WORDS, k=20))
    topic = f"{chance.choice(TOPICS)}-p{chance.randrange(PROJECTS)}"
    row = Memory(
        topic=topic,
        summary=f"Note {number}: {words}.",
        keywords=chance.sample(WORDS, 3),
        importance=chance.choice(LEVELS),
        host=chance.choice(HOSTS),
    )
    row.derive()
    return row


def _insert(rows: list[Memory], chance: random.Random) -> None:
    Memory.objects.bulk_create(rows)
    MemoryUsage.objects.bulk_create(
        MemoryUsage(
            memory=row,
            weight=chance.random(),
            access_count=chance.randrange(20),
            last_accessed=row.created_at,
            importance=row.importance,
        )
        for row in rows
    )
    changes = Change.objects.bulk_create(
        Change(operation="store", surface="cli", origin="user", at=row.created_at)
        for row in rows
    )
    MemoryRevision.objects.bulk_create(
        MemoryRevision(change=change, memory=row)
        for change, row in zip(changes, rows, strict=True)
    )


class Visitor:
    """The owner, logged in, in this process."""

    def __init__(self, name: str = "owner") -> None:
        owner = get_user_model().objects.create_superuser(name, password=None)
        self._client = Client(SERVER_NAME="127.0.0.1")
        self._client.force_login(owner)

    def visit(self, address: str, body: object) -> int:
        """Ask for a page; the bytes of its answer."""
        if body is None:
            answer = self._client.get(address)
        else:
            answer = self._client.post(
                address, json.dumps(body), content_type="application/json"
            )
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")
        return len(answer.content)

    def queries(self, address: str, body: object) -> int:
        """How many queries the page makes."""
        with CaptureQueriesContext(connection) as seen:
            self.visit(address, body)
        return len(seen)

    def resolved(self, address: str) -> str:
        """The address with what stands in braces filled in."""
        if address == "{next}":
            found = (
                self._client.get("/api/memories/").json()["next"] or "/api/memories/"
            )
            return str(found)
        middle = Memory.objects.order_by("id")[Memory.objects.count() // 2]
        return address.format(id=middle.ulid, key=middle.pk)

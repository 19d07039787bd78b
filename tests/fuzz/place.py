"""A database of its own with rows that must outlive everything that is put in."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection

from icm_site.caller import Caller
from tests.factories import make_memory, perform

CALLER = Caller(surface="mcp", origin="agent", project="shop", cwd="/")
STATE = """
SELECT (SELECT count(*) FROM memories),
    (SELECT coalesce(max(id), 0) FROM memory_revisions),
    (SELECT count(*) FROM memories WHERE state = 'live')
"""


class Place(NamedTuple):
    """What inputs may name: ids that exist, and names of topics and memoirs."""

    ids: list[str]
    names: list[str]
    secret: str


class State(NamedTuple):
    """Rows of memories, the newest revision, and how many memories are live."""

    rows: int
    revision: int
    live: int


def filled() -> Place:
    """Store what inputs can meet."""
    facts = ("Orders live in Postgres.", "Releases go out on Fridays.", "注文は遅い。")
    memories = [
        make_memory(fact, topic=f"decisions-shop{n}") for n, fact in enumerate(facts)
    ]
    perform("memoir_create", name="system", description="The shop")
    for name in ("checkout", "orders"):
        perform("memoir_add_concept", memoir="system", name=name, definition=f"{name}.")
    perform("feedback_record", topic="t", context="c", predicted="p", corrected="q")
    names = [
        "decisions-shop0",
        "decisions-shop1",
        "system",
        "checkout",
        "orders",
        "shop",
    ]
    secret = perform("token_create", name="fuzz").secret
    return Place([memory.ulid for memory in memories], names, secret)


def state() -> State:
    """What a call that fails may not change, and no call may lower."""
    with connection.cursor() as cursor:
        cursor.execute(STATE)
        return State(*cursor.fetchone())


def faults() -> list[str]:
    """What is wrong with the file: its structure, its references, its text index."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        found += [row[0] for row in cursor.fetchall() if row[0] != "ok"]
        cursor.execute("PRAGMA foreign_key_check")
        found += [f"reference: {row}" for row in cursor.fetchall()]
        for table in ("memories_fts", "concepts_fts", "feedback_fts"):
            cursor.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
    return found

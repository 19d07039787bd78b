"""Secrets that were stored before their format was known, on their way out."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import pytest
from django.test import Client

from icm_site import command_line, conf, mcp_tools
from icm_site.hooks import notes
from memories import injection, outgoing, snapshot, wake_up
from memories.driver import raw_connection
from memories.models import Memory
from tests.factories import AGENT, make_memory, perform

pytestmark = pytest.mark.django_db

SECRET = "ghp_" + "a1B2c3D4" * 5
TEXT = f"The deploy token of the shop is {SECRET} and never expires."
MARKER = "[redacted:github-token]"


def planted(topic: str = "context-shop", **fields: str) -> Memory:
    """A memory as another program, or an older version, wrote it."""
    memory = make_memory("The deploy token of the shop.", topic=topic)
    Memory.objects.filter(pk=memory.pk).update(
        **{"summary": TEXT, "raw_excerpt": TEXT, "keywords": [SECRET]} | fields
    )
    return memory


def test_no_tool_shows_it() -> None:
    memory = planted(importance="critical")
    for name, given in (
        ("icm_memory_recall", {"query": "deploy token of the shop"}),
        ("icm_memory_recall", {"query": "deploy token", "format": "json"}),
        ("icm_memory_get", {"id": memory.ulid}),
        ("icm_memory_list", {}),
        ("icm_wake_up", {"project": "shop"}),
        ("icm_recall_context", {"query": "deploy token of the shop"}),
    ):
        if name not in mcp_tools.registry():
            continue
        done = mcp_tools.call(name, given, caller=AGENT, compact=False)
        assert MARKER in done.text, (name, done.text)
        assert SECRET not in done.text, name


def test_neither_http_nor_the_command_line_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    memory = planted()
    secret = perform("token_create", name="x").secret
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    rows = client.get("/api/memories/", headers={"Host": "localhost"})
    verb = client.post(
        "/ops/memory_recall",
        json.dumps({"query": "deploy token"}),
        content_type="application/json",
        headers={"Host": "localhost"},
    )
    for answer in (rows, verb):
        assert answer.status_code == 200
        assert SECRET not in answer.content.decode()
        assert MARKER in answer.content.decode()
    assert command_line.main(["show", memory.ulid]) == 0
    shown = capsys.readouterr().out
    assert MARKER in shown and SECRET not in shown


def test_nothing_that_is_put_before_an_agent_shows_it() -> None:
    planted("context-shop", importance="critical")
    raw, now = raw_connection(), datetime.now(UTC)
    texts = (
        wake_up.pack(raw, project="shop", max_tokens=500, now=now).text,
        snapshot.snapshot(raw, project="shop", max_tokens=500).text,
        notes.bullet(TEXT),
        # The cut falls into the key, which no pattern would know then.
        notes.bullet("x " * ((injection.BULLET_CHARS - 30) // 2) + TEXT[-70:]),
    )
    for text in texts:
        assert SECRET[:12] not in text
    assert all(MARKER in text for text in texts[:3])


def test_what_a_person_let_through_goes_out_to_who_asks() -> None:
    kept = make_memory(TEXT, topic="t", allow_secret=True)
    assert outgoing.asked(TEXT) == TEXT
    assert MARKER in outgoing.unasked(TEXT)
    assert perform("memory_get", id=kept.ulid) is not None
    other = TEXT.replace("a1B2", "Z9y8")
    assert MARKER in outgoing.asked(other)
    keys = raw_connection().execute(
        "SELECT key FROM icm_metadata WHERE key LIKE 'allowed-secret:%'"
    )
    assert all(SECRET not in key for (key,) in keys)


def test_the_allow_list_lets_it_through_everywhere() -> None:
    before = conf.current()
    allowed = dataclasses.replace(before.redaction, allow=("ghp_a1B2",))
    conf.use(dataclasses.replace(before, redaction=allowed))
    try:
        assert outgoing.unasked(TEXT) == outgoing.asked(TEXT) == TEXT
    finally:
        conf.use(before)


def test_a_result_without_secrets_is_the_same_object() -> None:
    make_memory("Orders live in Postgres.", topic="t")
    result = perform("memory_list", all=True)
    assert outgoing.masked(result) is result

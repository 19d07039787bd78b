"""What an attacker would try over HTTP, on every route that there is."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from icm_site import asgi, auth
from icm_site.registry import OPERATIONS
from icm_site.urls import router
from icm_site.web_guard import Message
from memories import tokens
from memories.models import Change, Memory
from tests.factories import make_memory, perform
from tests.web import Api, with_token

pytestmark = pytest.mark.django_db

ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>{{ 7|add:7 }}'\"&lt;"
# Open to anyone: what a login needs, and the sign of life.
OPEN = {"health", "admin/login/", "session/login/", "language/", "session/logout/"}

WRITES: list[tuple[str, str]] = [
    *(
        ("POST", f"/ops/{name}")
        for name, entry in OPERATIONS.items()
        if entry.http and entry.writes
    ),
    *(
        (method.upper(), f"/api/{noun}/{ID}/")
        for noun, viewset, _ in router.registry
        for method in getattr(viewset, "http_method_names", ())
        if method not in ("get", "head", "options")
    ),
]


def routes(patterns: Any = None, prefix: str = "") -> Iterator[str]:
    """Every address that is served, with a made-up value in each place."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        text = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, text)
        elif isinstance(entry, URLPattern):
            plain = re.sub(r"\(\?P<\w+>[^)]*\)|<[^>]+>", "1", text)
            yield re.sub(r"[\^$\\]|\(\?:?", "", plain)


ROUTES = sorted({route for route in routes() if "format" not in route})


def owner() -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("ada", password=None))
    return client


def test_the_table_of_writes_covers_the_nouns_and_the_verbs() -> None:
    assert len(WRITES) > 25
    assert ("PATCH", f"/api/memories/{ID}/") in WRITES
    assert ("POST", "/ops/memory_store") in WRITES
    assert "api/memories/" in ROUTES and "ops/memory_store" in ROUTES


def test_a_read_only_token_is_refused_by_every_write() -> None:
    reader = with_token("reader", read_only=True)
    expected = {"error": "the token 'reader' may only read"}
    for method, path in WRITES:
        name = path.rpartition("/")[2]
        example = dict(OPERATIONS[name].example) if name in OPERATIONS else {}
        reply = reader(method, path, example)
        assert (reply.status, reply.body) == (403, expected), (method, path)
    assert not Change.objects.exists()


def test_a_login_alone_writes_nothing() -> None:
    user = get_user_model().objects.create_superuser("ada", password=None)
    memory = make_memory()
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    pages = [f"/{route}" for route in ROUTES if route.startswith("admin/")]
    writes = [*WRITES, *(("POST", page) for page in pages)]
    for method, path in writes:
        answer = client.generic(method, path, "{}", content_type="application/json")
        assert answer.status_code in (301, 403, 404, 405), (method, path)
    assert Change.objects.count() == 1 and Memory.objects.live().get() == memory


def test_the_sign_of_life_tells_nothing_else() -> None:
    make_memory("The secret plan.")
    assert Client().get("/health").json() == {"status": "ok"}


def test_pages_are_kept_by_no_cache() -> None:
    make_memory("The secret plan.")
    client = owner()
    for page in ("/", "/admin/memories/memory/", "/admin/memories/memory/review/"):
        kept = client.get(page).headers.get("Cache-Control", "")
        assert "no-store" in kept and "private" in kept, page


def test_whoever_is_not_known_gets_nothing_from_any_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auth, "FAILURES_PER_MINUTE", 0)
    make_memory("The secret plan.")
    client = Client(REMOTE_ADDR="10.0.0.7")
    for route in sorted(set(ROUTES) - OPEN):
        for answer in (client.get(f"/{route}"), client.post(f"/{route}")):
            assert answer.status_code in (301, 302, 401, 403, 404, 405), route
            assert b"secret plan" not in answer.content, route


@pytest.mark.slow
def test_no_page_may_be_framed_or_guessed_to_be_another_type() -> None:
    client = owner()
    for route in ROUTES:
        answer = client.get(f"/{route}")
        assert answer.status_code < 500, route
        assert answer.headers.get("X-Content-Type-Options") == "nosniff", route
        assert answer.headers.get("X-Frame-Options") in ("DENY", "SAMEORIGIN"), route
        assert answer.headers.get("Referrer-Policy") == "same-origin", route


@pytest.mark.parametrize("noun", [noun for noun, _, _ in router.registry])
def test_head_tells_no_more_than_get_and_options_no_row(noun: str) -> None:
    make_memory("The secret plan.")
    assert Client().head(f"/api/{noun}/").status_code == 401
    assert Client().options(f"/api/{noun}/").status_code == 401
    proof = {"Authorization": f"Bearer {with_token(read_only=True).secret}"}
    client = Client(headers=proof)
    head = client.head(f"/api/{noun}/")
    assert (head.status_code, head.content) == (200, b"")
    told = client.options(f"/api/{noun}/")
    assert told.status_code == 200 and b"secret plan" not in told.content


def seed_markup() -> list[str]:
    """Markup in every text that there is; the addresses that show it."""
    memory = make_memory(MARKUP, topic=MARKUP[:60], keywords=[MARKUP])
    perform("memory_update", id=memory.ulid, content=f"{MARKUP} again")
    perform("memoir_create", name=MARKUP[:60], description=MARKUP)
    perform(
        "memoir_add_concept", memoir=MARKUP[:60], name=MARKUP[:50], definition=MARKUP
    )
    texts: dict[str, Any] = {
        "context": MARKUP,
        "predicted": MARKUP,
        "corrected": MARKUP,
    }
    perform("feedback_record", topic=MARKUP[:60], reason=MARKUP, **texts)
    tokens.create(MARKUP[:60])
    key = Memory.objects.get().pk
    lists = [f"/{r}" for r in ROUTES if r.startswith("admin/") and r.count("/") == 3]
    rows = [f"/api/{noun}/" for noun, _, _ in router.registry]
    return [
        *("/", *lists, *rows),
        f"/admin/memories/memory/{key}/change/",
        f"/admin/memories/memory/{key}/history/",
        f"/admin/memories/memory/{key}/delete/",
        f"/api/memories/{memory.ulid}/",
        f"/api/memories/{MARKUP[:30]}/",
        f"/api/memories/?search={MARKUP[:30]}",
        f"/api/memories/?ordering={MARKUP[:30]}",
        f"/admin/memories/memory/?q={MARKUP[:30]}",
        f"/nowhere/{MARKUP[:30]}",
    ]


@pytest.mark.slow
def test_markup_is_text_on_every_page() -> None:
    addresses, client = seed_markup(), owner()
    seen = 0
    for address in addresses:
        answer = client.get(address, headers={"Accept": "text/html"})
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        page = answer.content.decode()
        assert answer.status_code < 500, address
        for live in ("<img src=x", "<script>alert"):
            assert live not in page, address
        # The braces are shown as they are; a template would have made 14 of them.
        seen += "onerror" in page
    assert seen >= 8


def test_an_error_shows_what_was_sent_only_as_json() -> None:
    reply = with_token()("GET", f"/api/memories/?x={MARKUP[:20]}<b>=1")
    assert reply.headers["Content-Type"].startswith("application/json")
    page = owner().get("/api/memories/?<script>alert(2)</script>=1&format=api")
    assert b"<script>alert(2)" not in page.content


def test_no_token_gets_into_a_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = with_token("scripts").secret
    for method, path in (("GET", "/api/memories/"), ("GET", "/api/x/"), *WRITES[:3]):
        Api(secret)(method, path, {})
        Api(f"{secret}x")(method, path, {})
    Client().get(f"/api/memories/?token={secret}")
    Client(headers={"Authorization": secret}).get("/api/memories/")
    logged = " ".join(str(vars(record)) for record in caplog.records)
    messages = " ".join(record.getMessage() for record in caplog.records)
    assert secret not in messages
    assert f"Bearer {secret}" not in logged


@pytest.mark.parametrize(
    "header",
    [
        "Bearer " + "x" * 60_000,
        "Bearer \x00",
        "Bearer",
        "",
        "Bearer é",
        "Bearer icm_\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_an_odd_header_is_nobody(header: str) -> None:
    reply = Api()("GET", "/api/memories/", Authorization=header)
    assert (reply.status, list(reply.body)) == (401, ["error"])


def asked(path: str, *headers: tuple[bytes, bytes]) -> tuple[int, dict[str, Any]]:
    """An answer of the whole application to one request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": list(headers),
        "client": ("127.0.0.1", 5),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
        "raw_path": path.encode(),
        "server": ("127.0.0.1", 8420),
    }

    async def run() -> None:
        await asgi.application(scope, receive, send)

    asyncio.run(run())
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize("path", ["/mcp", "/ops/memory_store", "/api/memories/", "/"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (((b"host", b"evil.example"),), 400),
        ((), 400),
        (((b"host", b"localhost"), (b"host", b"localhost")), 400),
        (((b"host", b"localhost"), (b"origin", b"http://evil.example")), 403),
        (((b"host", b"localhost"), (b"origin", b"null")), 403),
        (((b"host", b"localhost"), (b"sec-fetch-site", b"cross-site")), 403),
        (((b"host", b"localhost"), (b"content-length", b"9" * 20)), 413),
    ],
)
def test_the_rules_stand_before_everything(
    path: str, headers: tuple[tuple[bytes, bytes], ...], status: int
) -> None:
    found, body = asked(path, *headers)
    assert (found, list(body)) == (status, ["error"])

"""The verbs over HTTP: `POST /ops/<name>`, who may, what goes wrong."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.http import HttpResponseServerError
from django.test import Client, RequestFactory

from icm_site import auth, conf, http_errors
from icm_site.api import api
from icm_site.conf_keys import Web
from icm_site.registry import OPERATIONS
from memories.models import Change, Memory
from tests.factories import make_memory
from tests.web import Api, with_token

pytestmark = pytest.mark.django_db

OVER_HTTP = {name: entry for name, entry in OPERATIONS.items() if entry.http}
SECRET = "AKIAQ3EGRTUVWX5Z7ABC"
ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"

# Method, path, body -> status and sentence.
FAULTS: list[tuple[str, str, Any, int, str]] = [
    ("POST", "/ops/memory_recall", {}, 400, "missing required field: query"),
    ("POST", "/ops/memory_recall", None, 400, "the body must be a JSON object"),
    ("POST", "/ops/memory_recall", [1], 400, "the body must be a JSON object"),
    ("POST", "/ops/memory_recall", "{", 400, "the body is not valid JSON"),
    ("POST", "/ops/memory_recall", b"\xff\xfe", 400, "the body is not valid JSON"),
    (
        *("POST", "/ops/memory_recall", '{"query": "\\ud800"}', 400),
        "query: is not valid Unicode text (got '\\ud800')",
    ),
    (
        *("POST", "/ops/memory_recall", {"query": 5}, 400),
        "query: input should be a valid string (got 5)",
    ),
    (
        *("POST", "/ops/memory_recall", {"query": "x", "limit": True}, 400),
        "limit: input should be a valid integer",
    ),
    (
        *("POST", "/ops/memory_store", {"topic": " ", "content": "x"}, 400),
        "topic must not be empty",
    ),
    (
        *("POST", "/ops/memory_store", {"topic": "a", "content": "x" * 70_000}, 400),
        "content is too long: 70000 bytes given, 65536 allowed",
    ),
    ("POST", "/ops/memory_forget", {"id": ID}, 404, f"memory not found: {ID}"),
    ("POST", "/ops/memory_purge", {}, 404, "there is nothing at this address"),
    ("POST", "/ops/nonsense", {}, 404, "there is nothing at this address"),
    ("GET", "/ops/memory_recall", None, 405, "this method is not allowed here"),
    ("GET", "/api/nonsense/", None, 404, "there is nothing at this address"),
    (
        *("POST", "/ops/memory_store", "x" * 1_100_000, 413),
        "the body of the request is too large",
    ),
]


def test_each_operation_for_programs_has_a_route_and_nothing_else_has() -> None:
    paths = api.get_openapi_schema()["paths"]
    assert set(paths) == {f"/ops/{name}" for name in OVER_HTTP}
    assert {tuple(entry) for entry in paths.values()} == {("post",)}


def test_what_only_a_person_at_the_terminal_may_say_is_in_no_schema() -> None:
    text = str(api.get_openapi_schema()["paths"])
    for name in ("allow_secret", "force", "migrate", "yes", "keep_originals"):
        assert f"'{name}'" not in text


def test_each_name_of_the_schema_means_one_thing() -> None:
    known: dict[str, Any] = {}
    for entry in OVER_HTTP.values():
        definitions = entry.result.model_json_schema(mode="serialization")
        for name, schema in definitions.get("$defs", {}).items():
            assert known.setdefault(name, schema) == schema, name


def test_an_operation_answers_with_its_whole_result() -> None:
    program = with_token()
    stored = program.op("memory_store", topic="decisions-shop", content="Postgres 16.")
    found = program.op("memory_recall", query="postgres")
    assert [hit["id"] for hit in found["hits"]] == [stored["id"]]
    assert program.op("memory_stats")["memories"] == 1


def test_who_stored_something_is_told_by_the_token() -> None:
    stored = with_token("notebook").op("memory_store", topic="a", content="A fact.")
    memory = Memory.objects.get(ulid=stored["id"])
    assert (memory.origin, memory.host) == ("user", "notebook")
    assert memory.source_data == {"token": "notebook"}
    change = Change.objects.get(ulid=stored["change"])
    assert (change.surface, change.host) == ("http", "notebook")


def test_a_secret_is_masked_whatever_a_program_asks() -> None:
    given = {"topic": "a", "content": f"The key is {SECRET}.", "allow_secret": True}
    assert with_token().op("memory_store", **given)["redacted"]
    assert not Memory.objects.filter(summary__contains=SECRET).exists()


@pytest.mark.parametrize(("method", "path", "body", "status", "sentence"), FAULTS)
def test_a_fault_is_one_sentence(
    method: str, path: str, body: Any, status: int, sentence: str
) -> None:
    reply = with_token()(method, path, body)
    assert (reply.status, reply.body) == (status, {"error": sentence})


@pytest.mark.parametrize("name", OVER_HTTP)
def test_a_read_only_token_reads_and_never_writes(name: str) -> None:
    program = with_token(read_only=True)
    reply = program("POST", f"/ops/{name}", dict(OVER_HTTP[name].example))
    if OVER_HTTP[name].writes:
        sentence = {"error": "the token 'scripts' may only read"}
        assert (reply.status, reply.body) == (403, sentence)
    else:
        assert reply.status in (200, 404)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("", "only Authorization: Bearer <token> is understood"),
        ("Basic b3duZXI6eA==", "only Authorization: Bearer <token> is understood"),
        ("Bearer", "the token is not known: it is wrong, or was revoked"),
        ("Bearer icm_nonsense", "the token is not known: it is wrong, or was revoked"),
        ("Bearer \udcff", "the token is not known: it is wrong, or was revoked"),
    ],
)
def test_a_wrong_proof_is_no_proof(header: str, sentence: str) -> None:
    reply = Api()("GET", "/api/memories/", Authorization=header)
    assert (reply.status, reply.body) == (401, {"error": sentence})
    assert reply.headers["WWW-Authenticate"] == "Bearer"


PATHS = [
    *[("POST", f"/ops/{name}") for name in OVER_HTTP],
    *[
        ("GET", f"/api/{noun}")
        for noun in ("", "memories/", "memoirs/", "concepts/", "links/", "feedback/")
    ],
    *[("PATCH", f"/api/memories/{ID}/"), ("DELETE", f"/api/memories/{ID}/")],
    ("OPTIONS", "/api/memories/"),
    ("GET", "/ops/openapi.json"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_without_a_token_nothing_is_served(
    method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "FAILURES_PER_MINUTE", 0)
    reply = Api()(method, path)
    sentence = "a token is needed: Authorization: Bearer <token>"
    assert (reply.status, reply.body) == (401, {"error": sentence})


def test_the_health_says_nothing_private() -> None:
    assert Api().get("/health") == {"status": "ok"}


def configure(**web: Any) -> None:
    conf.use(dataclasses.replace(conf.current(), web=Web(**web)))


def test_this_machine_may_read_without_a_token_if_that_is_configured() -> None:
    configure(open_read=True)
    make_memory()
    program = Api()
    assert program("GET", "/api/memories/", Host="localhost:8420").status == 200
    asked = program("POST", "/ops/memory_recall", {"query": "x"}, Host="127.0.0.1")
    assert asked.status == 200
    given = {"topic": "a", "content": "b"}
    written = program("POST", "/ops/memory_store", given, Host="localhost")
    assert (written.status, Memory.objects.count()) == (403, 1)


@pytest.mark.parametrize(
    ("address", "host"), [("10.0.0.7", "localhost"), ("127.0.0.1", "testserver")]
)
def test_others_may_not_read_without_a_token_even_then(address: str, host: str) -> None:
    configure(open_read=True)
    answer = Client(REMOTE_ADDR=address, HTTP_HOST=host).get("/api/memories/")
    assert answer.status_code == 401


def test_a_caller_has_so_many_requests_a_minute() -> None:
    configure(requests_per_minute=2)
    program = with_token("a caller of its own")
    replies = [program("GET", "/api/memories/") for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert "2 requests" in replies[2].body["error"]


def test_guessing_at_tokens_ends_soon() -> None:
    guesser = Client(REMOTE_ADDR="10.9.8.7", headers={"Authorization": "Bearer icm_x"})
    statuses = [
        guesser.get("/api/memories/").status_code
        for _ in range(auth.FAILURES_PER_MINUTE + 1)
    ]
    assert (statuses[0], statuses[-1]) == (401, 429)


def login(*, owner: bool = True) -> Client:
    client = Client(enforce_csrf_checks=True)
    user = get_user_model().objects.create_user(
        "ada", password="x", is_staff=True, is_superuser=owner
    )
    client.force_login(user)
    return client


def test_the_login_of_the_admin_serves_too_but_not_for_another_site() -> None:
    client = login()
    body = {"topic": "a", "content": "A fact."}
    forged = client.post("/ops/memory_store", body, content_type="application/json")
    assert forged.status_code == 403
    assert forged.json()["error"].startswith("refused as forged")
    client.get("/admin/")
    page = client.get("/admin/memories/memory/add/").content.decode()
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert found is not None
    sent = client.post(
        "/ops/memory_store",
        body,
        content_type="application/json",
        headers={"X-CSRFToken": found[1]},
    )
    assert sent.status_code == 200
    assert Memory.objects.get().source_data == {"login": "ada"}


def test_a_forged_edit_of_a_row_is_refused() -> None:
    memory = make_memory()
    answer = login().delete(f"/api/memories/{memory.ulid}/")
    assert answer.status_code == 403
    assert Memory.objects.get().is_live


def test_a_login_that_owns_nothing_may_not() -> None:
    assert login(owner=False).get("/api/memories/").status_code == 403


def test_a_token_beats_the_login_of_the_browser() -> None:
    client = login()
    answer = client.get("/api/memories/", headers={"Authorization": "Bearer icm_x"})
    assert answer.status_code == 401


def test_the_description_for_people_is_shown_after_the_login() -> None:
    asked = Client(headers={"Accept": "text/html"}).get("/ops/docs")
    assert (asked.status_code, asked.headers["Location"]) == (
        302,
        "/admin/login/?next=/ops/docs",
    )
    page = login().get("/ops/docs").content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert addresses and all(text.startswith("/static/") for text in addresses)


@pytest.mark.parametrize(
    ("code", "status"),
    [(sqlite3.SQLITE_BUSY, 503), (sqlite3.SQLITE_READONLY, 403)],
)
def test_a_failure_of_the_file_or_disk_is_a_sentence(code: int, status: int) -> None:
    cause = sqlite3.OperationalError("low-level words")
    cause.sqlite_errorcode = code
    error = OperationalError("low-level words")
    error.__cause__ = cause
    explained = http_errors.explain(error)
    assert explained is not None and explained.status == status
    assert "low-level" not in explained.message


@pytest.mark.parametrize("path", ["/api/x/", "/ops/x"])
def test_a_fault_of_ours_shows_nothing_of_itself(path: str) -> None:
    page = http_errors.ErrorsAsSentences(lambda _: HttpResponseServerError("<h1>"))
    answer = page(RequestFactory().get(path))
    assert (answer.status_code, answer.content) == (
        500,
        b'{"error": "internal error; the server\'s log says more"}',
    )


def test_an_unknown_fault_is_not_explained_away() -> None:
    assert http_errors.explain(RuntimeError("ours")) is None

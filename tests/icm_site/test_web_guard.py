"""What is refused before anything of Django runs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.conf import settings

from icm_site import loopback, web_guard
from icm_site.errors import TooMany
from icm_site.throttle import Limiter
from icm_site.web_guard import Message, Receive, Scope, Send

OURS = "127.0.0.1:8420"
LIMIT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
BIG = web_guard.DRAINED_BYTES + 1

HOSTS = [
    ("127.0.0.1:8420", True),
    ("localhost", True),
    ("LOCALHOST:80", True),
    ("[::1]:8420", True),
    ("evil.example", False),
    ("127.0.0.1.evil.example", False),
    ("localhost.evil.example:8420", False),
    ("127.0.0.1@evil.example", False),
    ("", False),
    ("10.0.0.7", False),
]

ORIGINS: list[tuple[dict[str, str], bool]] = [
    ({}, False),
    ({"origin": f"http://{OURS}"}, False),
    ({"referer": f"http://{OURS}/admin/"}, False),
    ({"sec-fetch-site": "same-origin", "origin": f"http://{OURS}"}, False),
    ({"sec-fetch-site": "none"}, False),
    ({"origin": "http://evil.example"}, True),
    ({"origin": "null"}, True),
    ({"origin": "http://127.0.0.1:3000"}, True),
    ({"origin": f"http://{OURS}.evil.example"}, True),
    ({"referer": "http://evil.example/127.0.0.1:8420"}, True),
    ({"sec-fetch-site": "cross-site"}, True),
    ({"sec-fetch-site": "same-site"}, True),
]


@pytest.mark.parametrize(("host", "known"), HOSTS)
def test_only_our_own_names_are_answered(host: str, known: bool) -> None:
    refused = web_guard.refusal("GET", {"host": [host]})
    assert (refused is None) == known


def test_two_names_or_none_are_refused() -> None:
    for hosts in ([], [OURS, OURS]):
        assert web_guard.refusal("GET", {"host": hosts}) is not None


@pytest.mark.parametrize(("sent", "cross"), ORIGINS)
@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT", "WEIRD"])
def test_another_site_makes_no_browser_change_anything(
    method: str, sent: dict[str, str], cross: bool
) -> None:
    headers = {"host": [OURS]} | {name: [value] for name, value in sent.items()}
    refused = web_guard.refusal(method, headers)
    assert (refused is not None) == cross
    assert refused is None or refused.status == 403


def test_a_link_from_another_site_may_be_followed() -> None:
    headers = {"host": [OURS], "referer": ["http://evil.example/"]}
    assert web_guard.refusal("GET", headers) is None


@pytest.mark.parametrize("length", [str(BIG), "-1", "many"])
def test_a_length_over_the_limit_is_refused_unread(length: str) -> None:
    refused = web_guard.refusal("POST", {"host": [OURS], "content-length": [length]})
    assert refused is not None and refused.status == 413


def ask(parts: list[Message], **scope: Any) -> tuple[list[Message], list[bytes]]:
    """What is sent for a request of these messages, and the bodies that got through."""
    sent: list[Message] = []
    bodies: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        bodies.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        return parts.pop(0) if parts else await asyncio.sleep(60, {})

    async def send(message: Message) -> None:
        sent.append(message)

    usual = {"type": "http", "method": "POST", "headers": [(b"host", OURS.encode())]}

    async def run() -> None:
        await web_guard.guarded(app)({**usual, **scope}, receive, send)

    asyncio.run(run())
    return sent, bodies


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_arrives_whole() -> None:
    sent, bodies = ask([part(b"ab", more=True), part(b"cd", more=False)])
    assert bodies == [b"abcd"]
    assert sent[0]["status"] == 200


@pytest.mark.parametrize("more", [True, False])
def test_a_body_over_the_limit_is_refused_and_one_without_end_cut_off(
    more: bool,
) -> None:
    chunk = b"x" * (LIMIT // 2 + 1)
    parts = [part(chunk, more=True) for _ in range(40 if more else 1)]
    sent, bodies = ask([*parts, part(chunk, more=more)])
    assert bodies == []
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"]) == {"error": web_guard.TOO_LARGE.sentence}


def test_a_body_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_guard, "BODY_SECONDS", 0.05)
    sent, bodies = ask([part(b"x", more=True)])
    assert (bodies, sent[0]["status"]) == ([], 408)


def test_an_answer_forbids_scripts_of_other_places() -> None:
    sent, _ = ask([part(b"", more=False)])
    policy = dict(sent[0]["headers"])[b"content-security-policy"]
    assert b"default-src 'self'" in policy and b"frame-ancestors 'none'" in policy


def test_a_body_at_the_limit_passes() -> None:
    sent, bodies = ask([part(b"x" * LIMIT, more=False)])
    assert (len(bodies[0]), sent[0]["status"]) == (LIMIT, 200)


def test_what_is_no_request_is_left_alone() -> None:
    assert ask([], type="websocket") == ([], [])


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(address: str, local: bool) -> None:
    assert loopback.is_loopback(address) == local


def test_a_limit_holds_for_each_caller_and_each_minute() -> None:
    limiter = Limiter()
    for _ in range(3):
        limiter.count("a", limit=3, now=100.0)
    with pytest.raises(TooMany):
        limiter.count("a", limit=3, now=159.0)
    limiter.count("b", limit=3, now=159.0)
    limiter.count("a", limit=3, now=161.0)


def test_no_limit_is_no_limit() -> None:
    limiter = Limiter()
    for _ in range(2_000):
        limiter.count("a", limit=0, now=0.0)

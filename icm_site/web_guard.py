"""What `icm web` refuses before anything of Django runs: ASGI, pure rules first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
BODY_SECONDS = 30.0
# Of a body over the limit so much is read and thrown away: most programs hear the
# answer only once they have sent everything.
DRAINED_BYTES = 8 * 1024 * 1024
# No script of another place, none inside a page, and no page of ours in a frame.
POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Refusal(NamedTuple):
    """The status and the sentence of a request that goes no further."""

    status: int
    sentence: str


def refusal(method: str, headers: Mapping[str, list[str]]) -> Refusal | None:
    """What speaks against a request, None if nothing; names of headers are lower."""
    hosts = headers.get("host", [])
    if len(hosts) != 1 or not is_our_host(hosts[0]):
        return Refusal(400, "this server is not known by the name in the Host header")
    if method not in SAFE and is_cross_site(headers, hosts[0]):
        return Refusal(403, "refused: the request was made by another web site")
    length = headers.get("content-length", ["0"])[-1]
    if not length.isdigit() or int(length) > DRAINED_BYTES:
        return TOO_LARGE
    return None


TOO_LARGE = Refusal(413, "the body of the request is too large")
TOO_SLOW = Refusal(408, "the body of the request did not come in time")


def is_our_host(host: str) -> bool:
    """Whether the Host header names us; a foreign name would be DNS rebinding."""
    name, _ = split_domain_port(host)
    return bool(name) and validate_host(name, settings.ALLOWED_HOSTS)


def is_cross_site(headers: Mapping[str, list[str]], host: str) -> bool:
    """Whether a browser says that another site made it send this.

    Programs that are no browsers send none of these headers, and pass.
    """
    if headers.get("sec-fetch-site", ["none"])[-1] in ("cross-site", "same-site"):
        return True
    for name in ("origin", "referer"):
        if name in headers:
            return urlsplit(headers[name][-1]).netloc.lower() != host.lower()
    return False


def guarded(app: App) -> App:
    """The application behind the rules above.

    The body is taken in whole before the application gets it, so that a client that
    sends slowly, or without end, occupies no thread and no disk.
    """

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = _headers(scope)
        refused = refusal(scope["method"], headers)
        body = b""
        if refused is None:
            body, refused = await _body(receive)
        if refused is not None:
            await _refuse(refused, send)
            return
        await app(scope, _replayed(body, receive), _with_policy(send))

    return guard


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return found


async def _body(receive: Receive) -> tuple[bytes, Refusal | None]:
    """The whole body, and what speaks against it."""
    body, size = bytearray(), 0
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while size <= DRAINED_BYTES:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return b"", TOO_SLOW
                part = message.get("body", b"")
                size += len(part)
                body += part if size <= limit else b""
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return b"", TOO_SLOW
    return (bytes(body), None) if size <= limit else (b"", TOO_LARGE)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one message, then whatever the client still says."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _with_policy(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            policy = (b"content-security-policy", POLICY.encode())
            message = {**message, "headers": [*message["headers"], policy]}
        await send(message)

    return sending


async def _refuse(refused: Refusal, send: Send) -> None:
    body = json.dumps({"error": refused.sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send(
        {"type": "http.response.start", "status": refused.status, "headers": headers}
    )
    await send({"type": "http.response.body", "body": body})

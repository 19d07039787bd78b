"""`/mcp` and everything before it, asked as `icm web` does: ASGI, one loop."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import MutableMapping
from typing import Any, NamedTuple

from tests.fuzz.place import Place

Message = MutableMapping[str, Any]
USUAL = {
    "host": "localhost",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


class Request(NamedTuple):
    """What is sent: header values of None are left out."""

    method: str
    query: str
    headers: dict[str, str | None]
    body: bytes


class Reply(NamedTuple):
    status: int
    text: str


@functools.cache
def runner() -> asyncio.Runner:
    """One loop on this thread; a loop for each input costs more than the input."""
    return asyncio.Runner()


@functools.cache
def _application() -> Any:
    from icm_site.asgi import application

    runner().run(_begin(application))
    return application


async def _begin(application: Any) -> None:
    """The lifespan of the server, which never ends."""
    begun = asyncio.Event()

    async def receive() -> Message:
        if begun.is_set():
            await asyncio.Event().wait()
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        assert message["type"] == "lifespan.startup.complete", message
        begun.set()

    _KEPT.append(
        asyncio.ensure_future(application({"type": "lifespan"}, receive, send))
    )
    await asyncio.wait_for(begun.wait(), 30)


# A loop holds its tasks weakly.
_KEPT: list[asyncio.Future[None]] = []


def ask(place: Place, given: Request) -> Reply:
    """One request with the token of the place, unless it brings another."""
    usual = USUAL | {"authorization": f"Bearer {place.secret}"}
    headers = {name: value for name, value in (usual | given.headers).items() if value}
    headers |= {"content-length": str(len(given.body))}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": given.method,
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": given.query.encode("utf-8", "replace"),
        "headers": [
            (name.encode(), value.encode("utf-8", "replace"))
            for name, value in headers.items()
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    application = _application()
    return runner().run(_asked(application, scope, given.body))


async def _asked(application: Any, scope: Message, body: bytes) -> Reply:
    parts = [{"type": "http.request", "body": body, "more_body": False}]
    status, told = 0, b""

    async def receive() -> Message:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, told
        status = message.get("status", status)
        told += message.get("body", b"")

    await asyncio.wait_for(application(scope, receive, send), 30)
    return Reply(status, told.decode("utf-8", "replace"))


def failed(text: str) -> bool:
    """Whether a JSON-RPC answer, or a list of them, tells of an error."""
    message = json.loads(text)
    each = message if isinstance(message, list) else [message]
    return any(
        "error" in one or one.get("result", {}).get("isError")
        for one in each
        if isinstance(one, dict)
    )

"""The MCP server over standard input and output, from the first line to the last."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterable
from typing import NoReturn, Protocol, cast

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from asgiref.sync import sync_to_async
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from icm_site import mcp_tools
from icm_site.mcp_session import Session
from icm_site.mcp_wire import Wire

logger = logging.getLogger(__name__)

# A client that closes its end after its last request still reads the answers, of
# which the first may have to wait for a new database. Without open requests the
# server leaves at once.
ANSWER_SECONDS = 20.0
LOOK_SECONDS = 0.05
CLOSE_SECONDS = 0.7

Incoming = SessionMessage | Exception


def run(server: Server[Session], wire: Wire) -> NoReturn:
    """Serve one client until its input ends, and end the process."""
    anyio.run(serve, server, wire)
    _exit(0)


async def serve(server: Server[Session], wire: Wire) -> None:
    """Serve one client; the database is closed afterwards."""
    try:
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_leave_on_signal)
            await _talk(server, wire)
            tasks.cancel_scope.cancel()
    except* BrokenPipeError:
        logger.info("the client has left without reading the last answer")
    await _close()


def _exit(code: int) -> NoReturn:
    """End now: taking a Python of this size down in order takes 0.3 s.

    A call that still runs ends with it; SQLite rolls back what it has not committed.
    """
    sys.stderr.flush()
    os._exit(code)


class Ends(Protocol):
    """A client's ends, where they are no files of this process."""

    @property
    def client_is_gone(self) -> bool: ...


async def _talk(server: Server[Session], wire: Wire) -> None:
    await _carry(
        server, anyio.wrap_file(wire.input), anyio.wrap_file(wire.output), wire
    )


async def talk(server: Server[Session], ends: Ends) -> None:
    """Serve a client over streams that read and write as anyio's files do."""
    file = cast("anyio.AsyncFile[str]", ends)
    await _carry(server, file, file, ends)


async def _carry(
    server: Server[Session],
    source_file: anyio.AsyncFile[str],
    client_file: anyio.AsyncFile[str],
    ends: Ends,
) -> None:
    exchange = Exchange(ends)
    to_server, requests = anyio.create_memory_object_stream[Incoming](0)
    to_client, answers = anyio.create_memory_object_stream[SessionMessage](0)
    async with (
        stdio_server(source_file, client_file) as streams,
        anyio.create_task_group() as tasks,
    ):
        source, client = streams
        tasks.start_soon(exchange.bring_in, source, to_server, client)
        tasks.start_soon(exchange.bring_out, answers, client)
        await server.run(requests, to_client, server.create_initialization_options())


async def _close() -> None:
    with anyio.move_on_after(CLOSE_SECONDS):
        await sync_to_async(mcp_tools.close_database)()


async def _leave_on_signal() -> None:
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with anyio.open_signal_receiver(*signals) as received:
        async for number in received:
            await _close()
            _exit(128 + number)


class Exchange:
    """Messages on their way in and out, and which requests are still open."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._open: set[types.RequestId] = set()

    async def bring_in(
        self,
        source: AsyncIterable[Incoming],
        server: ObjectSendStream[Incoming],
        client: ObjectSendStream[SessionMessage],
    ) -> None:
        """Pass on what the client says; its end is passed on after the answers."""
        async with server:
            async for item in source:
                if isinstance(item, SessionMessage):
                    self._note_request(item.message)
                    await server.send(item)
                elif error := _complaint(item):
                    await client.send(SessionMessage(error))
            with anyio.move_on_after(ANSWER_SECONDS):
                while self._open and not self._ends.client_is_gone:
                    await anyio.sleep(LOOK_SECONDS)

    async def bring_out(
        self,
        source: AsyncIterable[SessionMessage],
        client: ObjectSendStream[SessionMessage],
    ) -> None:
        """Pass on what the server says."""
        async with client:
            async for item in source:
                await client.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._open -= {item.message.id}

    def _note_request(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(message.id)
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):  # such a request is never answered
            self._open.discard((message.params or {}).get("requestId", ""))


def _complaint(error: Exception) -> types.JSONRPCError | None:
    """What to answer to a line that is no message; nothing to a blank one."""
    line = _line(error)
    if line is not None and not line.strip():
        return None
    reason = types.ErrorData(
        code=types.PARSE_ERROR, message="the line is not a JSON-RPC message"
    )
    return types.JSONRPCError(jsonrpc="2.0", id=_id(line or ""), error=reason)


def _line(error: Exception) -> str | None:
    """The line that is not JSON in the eyes of the SDK, if it was that."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            return str(first["input"])
    return None


def _id(line: str) -> types.RequestId | None:
    """The id of a request that only Python can read (half a surrogate pair in it).

    Without its id the client would wait for ever. An id that is no text itself cannot
    be written back.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if found.isascii() or _is_text(found) else None
    return found if type(found) is int else None


def _is_text(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)

"""MCP in the resident: a server of its own for each client, calls in the lanes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from icm_site import conf
from icm_site.caller import Caller
from icm_site.conf import Config
from icm_site.errors import IcmError
from icm_site.mcp_tools import Answer, call, registry
from icm_site.resident import setting_up, worker
from icm_site.resident.requests import Request

if TYPE_CHECKING:
    from icm_site.resident.server import Resident

# As long as the bridge takes, and what a line may become in the SDK's own text.
LINE_LIMIT = 16 << 20


class Ends:
    """A connection as the text streams that the SDK reads and writes."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._reader, self._writer = reader, writer

    @property
    def client_is_gone(self) -> bool:
        return self._writer.is_closing()

    def __aiter__(self) -> Ends:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            line = error.partial
        except OSError:
            line = b""
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        """Send a line."""
        self._writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until the client takes more."""
        await self._writer.drain()


class Calls:
    """Tool calls of one client, each with the configuration of its moment."""

    def __init__(self, request: Request, config: Config, resident: Resident) -> None:
        self._request, self._config = request, config
        self._resident = resident

    async def __call__(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        caller: Caller,
        compact: bool,
    ) -> Answer:
        operation = registry()[name][0] if name in registry() else None
        if operation is not None and operation.long:
            return await self._at_length(name, arguments, caller, compact)
        return await self._resident.lanes.run(
            lambda: call(name, arguments, caller=caller, compact=compact),
            config=self._current(),
            writes=operation is not None and operation.writes,
        )

    def _current(self) -> Config:
        request = self._request
        # A file that is being edited: what was valid before still is.
        with suppress(IcmError):
            self._config = conf.load(request.env, request.cwd, flags=request.flags)
        return self._config

    async def _at_length(
        self, name: str, arguments: Mapping[str, object], caller: Caller, compact: bool
    ) -> Answer:
        task = {
            "task": "call",
            "name": name,
            "arguments": dict(arguments),
            "caller": {**vars(caller), "details": dict(caller.details)},
            "compact": compact,
        }
        found = await worker.call(self._resident.database, task, self._request.env)
        return Answer(**found)


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Request,
    config: Config,
    resident: Resident,
) -> None:
    """Serve one client until it leaves."""
    await asyncio.get_running_loop().run_in_executor(None, setting_up.load_mcp)
    from icm_site import mcp_server, mcp_stdio

    with conf.within(config):
        server = mcp_server.build(
            mcp_server.options(request.arguments),
            env=request.env,
            cwd=request.cwd,
            config=config,
            calls=Calls(request, config, resident),
        )
        await mcp_stdio.talk(server, Ends(reader, writer))

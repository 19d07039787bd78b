"""What the MCP server answers, on the official SDK; knows nothing of a transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio
import mcp_types as types
from asgiref.sync import sync_to_async
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from icm_site import __version__, mcp_roots, mcp_tools
from icm_site.caller import Caller
from memories.origin import source_details

NUDGE_EVERY = 10
NUDGE = "[ICM: {calls} tool calls since last store. Consider saving important context.]"
HOST_CHARS = 64


@dataclass
class Session:
    """What a connection remembers: calls since the last store, nudges among them.

    `place` is the caller where the client says that it works, once it was `asked`.
    """

    calls: int = 0
    nudges: int = 0
    place: Caller | None = None
    asked: bool = False
    asking: anyio.Lock = field(default_factory=anyio.Lock)

    def text(self, answer: mcp_tools.Answer) -> str:
        """Count a call; its text, with one more line when a store is overdue.

        A text for programs stays as it is, and the next one gets the line.
        """
        if answer.stored:
            self.calls = self.nudges = 0
            return answer.text
        self.calls += 1
        due = self.calls // NUDGE_EVERY
        if due <= self.nudges or not answer.prose:
            return answer.text
        self.nudges = due
        return f"{answer.text.rstrip()}\n{NUDGE.format(calls=self.calls)}"


Context = ServerRequestContext[Session, Any]


class Calls(Protocol):
    """How a tool is called: `mcp_tools.call`, in a thread."""

    async def __call__(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        caller: Caller,
        compact: bool,
    ) -> mcp_tools.Answer: ...


def build(
    *,
    caller: Caller | Callable[[Context], Caller],
    instructions: str,
    compact: bool = False,
    lean: bool = False,
    calls: Calls | None = None,
    http: bool = False,
    placed: Callable[[str], Caller] | None = None,
) -> Server[Session]:
    """A server for one client. Django is not needed before it lists or calls tools.

    Without `calls` tools run one after the other on the thread of asgiref, so that a
    process has one database connection. With `http` it serves many clients, which a
    function tells apart, and whose calls since the last store it does not count.
    `placed` makes the caller of a folder: a client that was started in no project is
    asked for its own.
    """
    call = calls or sync_to_async(mcp_tools.call)
    who = (lambda context: caller) if isinstance(caller, Caller) else caller

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        rows = await sync_to_async(mcp_tools.listed)(lean=lean, http=http)
        return types.ListToolsResult.model_validate({"tools": rows})

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        asking = who(context)
        if placed and not asking.project:
            asking = await _placed(context, placed) or asking
        answer = await call(
            params.name,
            params.arguments or {},
            caller=_caller_now(asking, context),
            compact=compact,
        )
        said = answer.text if http else context.lifespan_context.text(answer)
        text = types.TextContent(type="text", text=said)
        return types.CallToolResult(content=[text], is_error=answer.failed)

    server = Server(
        "icm",
        version=__version__,
        instructions=instructions,
        lifespan=_session,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, _warm_up
    )
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, _moved
    )
    return server


@asynccontextmanager
async def _session(server: Server[Session]) -> AsyncIterator[Session]:
    yield Session()


async def _warm_up(context: Context, params: types.NotificationParams) -> None:
    """Be ready before the first call, once the client has its `initialize` answer."""
    await sync_to_async(mcp_tools.warm_up)()


async def _moved(context: Context, params: types.NotificationParams) -> None:
    """Ask anew where the client works."""
    context.lifespan_context.asked = False


async def _placed(context: Context, placed: Callable[[str], Caller]) -> Caller | None:
    """The caller where the client says that it works; it is asked once."""
    session = context.lifespan_context
    async with session.asking:
        if not session.asked:
            # Before it is asked, as it may move meanwhile.
            session.asked = True
            try:
                session.place = await mcp_roots.caller(context, placed)
            except anyio.get_cancelled_exc_class():
                session.asked = False
                raise
    return session.place


def _caller_now(caller: Caller, context: Context) -> Caller:
    """The caller with the commit of this moment and the client's own name."""
    client = context.session.client_params
    details = dict(caller.details)
    if caller.cwd:
        details = dict(source_details(caller.cwd))
    if client is None:
        return replace(caller, details=details)
    info = client.client_info
    details |= {"client": info.name, "client_version": info.version}
    return replace(caller, host=caller.host or info.name[:HOST_CHARS], details=details)

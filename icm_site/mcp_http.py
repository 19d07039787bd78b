"""MCP over streamable HTTP at `/mcp`: who asks, then the same server as over stdio."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from django.contrib.auth.models import AnonymousUser
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from icm_site import auth, conf, http_errors, mcp_tools
from icm_site.auth import Principal
from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from icm_site.web_guard import App, Receive, Scope, Send
from icm_site.web_workers import Workers
from memories import validation

if TYPE_CHECKING:
    from icm_site.mcp_session import Context

PATH = "/mcp"
# Where the request keeps who asks on its way through the SDK.
CALLER = "icm.caller"


class McpApp:
    """Routes `/mcp` to the SDK once it is known who asks, all else elsewhere.

    The lifespan of the server is that of the SDK's tasks. Each request stands alone:
    no session is kept, so that nothing is lost when the server starts anew.
    """

    def __init__(self, workers: Workers, *, otherwise: App) -> None:
        self._workers = workers
        self._otherwise = otherwise

    @functools.cached_property
    def _sdk(self) -> Any:
        from mcp.server.transport_security import TransportSecuritySettings

        from icm_site import mcp_session
        from icm_site.mcp_instructions import instructions

        settings = conf.current().mcp
        server = mcp_session.build(
            caller=_caller,
            instructions=instructions("", settings.instructions),
            compact=settings.compact,
            calls=self._call,
            http=True,
        )
        # The guard before us knows by which names we are called; the SDK would refuse
        # every name but those of loopback.
        known = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        return server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            transport_security=known,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._sdk(scope, receive, send)
        elif scope["path"] != PATH:
            await self._otherwise(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            caller = await self._workers.run(functools.partial(identify, scope))
        except IcmError as error:
            await _refuse(error, send)
            return
        await self._sdk({**scope, CALLER: caller}, receive, _worded(send))

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        caller: Caller,
        compact: bool,
    ) -> mcp_tools.Answer:
        known = mcp_tools.registry().get(name)
        if known and not known[0].http:
            text = f"{name} works with files of the server, and not over HTTP"
            return mcp_tools.Answer(text=text, failed=True)
        call = functools.partial(
            mcp_tools.call, name, arguments, caller=caller, compact=compact
        )
        return await self._workers.run(call)


def identify(scope: Scope) -> Caller:
    """Who asks, by the one check of all of HTTP; a login counts only in the browser.

    Raises Unauthorized, TooMany, InvalidInput for a bad `?project=`.
    """
    request = ASGIRequest(dict(scope), BytesIO())
    request.user = AnonymousUser()
    return caller_of(auth.identify(request), project=_project(scope))


def caller_of(principal: Principal, *, project: str = "") -> Caller:
    """The caller of tools: an agent behind a token, without a folder."""
    usual = principal.caller
    return replace(
        usual,
        surface="mcp",
        origin="agent",
        project=project,
        may_write=principal.may_write,
    )


def _project(scope: Scope) -> str:
    """The project that the address names, as in `/mcp?project=shop`."""
    given = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    names = given.get("project", [""])
    if len(names) > 1:
        raise InvalidInput("project is given more than once")
    name = validation.one_line("project", names[0])
    if len(name.encode()) > validation.TOPIC_BYTES:
        raise InvalidInput("the name of the project is too long")
    return name


def _caller(context: Context) -> Caller:
    assert context.request is not None
    found: Caller = context.request.scope[CALLER]
    return found


def _worded(send: Send) -> Send:
    """A way to answer that gives a refusal its sentence: some of the SDK have none."""
    held: list[dict[str, Any]] = []

    async def worded(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            held.append(message)
            return
        if held:
            start = held.pop()
            if not message.get("body") and not message.get("more_body"):
                await _answer(http_errors.usual(start["status"]), send)
                return
            await send(start)
        await send(message)

    return worded


async def _refuse(error: IcmError, send: Send) -> None:
    await _answer(http_errors.answer(error), send)


async def _answer(answer: HttpResponse, send: Send) -> None:
    headers = [(k.lower().encode(), v.encode()) for k, v in answer.items()]
    start = {"type": "http.response.start", "status": answer.status_code}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})

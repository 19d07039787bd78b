"""Where a client works that was not started there: asked of the client itself."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from icm_site.caller import Caller

logger = logging.getLogger(__name__)

# A client that is slow to say where it works is answered without it.
SECONDS = 2.0
MOST = 16


class Answer(types.Result):
    """The SDK's own form holds `file:` alone: one other address would lose them all."""

    roots: list[Any] = []


async def caller(
    context: ServerRequestContext[Any, Any], placed: Callable[[str], Caller]
) -> Caller | None:
    """The caller in the first folder of the client that is a project, if it has one."""
    for folder in await folders(context):
        found = placed(folder)
        if found.project:
            return found
    return None


async def folders(context: ServerRequestContext[Any, Any]) -> list[str]:
    """The folders that the client has open; none where it does not say."""
    client = context.session.client_params
    if client is None or client.capabilities.roots is None:
        return []
    try:
        answer = await context.session.send_request(
            types.ListRootsRequest(), Answer, SECONDS
        )
    except (MCPError, ValidationError) as error:
        logger.info("the client does not say where it works: %s", error)
        return []
    rows = (root for root in answer.roots[:MOST] if isinstance(root, dict))
    named = (folder(str(root.get("uri", ""))) for root in rows)
    return [path for path in named if path]


def folder(uri: str) -> str:
    """The folder of this machine that a `file:` address names; empty for none."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = url2pathname(parts.path)
    # As bytes of a name that is not UTF-8 come, or one that no system has.
    if not path or "\0" in path or not os.path.isabs(path):  # noqa: PTH117
        return ""
    return path if Path(path).is_dir() else ""

"""The registry as MCP sees it: what is listed, and how a call becomes one text."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from icm_site import program_input, startup
from icm_site.caller import Caller
from icm_site.errors import Forbidden, IcmError, InvalidInput, NotFound
from icm_site.operation import Operation, Tool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One text for the client. `prose` is false for a text that a program parses."""

    text: str
    failed: bool = False
    stored: bool = False
    prose: bool = True


@functools.cache
def registry() -> Mapping[str, tuple[Operation, Tool]]:
    """All tools by name; the first call sets Django up, which takes half a second."""
    with startup.importing():
        startup.set_up_django()
        from icm_site.registry import TOOLS

    return TOOLS


@functools.cache
def open_database() -> None:
    """Make the database ready, once; a failure raises again at the next call."""
    from icm_site import database

    database.ready()


def warm_up() -> None:
    """Set up and open ahead of the first call; what fails is that call's to report."""

    def opened() -> Answer:
        registry()
        open_database()
        return Answer(text="")

    _attempt("start", opened)


def close_database() -> None:
    """Close what this thread has opened; without Django that is nothing."""
    if "icm_site.database" in sys.modules:
        from icm_site import database

        database.close()


def listed(*, lean: bool, http: bool = False) -> list[dict[str, Any]]:
    """The tools as `tools/list` sends them, the lean ones or all.

    With `http` without those that take a path of the server.
    """
    tools = registry()
    from memories import embedder

    embeds = bool(embedder.configured())
    return [
        {
            "name": name,
            "description": " ".join(operation.description.split()),
            "inputSchema": input_schema(operation, tool),
            "annotations": hints(tool),
        }
        for name, (operation, tool) in tools.items()
        if (tool.lean or not lean)
        and (embeds or not tool.needs_embedder)
        and (operation.http or not http)
    ]


def hints(tool: Tool) -> dict[str, bool]:
    """What a client is told of a tool, without what goes without saying.

    The protocol takes a tool for one that writes, destroys and is not idempotent, and
    gives the last two a meaning for writing tools alone. Each byte of this list is
    paid for again in each conversation.
    """
    if tool.reads:
        return {"readOnlyHint": True}
    told = {} if tool.destroys else {"destructiveHint": False}
    return told | ({"idempotentHint": True} if tool.idempotent else {})


def input_schema(operation: Operation, tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    schema = program_input.schema(operation, tool)
    if len(tool.formats) > 1:
        names = list(tool.formats)
        choice = {"type": "string", "enum": names, "default": names[0]}
        schema["properties"]["format"] = choice
    return schema


def call(
    name: str, arguments: Mapping[str, object], *, caller: Caller, compact: bool
) -> Answer:
    """Run one tool; whatever goes wrong is a sentence in the answer."""
    return _attempt(
        name, lambda: _call(name, arguments, caller=caller, compact=compact)
    )


def _attempt(name: str, work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    except IcmError as error:
        return Answer(text=error.message, failed=True)
    # The server outlives any call, and the model that called must learn of a fault.
    except Exception as error:
        from icm_site import database

        if explained := database.explain(error):
            return Answer(text=explained.message, failed=True)
        logger.exception("%s failed", name)
        fault = f"{type(error).__name__}: {error}"
        return Answer(text=f"internal error in {name}: {fault}", failed=True)


def _call(
    name: str, arguments: Mapping[str, object], *, caller: Caller, compact: bool
) -> Answer:
    tools = registry()
    if name not in tools:
        raise NotFound(f"unknown tool: {name}")
    operation, tool = tools[name]
    if operation.writes and not caller.may_write:
        raise Forbidden(f"{name} writes, and this caller may only read")
    form, render = _render(tool, arguments, compact=compact)
    given = program_input.given(operation, tool, arguments)
    params = operation.parse(given, caller=caller, ranges=tool.ranges, fill=tool.fill)
    open_database()
    from memories import outgoing
    from memories.fence import unforged

    result = outgoing.masked(operation.run(params, caller))

    prose = form != "json"
    own = tool.name in FENCED
    text = unforged(render(result)) if prose and not own else render(result)
    return Answer(text=text, stored=tool.stores, prose=prose)


# Their text is a fence of our own, whose lines are made harmless one by one.
FENCED = frozenset({"icm_recall_context"})


def _render(
    tool: Tool, arguments: Mapping[str, object], *, compact: bool
) -> tuple[str, Callable[[Any], Any]]:
    """The format asked for and its function; compact mode replaces the default one."""
    formats = tool.formats
    asked = arguments.get("format") if len(formats) > 1 else None
    if asked is None:
        form = next(iter(formats))
        return form, tool.compact if compact and tool.compact else formats[form]
    if not isinstance(asked, str) or asked not in formats:
        raise InvalidInput(f"format: must be one of {', '.join(formats)}")
    return asked, formats[asked]

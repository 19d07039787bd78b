"""What the dashboard shows and does: the operations of every surface, off the loop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from asgiref.sync import sync_to_async

from icm_site import conf, database
from icm_site.caller import Caller
from icm_site.errors import IcmError
from icm_site.operation import Operation
from icm_site.registry import OPERATIONS
from memories.origin import detect

LISTED = 200


class Overview(NamedTuple):
    """The figures of the first tab; `size` in bytes."""

    stats: Any
    topics: Any
    health: Any
    memoirs: Any
    feedback: int
    path: str
    size: int


class Failed(Exception):
    """An operation could not be done; the sentence says why."""


def caller() -> Caller:
    """Whoever sits before the terminal, in this folder."""
    config = conf.current()
    return detect(
        os.environ,
        surface="cli",
        cwd=Path.cwd(),
        name=config.project.name,
        aliases=config.projects.aliases,
    )


async def ask(operation: str, /, **arguments: object) -> Any:
    """The result of an operation. Raises Failed."""
    return await sync_to_async(_run)(OPERATIONS[operation], arguments)


def _run(operation: Operation, arguments: dict[str, object]) -> Any:
    who = caller()
    try:
        with database.explained():
            params = operation.parse(arguments, caller=who, ranges={}, fill={})
            return operation.run(params, who)
    except IcmError as error:
        raise Failed(error.message) from error


async def overview() -> Overview:
    """All that the first tab shows. Raises Failed."""
    path = conf.current().database_path
    return Overview(
        stats=await ask("memory_stats"),
        topics=(await ask("memory_list_topics")).topics,
        health=await ask("memory_health"),
        memoirs=(await ask("memoir_list")).memoirs,
        feedback=(await ask("feedback_stats")).total,
        path=str(path),
        size=path.stat().st_size if path.exists() else 0,
    )

"""Long work of the resident: a process of its own, at low priority, ended with it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icm_site import startup
from icm_site.sqlite import opening

logger = logging.getLogger(__name__)

NICENESS = 10
LAUNCHER = Path(__file__).with_name("launch_worker.py")

_running: set[asyncio.subprocess.Process] = set()


def running() -> int:
    """How many workers there are."""
    return len(_running)


async def call(
    database: Path, task: Mapping[str, object], env: Mapping[str, str]
) -> dict[str, Any]:
    """Have a task done by a worker: what it returns. Raises OSError without answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        str(LAUNCHER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**env, "ICM_DB": str(database)},
        limit=1 << 26,
    )
    _running.add(process)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        # Its input stays open: at its end the worker knows that we are gone.
        process.stdin.write(json.dumps(task).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
    finally:
        _running.discard(process)
        if process.returncode is None:
            process.terminate()
        await process.wait()
    if not line:
        raise OSError(f"the worker ended with code {process.returncode}")
    answer: dict[str, Any] = json.loads(line)
    return answer


async def backfill(database: Path) -> None:
    """Have all missing vectors made."""
    done = await call(database, {"task": "backfill"}, os.environ)
    logger.info("backfill: %s", done)


async def keep_vectors(database: Path) -> None:
    """Have the vectors written to files that are mapped, with an index."""
    done = await call(database, {"task": "keep_vectors"}, os.environ)
    logger.info("vectors kept: %s", done)


async def back_up(database: Path) -> None:
    """Have a scheduled copy made, and the oldest deleted."""
    done = await call(database, {"task": "backup"}, os.environ)
    logger.info("backup: %s", done)


def main() -> int:
    """A worker: one task from stdin, its answer on stdout."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    wire = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    opening.never_make()
    task: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    wire.write(json.dumps(_perform(task)) + "\n")
    wire.flush()
    os._exit(0)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


def _perform(task: dict[str, Any]) -> dict[str, Any]:
    with startup.importing():
        from icm_site import mcp_tools

        mcp_tools.registry()
    from icm_site import backup_command
    from icm_site.caller import Caller
    from memories import tasks

    mcp_tools.open_database()
    if task["task"] == "backfill":
        return {"done": tasks.embed_missing()}
    if task["task"] == "backup":
        return {"done": backup_command.make_scheduled()}
    if task["task"] == "keep_vectors":
        return {"done": tasks.keep_vectors()}
    answer = mcp_tools.call(
        task["name"],
        task["arguments"],
        caller=Caller(**task["caller"]),
        compact=task["compact"],
    )
    return dataclasses.asdict(answer)

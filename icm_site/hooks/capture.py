"""What hooks learn from a session: after a tool, before a compaction, at its end.

Each function is called once the answer is out, in the resident's writing lane or in
the hook's own process (`run.memory.warm` tells which). A resident reads what is short
by itself; all else is done by a process of its own (`learning.py`), for which nobody
waits.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

from icm_site.hooks.contracts import SESSION_FILES
from icm_site.hooks.run import Job, Run

if TYPE_CHECKING:
    from memories.scope import Connection

# Of a tool's output the end is read: there a program says what became of it.
OUTPUT_BYTES = 16 * 1024
COUNTER = "hook_counter"
COUNT = """
INSERT INTO icm_metadata(key, value) VALUES (?, '1')
ON CONFLICT(key) DO UPDATE SET value = CAST(value AS INTEGER) + 1
"""
COUNTED = "SELECT CAST(value AS INTEGER) FROM icm_metadata WHERE key = ?"
# Our name in a shell command, and what stands before it where it is the program. One
# pattern for both would read a long line of code, as of a file that is written, from
# each of its brackets to the end.
_NAME = re.compile(r"icm(?:\.exe)?\s", re.IGNORECASE)
_BEFORE = re.compile(r"(?:^|[;&|\n(])[ \t\r\f\v]*(?:\S*[/\\])?\Z")
_BEFORE_CHARS = 500

LAUNCHER = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "launch_learning.py"
)


def after_tool(run: Run) -> None:
    """Facts in what a tool returned, every few calls."""
    text = run.payload.output
    if not _may(run) or not text.strip() or _is_own(run):
        return
    if count(run) % max(run.memory.settings.extract_every, 1):
        return
    end = text.encode("utf-8", "replace")[-OUTPUT_BYTES:].decode("utf-8", "ignore")
    _learn(run, {"verb": "post", "text": end})


def before_compaction(run: Run) -> None:
    """Facts in the transcript, or in the messages sent, before the host shortens it."""
    if not (said := _said(run)) or not _may(run):
        return
    # Looking for a file takes longer than reading one.
    learn = _detach if "by_id" in said else _learn
    learn(run, {"verb": "compact", **said})


def at_end(run: Run) -> None:
    """Facts in what was said in a session that has ended."""
    if (said := _said(run)) and _may(run):
        _detach(run, {"verb": "end", **said})


def _said(run: Run) -> Job:
    """Where a session can be read: in a file, in the payload, or by its id alone."""
    if run.payload.transcript:
        return {"transcript": run.payload.transcript}
    if messages := run.payload.messages:
        return {"messages": messages}
    if run.payload.session and run.host in SESSION_FILES:
        return {"by_id": run.payload.session}
    return {}


def _may(run: Run) -> bool:
    settings = run.memory.settings
    return settings.capture and not settings.read_only


def _is_own(run: Run) -> bool:
    from memories.transcripts import is_own

    return is_own(run.payload.tool) or runs_icm(run.payload.command)


def runs_icm(command: str) -> bool:
    """Whether a shell command calls ours: what it prints came out of the memory."""
    starts = (found.start() for found in _NAME.finditer(command))
    return any(_BEFORE.search(command, max(0, at - _BEFORE_CHARS), at) for at in starts)


def count(run: Run) -> int:
    """Raise the counter of tool calls; returns what it stands at. Raises sqlite3.Error.

    It lies in the database, so that neither a restart nor a second host sets it back.
    """
    if run.memory.warm:
        return _counted(run.memory.raw)
    from contextlib import closing

    from icm_site.hooks import memory

    with closing(memory.opened(run.memory.settings.database, "rw")) as raw:
        return _counted(raw)


def _counted(raw: Connection) -> int:
    # One statement each would do, but what it returns is younger than some SQLites.
    raw.execute("SAVEPOINT counting")
    try:
        raw.execute(COUNT, (COUNTER,))
        return int(raw.execute(COUNTED, (COUNTER,)).fetchone()[0])
    finally:
        raw.execute("RELEASE counting")


def _learn(run: Run, what: Job) -> None:
    """Read something short: here where all is ready for it, else elsewhere."""
    if not run.memory.warm:
        _detach(run, what)
        return
    from icm_site.hooks import learning

    learning.learn(_job(run, what))


def _job(run: Run, what: Job) -> Job:
    return {
        "host": run.host,
        "session": run.payload.session,
        "cwd": run.cwd,
        "project": run.memory.project,
        **what,
    }


def _detach(run: Run, what: Job) -> None:
    """Hand the work to a process of its own, its job on standard input."""
    import tempfile

    from icm_site.resident.start import NOT_INHERITED, spawn

    env = {k: v for k, v in {**os.environ, **run.env}.items() if k not in NOT_INHERITED}
    env |= {"ICM_WORKER": "1", "ICM_DB": run.memory.settings.database}
    job = _job(run, what)
    if not os.path.exists(run.memory.settings.database):
        job = {**job, "new": "1"}
    with tempfile.TemporaryFile() as file:  # it has no name, and is ours alone
        file.write(json.dumps(job).encode("utf-8", "replace"))
        file.seek(0)
        spawn([sys.executable, "-P", LAUNCHER], env, stdin=file.fileno())

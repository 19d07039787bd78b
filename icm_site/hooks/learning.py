"""Facts out of what a hook handed over: in the resident, or in a process of its own."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from icm_site import conf, paths, startup
from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput, NotFound

if TYPE_CHECKING:
    from icm_site.hooks.run import Job
    from memories.capture import Captured
    from memories.transcripts import Turn

logger = logging.getLogger(__name__)

LOCK_SUFFIX = ".learning.lock"
# How long one process waits for another to be done with the same database.
WAIT_SECONDS = 600.0
LOOK_SECONDS = 0.1


def learn(job: Job) -> Captured:
    """Store what is worth it; the database is ready and the configuration in force.

    Nothing of a transcript that is gone, or is none.
    """
    from memories import capture
    from memories.origin import source_details

    verb = job.get("verb", "")
    try:
        said = READ[verb](job)
    except InvalidInput as error:
        logger.debug("nothing is learned: %s", error)
        return capture.Captured()

    cwd = job.get("cwd", "")
    caller = Caller(
        surface="hook",
        origin="hook",
        host=job.get("host", ""),
        agent_session=job.get("session", ""),
        cwd=cwd,
        project=job.get("project", ""),
        details=source_details(cwd) if cwd else {},
    )
    return capture.capture_unattended(said, caller=caller, store_raw=verb != "post")


def _output(job: Job) -> list[Turn]:
    from memories.transcripts import Turn

    return [Turn("tool", job["text"])]


def _last_words(job: Job) -> list[Turn]:
    from memories import transcripts

    return transcripts.last_words(_said(job))


def _session(job: Job) -> list[Turn]:
    from memories import transcripts

    return transcripts.turns(_said(job))


def _said(job: Job) -> str:
    """The text of a transcript; raises InvalidInput without one."""
    from memories import transcripts

    if messages := job.get("messages"):
        return messages
    if path := _transcript(job):
        return transcripts.read_text(path)
    raise InvalidInput("this program keeps no file of that session")


def _transcript(job: Job) -> str | Path | None:
    from icm_site.hooks import session_files

    if path := job.get("transcript"):
        return path
    return session_files.find(job.get("host", ""), job.get("by_id", ""), env=os.environ)


def _is_empty(job: Job) -> bool:
    """Whether there is nothing to read, which costs a process of its own too much."""
    if job.get("verb") == "post" or job.get("messages"):
        return False
    path = _transcript(job)
    return path is None or not os.path.exists(path)


READ: Mapping[str, Callable[[Job], list[Turn]]] = {
    "post": _output,
    "compact": _last_words,
    "end": _session,
}


def main() -> int:
    """Do the job on standard input, apart from whoever started this process."""
    if hasattr(os, "setsid"):
        with suppress(OSError):  # it leads a session of its own already
            os.setsid()
        os.nice(10)
    job = json.loads(sys.stdin.buffer.read())
    if _is_empty(job):
        return 0
    cwd = job.get("cwd") or os.sep
    config = _configuration(cwd)
    conf.use(config)
    path, new = Path(config.database_path), "new" in job
    if new and path == paths.data_dir() / paths.DATABASE:
        # Elsewhere a folder that is missing may be a disk that is.
        paths.make_private_dir(path.parent)
    # One at a time: each loads what the work needs, and maybe a model, once it is due.
    with _turn(path, new=new) as is_ours:
        if is_ours:
            _learn_at_last(job, new=new)
    return 0


@contextmanager
def _turn(path: Path, *, new: bool) -> Iterator[bool]:
    """Wait for the other processes of a database; False once that has gone.

    `new`: there was none when the session called, so its folder is enough.
    """
    from filelock import FileLock, Timeout

    # The lock itself would make the folder anew.
    lock, place = FileLock(f"{path}{LOCK_SUFFIX}", mode=0o600), path
    if new:
        place = path.parent
    end = time.monotonic() + WAIT_SECONDS
    while place.exists():
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if time.monotonic() > end:
                raise
            time.sleep(LOOK_SECONDS)
            continue
        try:
            yield True
        finally:
            lock.release()
        return
    yield False


def _learn_at_last(job: Job, *, new: bool) -> None:
    startup.set_up_django()
    from icm_site import database
    from icm_site.sqlite import opening

    if not new:
        opening.never_make()
    try:
        database.ready()
    except NotFound as error:  # it has gone just now
        logger.debug("nothing is learned: %s", error)
        return
    learn(job)


def _configuration(cwd: str) -> conf.Config:
    try:
        return conf.load(os.environ, cwd)
    except IcmError:
        # A file with a mistake in it: `icm config` says so.
        return conf.load(os.environ, cwd, files=False)

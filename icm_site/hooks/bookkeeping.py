"""What is written once a hook's answer is out: best effort, and never waited for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from icm_site.hooks import verbs
from memories import hook_log, shown

if TYPE_CHECKING:
    from icm_site.hooks.answer import Done
    from memories.scope import Connection

SERVED_ALREADY = "served already"


def record(raw: Connection, done: Done, *, keep_days: int) -> None:
    """Note a run, and what its session was shown. Raises sqlite3.Error."""
    now = time.time()
    raw.execute("BEGIN IMMEDIATE")
    try:
        hook_log.write(raw, done.event, at=now, keep_days=keep_days)
        session = done.event.agent_session
        if session and (done.reply.block.costs or done.reply.anew):
            shown.remember(
                raw,
                session,
                done.reply.block.costs,
                at=hook_log.stamp(now),
                anew=done.reply.anew,
            )
        raw.execute("COMMIT")
    except BaseException:
        raw.execute("ROLLBACK")
        raise


def after(done: Done) -> None:
    """Do what a verb does once its answer is out, unless it is not to be served."""
    if done.run is None or done.reply.note in (SERVED_ALREADY, PAUSED):
        return
    verbs.VERBS[done.run.verb].after(done.run)


PAUSED = "paused"

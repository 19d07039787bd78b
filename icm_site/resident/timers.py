"""What the resident does by itself: leave when idle, decay, backfill, back up."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from icm_site import conf
from icm_site.errors import IcmError
from icm_site.resident import worker
from icm_site.sqlite import backup
from memories import decay, driver, embedding, matrices, tasks

if TYPE_CHECKING:
    from icm_site.resident.server import Resident

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
# After the first requests have gone through.
AHEAD_SECONDS = 1.0
DECAY_SECONDS = 600.0
BACKFILL_SECONDS = 300.0
KEEP_SECONDS = 900.0
BACKUP_SECONDS = 1800.0


async def run(resident: Resident) -> None:
    """Run all timers until cancelled."""
    await asyncio.gather(
        _every(LOOK_SECONDS, _look, resident),
        _every(DECAY_SECONDS, _decay, resident),
        _every(BACKFILL_SECONDS, _backfill, resident),
        _every(KEEP_SECONDS, _keep_vectors, resident),
        _every(BACKUP_SECONDS, _backup, resident),
        _load_ahead(resident),
    )


async def _every(
    seconds: float, act: Callable[[Resident], Awaitable[None]], resident: Resident
) -> None:
    while True:
        await asyncio.sleep(min(seconds, 30.0) if seconds > 30.0 else seconds)
        try:
            await act(resident)
        # The next round may fare better; the clients must not suffer from it.
        except Exception:
            logger.exception("a timer failed")
        await asyncio.sleep(max(seconds - 30.0, 0.0))


async def _load_ahead(resident: Resident) -> None:
    """Load what the first request of its kind would wait for."""
    from icm_site.resident.setting_up import load_mcp, load_model

    await asyncio.sleep(AHEAD_SECONDS)
    try:
        await asyncio.get_running_loop().run_in_executor(None, load_mcp)
        await resident.lanes.run(load_model, config=resident.config, writes=False)
    # Whoever needs it loads it then, and is told why that fails.
    except Exception:
        logger.exception("loading ahead failed")


async def _look(resident: Resident) -> None:
    if reason := resident.watch.all_changed():
        resident.leave(reason)
        return
    _read_configuration(resident)
    limit = 60.0 * resident.config.resident.idle_minutes
    busy = resident.sessions or resident.lanes.running or worker.running()
    if limit and not busy and time.time() - resident.last_asked > limit:
        resident.leave("idle")


def _read_configuration(resident: Resident) -> None:
    """Timers follow the user's file; requests bring a configuration of their own."""
    flags = {"store.path": str(resident.database)}
    try:
        now = conf.load(os.environ, "/", flags=flags)
    except IcmError as error:
        logger.debug("the configuration is not taken: %s", error.message)
        return
    if not now.resident.enabled or now.resident.transport != (
        resident.config.resident.transport
    ):
        resident.leave("the configuration of the resident has changed")
    elif (now.log_level, now.read_only) != (
        resident.config.log_level,
        resident.config.read_only,
    ):
        resident.leave("settings of the process have changed")
    elif now != resident.config:
        resident.config = now
        conf.use(now)


async def _decay(resident: Resident) -> None:
    def due() -> None:
        with decay.waiting_briefly():
            tasks.daily_decay()

    if not resident.config.read_only:
        await resident.lanes.run(due, config=resident.config, writes=True)


async def _backfill(resident: Resident) -> None:
    """Have missing vectors made by a worker, if the configuration wants vectors."""

    def lacking() -> bool:
        model = embedding.database_model()
        return bool(model) and embedding.missing(model).exists()

    if resident.config.read_only or worker.running():
        return
    if await resident.lanes.run(lacking, config=resident.config, writes=False):
        await worker.backfill(resident.database)


async def _keep_vectors(resident: Resident) -> None:
    """Have the vectors written to files by a worker, and map those once written."""

    def due() -> bool:
        files = matrices.files()
        return files is not None and files.due(driver.raw_connection())

    if worker.running():
        return
    if await resident.lanes.run(due, config=resident.config, writes=False):
        await worker.keep_vectors(resident.database)
        await resident.lanes.run(matrices.reopen, config=resident.config, writes=False)


async def _backup(resident: Resident) -> None:
    """Have a copy made by a worker, when one is due."""
    every = resident.config.backup.every
    if worker.running() or resident.config.read_only:
        return
    if await asyncio.to_thread(backup.due, resident.database, every=every):
        await worker.back_up(resident.database)

"""Threads for requests: several that read and one that writes."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connections

from icm_site import afterwards, conf
from icm_site.conf import Config

logger = logging.getLogger(__name__)

T = TypeVar("T")

READERS = 3
# Each connection may keep pages; the system keeps them for all of us anyway.
CACHE_KIB = 8192


class Lanes:
    """Where work is done. A write that waits for a lock holds up other writes only."""

    def __init__(self) -> None:
        self._reads = ThreadPoolExecutor(READERS, thread_name_prefix="read")
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="write")
        self._connections: list[Any] = []
        self.running = 0

    async def run(self, work: Callable[[], T], *, config: Config, writes: bool) -> T:
        """Do this under a configuration; its bookkeeping waits for its result.

        Raises what it raises.
        """
        lane = self._writes if writes else self._reads
        context = contextvars.copy_context()

        def job() -> T:
            self._connected()
            with conf.within(config), afterwards.collected() as later:
                result = work()
            for rest in later:
                self._writes.submit(context.copy().run, self._later, rest, config)
            return result

        self.running += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(lane, context.run, job)
        finally:
            self.running -= 1

    def _later(self, work: Callable[[], object], config: Config) -> None:
        try:
            self._connected()
            with conf.within(config):
                work()
        # The answer is out; what its bookkeeping meets is for the log alone.
        except Exception:
            logger.exception("bookkeeping failed")

    def _connected(self) -> None:
        """A connection for this thread, known to `close`."""
        opened = connections["default"]
        if opened.connection is not None:
            return
        with opened.cursor() as cursor:
            cursor.execute(f"PRAGMA cache_size = -{CACHE_KIB:d}")
        # `close` runs in another thread, when this one has no work any more.
        opened.inc_thread_sharing()
        self._connections.append(opened)

    def close(self) -> None:
        """Wait for what is running, then close the connections."""
        self._reads.shutdown(wait=True)
        self._writes.shutdown(wait=True)
        for opened in self._connections:
            opened.close()

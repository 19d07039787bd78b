"""The threads of `icm web` in which Django works, each with one connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from asgiref.sync import ThreadSensitiveContext

from icm_site.web_guard import App, Receive, Scope, Send

WORKERS = 4
T = TypeVar("T")


class Workers:
    """A few lasting threads, lent to one request at a time.

    Django would take a new thread for each request, and so open the database anew;
    one thread for all would let a long request hold up the others.
    """

    def __init__(self, *, count: int = WORKERS) -> None:
        self._free: asyncio.Queue[Executor] = asyncio.Queue()
        for _ in range(count):
            self._free.put_nowait(ThreadPoolExecutor(max_workers=1))

    def serving(self, app: App) -> App:
        """The application with each request on one of the threads."""

        async def work(scope: Scope, receive: Receive, send: Send) -> None:
            async with (
                self._lent() as executor,
                ThreadSensitiveContext(executor=executor),
            ):
                await app(scope, receive, send)

        return work

    async def run(self, function: Callable[[], T]) -> T:
        """What a function returns that runs on one of the threads."""
        async with self._lent() as executor:
            return await asyncio.get_running_loop().run_in_executor(executor, function)

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[Executor]:
        executor = await self._free.get()
        try:
            yield executor
        finally:
            self._free.put_nowait(executor)

"""The threads of `icm web` in which Django works, each with one connection."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext

from icm_site.web_guard import App, Receive, Scope, Send

WORKERS = 4


def with_workers(app: App, *, count: int = WORKERS) -> App:
    """The application with each request on one of a few lasting threads.

    Django would take a new thread for each request, and so open the database anew;
    one thread for all would let a long request hold up the others.
    """
    free: asyncio.Queue[Executor] = asyncio.Queue()
    for _ in range(count):
        free.put_nowait(ThreadPoolExecutor(max_workers=1))

    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        executor = await free.get()
        try:
            async with ThreadSensitiveContext(executor=executor):
                await app(scope, receive, send)
        finally:
            free.put_nowait(executor)

    return work

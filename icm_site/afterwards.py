"""Bookkeeping that nobody waits for: done at once, or once the answer has gone out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Work = Callable[[], object]

_waiting: ContextVar[list[Work] | None] = ContextVar("afterwards", default=None)


def do(work: Work) -> None:
    """Do this now, unless the block around it collects such work."""
    waiting = _waiting.get()
    if waiting is None:
        work()
    else:
        waiting.append(work)


@contextmanager
def collected() -> Iterator[list[Work]]:
    """Within this block, collect what `do` is given instead of doing it."""
    waiting: list[Work] = []
    token = _waiting.set(waiting)
    try:
        yield waiting
    finally:
        _waiting.reset(token)

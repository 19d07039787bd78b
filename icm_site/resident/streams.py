"""stdout and stderr of the request that is being served, in whichever thread."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TextIO


@dataclass(frozen=True, kw_only=True)
class Captured:
    """What one request prints, and whether a terminal is at its ends."""

    out_is_terminal: bool = False
    err_is_terminal: bool = False
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)


_captured: ContextVar[Captured | None] = ContextVar("captured", default=None)


class Stream(io.TextIOBase):
    """Stands for sys.stdout or sys.stderr; outside any request it is the real one."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, real: TextIO, *, error: bool) -> None:
        self._real, self._error = real, error

    def write(self, text: str) -> int:
        """Keep the text with its request."""
        captured = _captured.get()
        if captured is None:
            return self._real.write(text)
        (captured.err if self._error else captured.out).append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing to do for a request: all goes out at its end."""
        if _captured.get() is None:
            self._real.flush()

    def isatty(self) -> bool:
        """Whether the client's stream is a terminal."""
        captured = _captured.get()
        if captured is None:
            return False
        return captured.err_is_terminal if self._error else captured.out_is_terminal

    def writable(self) -> bool:
        """Yes."""
        return True


def install() -> None:
    """Put the streams in place; before logging is configured, which keeps stderr."""
    sys.stdout = Stream(sys.stdout, error=False)
    sys.stderr = Stream(sys.stderr, error=True)


@contextmanager
def capturing(captured: Captured) -> Iterator[None]:
    """Within this block, what is printed belongs to this request."""
    token = _captured.set(captured)
    try:
        yield
    finally:
        _captured.reset(token)


def encoded(parts: list[str]) -> bytes:
    """What was printed, as the command line writes it."""
    return "".join(parts).encode("utf-8", "backslashreplace")

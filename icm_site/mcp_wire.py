"""The client's ends of standard input and output, out of everybody else's reach."""

from __future__ import annotations

import os
import select
import sys
from io import TextIOWrapper
from typing import NamedTuple


class Wire(NamedTuple):
    """The protocol's two streams of text lines."""

    input: TextIOWrapper
    output: TextIOWrapper

    @property
    def client_is_gone(self) -> bool:
        """Whether nobody can read an answer any more; unknown on Windows."""
        if sys.platform == "win32":
            return False
        poll = select.poll()
        poll.register(self.output.fileno(), 0)
        return bool(poll.poll(0))


def take() -> Wire:
    """Take the descriptors 0 and 1 aside; what prints later prints to stderr.

    Python's own buffer of stdout is not flushed before: a line that a start-up file
    printed belongs to stderr as well.
    """
    wire = Wire(
        os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace"),
        os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n"),
    )
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return wire

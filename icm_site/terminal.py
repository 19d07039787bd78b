"""How wide the user's terminal is; nothing is imported that start-up has not loaded."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_COLUMNS = 80


def columns(env: Mapping[str, str]) -> int:
    """Columns by the variable COLUMNS, else of the terminal at stdout, else 80.

    The rule of shutil.get_terminal_size, whose import takes as long as a recall.
    """
    named = env.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and int(named) > 0:
        return int(named)
    try:
        stdout = sys.__stdout__
        size = os.get_terminal_size(stdout.fileno() if stdout else 1)
    except (ValueError, OSError):
        return DEFAULT_COLUMNS
    return size.columns or DEFAULT_COLUMNS

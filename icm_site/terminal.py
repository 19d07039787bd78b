"""What the user's terminal shows; nothing is imported that start-up has not loaded."""

from __future__ import annotations

import os
import sys

from icm_site.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from icm_site.errors import IcmError

DEFAULT_COLUMNS = 80
# Wide enough that a table in a file or pipe keeps each row on one line.
PIPE_WIDTH = 1000
USAGE = 2
# Characters of an error that are shown; it may quote what was given.
MESSAGE = 400


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


def show(
    output: RenderableType,
    env: Mapping[str, str] = os.environ,
    *,
    width: int | None = None,
) -> None:
    """Print a text as it is, a table as wide as the terminal."""
    if isinstance(output, str):
        if output:
            print(output)
        return
    from rich.console import Console

    # Stored text is data: no markup, no emoji codes, no colouring of numbers.
    console = Console(
        width=(width or columns(env)) if sys.stdout.isatty() else PIPE_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        _environ=env,
    )
    # Not straight to stdout: a closed pipe would end the program with an error.
    with console.capture() as captured:
        console.print(output)
    sys.stdout.write(captured.get())


def fail(error: IcmError) -> int:
    """Say an error in one line on stderr; returns the exit code."""
    text = error.message
    shown = text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"
    print(f"Error: {shown}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else 1

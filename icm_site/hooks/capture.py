"""What hooks learn from a session: after a tool, before a compaction, at its end.

Each function is called once the answer is out, in the resident's writing lane or in
the hook's own process (`run.memory.warm` tells which); it must not take long there, so
that a transcript is read by a process of its own.
"""

from __future__ import annotations

from icm_site.hooks.run import Run


def after_tool(run: Run) -> None:
    """Facts in what a tool returned, every few calls."""
    del run


def before_compaction(run: Run) -> None:
    """Facts in the transcript, before the host shortens it."""
    del run


def at_end(run: Run) -> None:
    """Facts in the transcript of a session that has ended."""
    del run

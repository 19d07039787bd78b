"""The list of the operations on hooks: neither HTTP nor MCP has them."""

from __future__ import annotations

from icm_site.operation import Command, Operation
from memories import hook_texts
from memories.hook_operations import hook_log, hook_stats, hooks_pause, hooks_resume

_PROJECT = ("-p", "--project")

OPERATIONS = [
    Operation(
        run=hook_log,
        http=False,
        commands=(
            Command(
                words=("hook-log",),
                formats={"human": hook_texts.log, "json": hook_texts.log_json},
                flags={"limit": ("-l", "--limit"), "event": ("-e", "--event")},
                ranges={"limit": (1, 10_000)},
                note=hook_texts.log_note,
            ),
        ),
    ),
    Operation(
        run=hook_stats,
        http=False,
        writes=False,
        commands=(
            Command(
                words=("hook-stats",),
                formats={"human": hook_texts.stats, "json": hook_texts.stats_json},
                note=hook_texts.stats_note,
            ),
        ),
    ),
    Operation(
        run=hooks_pause,
        http=False,
        commands=(
            Command(
                words=("pause",),
                formats={"text": hook_texts.paused},
                flags={"project": _PROJECT, "duration": ("--for",)},
            ),
        ),
    ),
    Operation(
        run=hooks_resume,
        http=False,
        commands=(
            Command(
                words=("resume",),
                formats={"text": hook_texts.resumed},
                flags={"project": _PROJECT},
            ),
        ),
    ),
]

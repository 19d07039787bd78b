"""All operations of all apps, by name."""

from __future__ import annotations

from feedback.entries import OPERATIONS as FEEDBACK
from icm_site.operation import Command, Operation, Tool
from memoirs.entries import OPERATIONS as MEMOIRS
from memories.capture_entries import OPERATIONS as CAPTURE
from memories.care_entries import OPERATIONS as CARE
from memories.entries import OPERATIONS as MEMORIES
from memories.hook_entries import OPERATIONS as HOOKS
from memories.injection_entries import OPERATIONS as INJECTION
from memories.project_entries import OPERATIONS as PROJECTS
from memories.token_entries import OPERATIONS as TOKENS

OPERATIONS: dict[str, Operation] = {
    entry.name: entry
    for entry in [
        *(*MEMORIES, *INJECTION, *CARE, *CAPTURE, *PROJECTS),
        *(*MEMOIRS, *FEEDBACK, *TOKENS, *HOOKS),
    ]
}

TOOLS: dict[str, tuple[Operation, Tool]] = {
    entry.tool.name: (entry, entry.tool) for entry in OPERATIONS.values() if entry.tool
}

COMMANDS: dict[tuple[str, ...], tuple[Operation, Command]] = {
    command.words: (entry, command)
    for entry in OPERATIONS.values()
    for command in entry.commands
}

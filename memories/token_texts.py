"""The words in which the command line answers about tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories import formats
from memories.formats import plain
from memories.token_schemas import (
    TokenCreateResult,
    TokenListResult,
    TokenRevokeResult,
)

if TYPE_CHECKING:
    from rich.table import Table


def created(result: TokenCreateResult) -> str:
    return result.secret


def created_note(result: TokenCreateResult) -> str:
    kind = "read-only token" if result.token.read_only else "token"
    return f"This {kind} is shown once; keep it where only its user can read it."


def listed(result: TokenListResult) -> Table | str:
    if not result.tokens:
        return "No tokens yet."
    from rich.table import Table

    table = Table("Name", "May", "Created", "Last used")
    for token in result.tokens:
        table.add_row(
            plain(token.name),
            "read" if token.read_only else "read and write",
            formats.local(token.created_at),
            formats.local(token.last_used) if token.last_used else "never",
        )
    return table


def listed_json(result: TokenListResult) -> str:
    return formats.escaped(result.model_dump_json(indent=2))


def revoked(result: TokenRevokeResult) -> str:
    return f"Revoked: {result.token.name}"

"""The list of the operations on tokens: neither HTTP nor MCP has them."""

from __future__ import annotations

from icm_site.operation import Command, Operation
from memories import token_texts
from memories.token_operations import token_create, token_list, token_revoke

OPERATIONS = [
    Operation(
        run=token_create,
        http=False,
        masked=False,
        example={"name": "backup-script"},
        commands=(
            Command(
                words=("token", "create"),
                formats={"text": token_texts.created},
                flags={"name": ()},
                note=token_texts.created_note,
            ),
        ),
    ),
    Operation(
        run=token_list,
        http=False,
        writes=False,
        commands=(
            Command(
                words=("token", "list"),
                formats={
                    "human": token_texts.listed,
                    "json": token_texts.listed_json,
                },
            ),
        ),
    ),
    Operation(
        run=token_revoke,
        http=False,
        example={"name": "backup-script"},
        commands=(
            Command(
                words=("token", "revoke"),
                formats={"text": token_texts.revoked},
                flags={"name": ()},
            ),
        ),
    ),
]

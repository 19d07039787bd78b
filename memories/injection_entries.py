"""The list of the operations of wake-up and injection, and how surfaces show them."""

from __future__ import annotations

from icm_site.operation import Command, Operation, Tool
from memories import injection_texts, texts
from memories.injection_operations import (
    project_context,
    recall_context,
    recall_project,
    save_project,
    wake_up_pack,
)

_PROJECT, _LIMIT = ("-p", "--project"), ("-l", "--limit")
_TOKENS = ("-t", "--max-tokens")
_PACK_TOKENS, _CONTEXT_TOKENS = (20, 4_000), (20, 32_000)

OPERATIONS = [
    Operation(
        run=wake_up_pack,
        writes=False,
        example={"max_tokens": 300},
        tool=Tool(
            name="icm_wake_up",
            formats={
                "markdown": injection_texts.woken_tool,
                "plain": injection_texts.woken_plain_tool,
            },
            lean=True,
            reads=True,
            ranges={"max_tokens": _PACK_TOKENS},
        ),
        commands=(
            Command(
                words=("wake-up",),
                formats={
                    "markdown": injection_texts.woken_markdown,
                    "plain": injection_texts.woken_plain,
                },
                flags={
                    "project": _PROJECT,
                    "max_tokens": _TOKENS,
                    "include_preferences": ("--no-preferences",),
                },
                ranges={"max_tokens": _PACK_TOKENS},
                note=injection_texts.miss_note,
            ),
        ),
    ),
    Operation(
        run=project_context,
        writes=False,
        example={"project": "shop"},
        tool=Tool(
            name="icm_context",
            formats={"text": injection_texts.context_tool},
            reads=True,
            ranges={"max_tokens": _CONTEXT_TOKENS},
        ),
        commands=(
            Command(
                words=("context",),
                formats={
                    "markdown": injection_texts.context_markdown,
                    "plain": injection_texts.context_plain,
                    "json": injection_texts.context_json,
                },
                flags={"project": _PROJECT, "max_tokens": _TOKENS},
                ranges={"max_tokens": _CONTEXT_TOKENS},
                note=injection_texts.miss_note,
            ),
        ),
    ),
    Operation(
        run=recall_context,
        writes=False,
        example={"query": "which database did we choose"},
        tool=Tool(
            name="icm_recall_context",
            formats={"text": injection_texts.block_tool},
            reads=True,
            ranges={"limit": (1, 100)},
            hidden=frozenset({"min_relevance"}),
        ),
        commands=(
            Command(
                words=("recall-context",),
                formats={"text": injection_texts.block},
                flags={
                    "query": (),
                    "project": _PROJECT,
                    "limit": _LIMIT,
                    "min_relevance": ("--min-relevance",),
                },
                ranges={"limit": (1, 500)},
                note=injection_texts.block_note,
            ),
        ),
    ),
    Operation(
        run=recall_project,
        writes=False,
        example={"project": "shop"},
        tool=Tool(
            name="icm_recall_project",
            formats={"text": texts.recalled_tool},
            compact=texts.recalled_compact,
            reads=True,
            ranges={"limit": (1, 100)},
        ),
        commands=(
            Command(
                words=("recall-project",),
                formats={
                    "toon": texts.recalled_toon,
                    "detail": texts.recalled_detail,
                    "json": texts.recalled_as_json,
                    "toml": texts.recalled_toml,
                },
                flags={"project": _PROJECT, "limit": _LIMIT},
                ranges={"limit": (1, 500)},
                note=texts.recall_notes,
            ),
        ),
    ),
    Operation(
        run=save_project,
        example={"content": "Deploys go out on Tuesdays.", "project": "shop"},
        tool=Tool(
            name="icm_save_project",
            formats={"text": texts.stored_tool},
            compact=texts.stored_compact,
            stores=True,
            idempotent=True,
            hidden=frozenset({"importance", "keywords"}),
        ),
        commands=(
            Command(
                words=("save-project",),
                formats={"text": texts.stored},
                flags={
                    "content": (),
                    "project": _PROJECT,
                    "importance": ("-i", "--importance"),
                    "keywords": ("-k", "--keywords"),
                },
            ),
        ),
    ),
]

"""The list of what memories offer, and how each surface shows it."""

from __future__ import annotations

from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool
from memories import texts
from memories.operations import (
    embeddings_status,
    memory_embed_all,
    memory_forget,
    memory_forget_topic,
    memory_get,
    memory_list,
    memory_list_topics,
    memory_recall,
    memory_rename_topic,
    memory_stats,
    memory_store,
    memory_undo,
    memory_update,
)
from memories.schemas import GetResult


def _project(caller: Caller) -> str:
    return caller.project


def _remembered_topic(caller: Caller) -> str:
    return caller.project or texts.NO_PROJECT


def _missing_exit(result: GetResult) -> int:
    return 0 if result.memory else 1


_TOPIC, _IMPORTANCE = ("-t", "--topic"), ("-i", "--importance")
_KEYWORDS, _LIMIT = ("-k", "--keywords"), ("-l", "--limit")

OPERATIONS = [
    Operation(
        run=memory_store,
        example={"topic": "decisions-shop", "content": "We chose Postgres 16."},
        tool=Tool(
            name="icm_memory_store",
            formats={"text": texts.stored_tool},
            compact=texts.stored_compact,
            lean=True,
            stores=True,
            idempotent=True,
            hidden=frozenset({"allow_secret"}),
        ),
        commands=(
            Command(
                words=("store",),
                formats={"text": texts.stored},
                flags={
                    "topic": _TOPIC,
                    "content": ("-c", "--content"),
                    "importance": _IMPORTANCE,
                    "keywords": _KEYWORDS,
                    "raw_excerpt": ("-r", "--raw"),
                },
            ),
            Command(
                words=("remember",),
                formats={"text": texts.stored},
                flags={
                    "content": (),
                    "topic": _TOPIC,
                    "importance": _IMPORTANCE,
                    "keywords": _KEYWORDS,
                    "raw_excerpt": ("-r", "--raw"),
                },
                fill={"topic": _remembered_topic},
                about="Store one durable fact under the name of the project you are in."
                "\n\nWith -t it is `icm store`; outside any project it is `general`.",
                note=texts.project_note,
            ),
        ),
    ),
    Operation(
        run=memory_recall,
        writes=False,
        example={"query": "which database did we choose"},
        tool=Tool(
            name="icm_memory_recall",
            formats={"text": texts.recalled_tool, "json": texts.recalled_json},
            compact=texts.recalled_compact,
            lean=True,
            reads=True,
            ranges={"limit": (1, 100), "max_tokens": (100, 32_000)},
            fill={"project": _project},
            hidden=frozenset({"engine"}),
        ),
        commands=(
            Command(
                words=("recall",),
                formats={
                    "toon": texts.recalled_toon,
                    "detail": texts.recalled_detail,
                    "json": texts.recalled_as_json,
                    "toml": texts.recalled_toml,
                },
                flags={
                    "query": (),
                    "topic": _TOPIC,
                    "keyword": ("-k", "--keyword"),
                    "project": ("-p", "--project"),
                    "limit": _LIMIT,
                },
                ranges={"limit": (1, 500), "max_tokens": (1, 1_000_000)},
                note=texts.recall_notes,
            ),
        ),
    ),
    Operation(
        run=memory_get,
        writes=False,
        example={"id": "01JZZZZZZZZZZZZZZZZZZZZZZZ"},
        tool=Tool(
            name="icm_memory_get",
            formats={"text": texts.shown, "json": texts.shown_json},
            lean=True,
            reads=True,
        ),
        commands=(
            Command(
                words=("show",),
                formats={"text": texts.shown, "json": texts.shown_json},
                flags={"id": ()},
                exit_code=_missing_exit,
            ),
            Command(
                words=("history",),
                formats={"text": texts.history, "json": texts.shown_json},
                about="Show the changes of one memory, the newest first.",
                flags={"id": ()},
                exit_code=_missing_exit,
            ),
        ),
    ),
    Operation(
        run=memory_list,
        writes=False,
        example={"all": True},
        commands=(
            Command(
                words=("list",),
                formats={
                    "human": texts.listed_table,
                    "toon": texts.listed_toon,
                    "json": texts.listed_json,
                    "toml": texts.listed_toml,
                },
                flags={
                    "topic": _TOPIC,
                    "all": ("-a", "--all"),
                    "sort": ("-s", "--sort"),
                    "limit": _LIMIT,
                },
                ranges={"limit": (1, 1_000_000)},
                note=texts.list_note,
            ),
        ),
    ),
    Operation(
        run=memory_update,
        example={
            "id": "01JZZZZZZZZZZZZZZZZZZZZZZZ",
            "content": "We chose Postgres 17.",
        },
        tool=Tool(
            name="icm_memory_update",
            formats={"text": texts.updated_tool},
            compact=texts.stored_compact,
            lean=True,
            stores=True,
            idempotent=True,
            hidden=frozenset({"allow_secret"}),
        ),
        commands=(
            Command(
                words=("update",),
                formats={"text": texts.updated},
                flags={
                    "id": (),
                    "content": ("-c", "--content"),
                    "topic": _TOPIC,
                    "importance": _IMPORTANCE,
                    "keywords": _KEYWORDS,
                    "raw_excerpt": ("-r", "--raw"),
                },
            ),
        ),
    ),
    Operation(
        run=memory_forget,
        example={"id": "01JZZZZZZZZZZZZZZZZZZZZZZZ"},
        tool=Tool(
            name="icm_memory_forget",
            formats={"text": texts.forgotten_tool},
            lean=True,
            destroys=True,
            required=("id",),
            hidden=frozenset({"topic"}),
        ),
        commands=(
            Command(
                words=("forget",),
                formats={"text": texts.forgotten},
                flags={"id": (), "topic": _TOPIC},
            ),
        ),
    ),
    Operation(
        run=memory_forget_topic,
        example={"topic": "decisions-shop"},
        tool=Tool(
            name="icm_memory_forget_topic",
            formats={"text": texts.forgotten_tool},
            destroys=True,
        ),
    ),
    Operation(
        run=memory_undo,
        example={"id": "01JZZZZZZZZZZZZZZZZZZZZZZZ"},
        tool=Tool(name="icm_memory_undo", formats={"text": texts.undone}, lean=True),
        commands=(
            Command(words=("undo",), formats={"text": texts.undone}, flags={"id": ()}),
        ),
    ),
    Operation(
        run=memory_list_topics,
        writes=False,
        tool=Tool(
            name="icm_memory_list_topics",
            formats={"text": texts.topics_tool},
            lean=True,
            reads=True,
        ),
        commands=(
            Command(
                words=("topics",),
                formats={"human": texts.topics_table, "json": texts.topics_json},
            ),
        ),
    ),
    Operation(
        run=memory_rename_topic,
        example={"old": "decisions-shop", "new": "decisions-store"},
        commands=(
            Command(
                words=("topics", "rename"),
                formats={"text": texts.renamed},
                flags={"old": (), "new": ()},
            ),
        ),
    ),
    Operation(
        run=memory_stats,
        writes=False,
        tool=Tool(name="icm_memory_stats", formats={"text": texts.stats}, reads=True),
        commands=(
            Command(
                words=("stats",),
                formats={"text": texts.stats, "json": texts.stats_json},
            ),
        ),
    ),
    Operation(
        run=memory_embed_all,
        long=True,
        tool=Tool(
            name="icm_memory_embed_all",
            formats={"text": texts.embedded},
            idempotent=True,
            needs_embedder=True,
            hidden=frozenset({"batch_size", "force", "migrate"}),
        ),
        commands=(
            Command(
                words=("embed",),
                formats={"text": texts.embedded},
                flags={"topic": _TOPIC, "batch_size": ("-b", "--batch-size")},
            ),
        ),
    ),
    Operation(
        run=embeddings_status,
        writes=False,
        commands=(
            Command(words=("embeddings", "status"), formats={"text": texts.embeddings}),
        ),
    ),
]

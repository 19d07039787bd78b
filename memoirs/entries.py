"""The list of what memoirs offer, and how each surface shows it."""

from __future__ import annotations

from icm_site.operation import Command, Operation, Tool
from memoirs import graph_entries, health_entries, intake_entries, texts
from memoirs.operations import (
    memoir_add_concept,
    memoir_create,
    memoir_delete,
    memoir_delete_concept,
    memoir_history,
    memoir_list,
    memoir_refine,
    memoir_search,
    memoir_search_all,
    memoir_show,
    memoir_update,
    memoir_update_concept,
)

_MEMOIR, _NAME = ("-m", "--memoir"), ("-n", "--name")
_DEFINITION, _DESCRIPTION = ("-d", "--definition"), ("-d", "--description")
_LABELS, _SOURCES = ("-l", "--labels"), ("-s", "--sources")
_LIMIT, _HIDDEN = ("-l", "--limit"), frozenset({"allow_secret"})

OPERATIONS = [
    Operation(
        run=memoir_create,
        example={
            "name": "system-architecture",
            "description": "System design decisions",
        },
        tool=Tool(
            name="icm_memoir_create",
            formats={"text": texts.created_tool},
            compact=texts.compact_id,
            hidden=_HIDDEN,
        ),
        commands=(
            Command(
                words=("memoir", "create"),
                formats={"text": texts.created},
                flags={"name": _NAME, "description": _DESCRIPTION},
            ),
        ),
    ),
    Operation(
        run=memoir_list,
        writes=False,
        tool=Tool(
            name="icm_memoir_list", formats={"text": texts.listed_tool}, reads=True
        ),
        commands=(
            Command(
                words=("memoir", "list"),
                formats={"human": texts.listed_table, "json": texts.as_json},
            ),
        ),
    ),
    Operation(
        run=memoir_show,
        writes=False,
        example={"name": "system-architecture"},
        tool=Tool(
            name="icm_memoir_show", formats={"text": texts.shown_tool}, reads=True
        ),
        commands=(
            Command(
                words=("memoir", "show"),
                formats={"text": texts.shown, "json": texts.as_json},
                flags={"name": ()},
            ),
        ),
    ),
    Operation(
        run=memoir_update,
        example={"name": "system-architecture", "description": "How the shop works"},
        tool=Tool(
            name="icm_memoir_update",
            formats={"text": texts.updated},
            compact=texts.compact_id,
            idempotent=True,
            hidden=_HIDDEN | {"threshold"},
        ),
        commands=(
            Command(
                words=("memoir", "update"),
                formats={"text": texts.updated},
                flags={
                    "name": (),
                    "description": _DESCRIPTION,
                    "new_name": ("-n", "--new-name"),
                    "threshold": ("-t", "--threshold"),
                },
            ),
        ),
    ),
    Operation(
        run=memoir_delete,
        example={"name": "system-architecture"},
        commands=(
            Command(
                words=("memoir", "delete"),
                formats={"text": texts.deleted},
                flags={"name": ()},
            ),
        ),
    ),
    Operation(
        run=memoir_add_concept,
        example={
            "memoir": "system-architecture",
            "name": "auth-service",
            "definition": "Handles JWT tokens and OAuth2 flows",
            "labels": "domain:auth,type:service",
        },
        tool=Tool(
            name="icm_memoir_add_concept",
            formats={"text": texts.added_tool},
            compact=texts.compact_id,
            stores=True,
            hidden=_HIDDEN | {"source_memory_ids"},
        ),
        commands=(
            Command(
                words=("memoir", "add-concept"),
                formats={"text": texts.added},
                flags={
                    "memoir": _MEMOIR,
                    "name": _NAME,
                    "definition": _DEFINITION,
                    "labels": _LABELS,
                    "source_memory_ids": _SOURCES,
                },
            ),
        ),
    ),
    Operation(
        run=memoir_refine,
        example={
            "memoir": "system-architecture",
            "name": "auth-service",
            "definition": "Issues JWT tokens; OAuth2 flows for partners",
        },
        tool=Tool(
            name="icm_memoir_refine",
            formats={"text": texts.refined_tool},
            compact=texts.compact_id,
            stores=True,
            hidden=_HIDDEN,
        ),
        commands=(
            Command(
                words=("memoir", "refine"),
                formats={"text": texts.refined},
                flags={
                    "memoir": _MEMOIR,
                    "name": _NAME,
                    "definition": _DEFINITION,
                    "source_memory_ids": _SOURCES,
                },
            ),
        ),
    ),
    Operation(
        run=memoir_update_concept,
        example={
            "memoir": "system-architecture",
            "name": "auth-service",
            "labels": "domain:auth,tier:1",
        },
        tool=Tool(
            name="icm_memoir_update_concept",
            formats={"text": texts.concept_updated},
            compact=texts.compact_id,
            idempotent=True,
            hidden=_HIDDEN,
        ),
        commands=(
            Command(
                words=("memoir", "update-concept"),
                formats={"text": texts.concept_updated},
                flags={
                    "memoir": _MEMOIR,
                    "name": _NAME,
                    "labels": _LABELS,
                    "confidence": ("-c", "--confidence"),
                },
            ),
        ),
    ),
    Operation(
        run=memoir_delete_concept,
        example={"memoir": "system-architecture", "name": "auth-service"},
        commands=(
            Command(
                words=("memoir", "delete-concept"),
                formats={"text": texts.concept_deleted},
                flags={"memoir": _MEMOIR, "name": _NAME},
            ),
        ),
    ),
    Operation(
        run=memoir_search,
        writes=False,
        example={"memoir": "system-architecture", "query": "authentication"},
        tool=Tool(
            name="icm_memoir_search",
            formats={"text": texts.found},
            compact=texts.found_compact,
            reads=True,
            ranges={"limit": (1, 100)},
        ),
        commands=(
            Command(
                words=("memoir", "search"),
                formats={"text": texts.found, "json": texts.as_json},
                flags={
                    "memoir": _MEMOIR,
                    "query": (),
                    "label": ("-L", "--label"),
                    "limit": _LIMIT,
                },
                ranges={"limit": (1, 500)},
            ),
        ),
    ),
    Operation(
        run=memoir_search_all,
        writes=False,
        example={"query": "authentication"},
        tool=Tool(
            name="icm_memoir_search_all",
            formats={"text": texts.found_everywhere_tool},
            compact=texts.found_compact,
            reads=True,
            ranges={"limit": (1, 100)},
        ),
        commands=(
            Command(
                words=("memoir", "search-all"),
                formats={"text": texts.found_everywhere, "json": texts.as_json},
                flags={"query": (), "limit": _LIMIT},
                ranges={"limit": (1, 500)},
            ),
        ),
    ),
    Operation(
        run=memoir_history,
        writes=False,
        example={"memoir": "system-architecture", "name": "auth-service"},
        commands=(
            Command(
                words=("memoir", "history"),
                formats={"text": texts.history, "json": texts.as_json},
                flags={"memoir": _MEMOIR, "name": ()},
            ),
        ),
    ),
    *graph_entries.OPERATIONS,
    *intake_entries.OPERATIONS,
    *health_entries.OPERATIONS,
]

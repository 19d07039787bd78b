"""The list of the operations that tidy up, and how each surface shows it."""

from __future__ import annotations

from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool
from memories import care_texts
from memories.care_operations import (
    embeddings_download,
    memory_consolidate,
    memory_decay,
    memory_prune,
    memory_purge,
    memory_related,
    schedule,
    suggestion_accept,
    suggestion_dismiss,
    suggestion_list,
)


def _project(caller: Caller) -> str:
    return caller.project


_ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
_TOPIC = ("-t", "--topic")

OPERATIONS = [
    Operation(
        run=suggestion_list,
        writes=False,
        tool=Tool(
            name="icm_suggestion_list",
            ranges={"limit": (1, 100)},
            formats={"text": care_texts.suggestions},
            reads=True,
        ),
        commands=(
            Command(
                words=("suggestions", "list"),
                formats={
                    "text": care_texts.suggestions,
                    "json": care_texts.suggestions_json,
                },
                flags={"status": ("-s", "--status"), "limit": ("-l", "--limit")},
                ranges={"limit": (1, 10_000)},
            ),
        ),
    ),
    Operation(
        run=suggestion_accept,
        example={"id": _ID},
        tool=Tool(name="icm_suggestion_accept", formats={"text": care_texts.accepted}),
        commands=(
            Command(
                words=("suggestions", "accept"),
                formats={"text": care_texts.accepted},
                flags={"id": ()},
            ),
        ),
    ),
    Operation(
        run=suggestion_dismiss,
        example={"id": _ID},
        tool=Tool(
            name="icm_suggestion_dismiss", formats={"text": care_texts.dismissed}
        ),
        commands=(
            Command(
                words=("suggestions", "dismiss"),
                formats={"text": care_texts.dismissed},
                flags={"id": ()},
            ),
        ),
    ),
    Operation(
        run=memory_related,
        writes=False,
        example={"id": _ID},
        tool=Tool(
            name="icm_memory_related",
            formats={"text": care_texts.related, "json": care_texts.related_json},
            reads=True,
            ranges={"depth": (1, 3), "limit": (1, 50)},
            fill={"project": _project},
        ),
        commands=(
            Command(
                words=("related",),
                formats={"text": care_texts.related, "json": care_texts.related_json},
                flags={
                    "id": (),
                    "depth": ("-D", "--depth"),
                    "limit": ("-l", "--limit"),
                    "project": ("-p", "--project"),
                },
                ranges={"depth": (1, 3), "limit": (1, 50)},
            ),
        ),
    ),
    Operation(
        run=memory_decay,
        http=False,
        commands=(
            Command(
                words=("decay",),
                formats={"text": care_texts.decayed},
                flags={"factor": ("-f", "--factor")},
            ),
        ),
    ),
    Operation(
        run=memory_prune,
        http=False,
        example={"dry_run": True},
        commands=(
            Command(
                words=("prune",),
                formats={"text": care_texts.pruned},
                flags={"threshold": ("-t", "--threshold")},
            ),
        ),
    ),
    Operation(
        run=memory_consolidate,
        example={"topic": "decisions-shop", "summary": "The shop runs on Postgres."},
        tool=Tool(
            name="icm_memory_consolidate",
            formats={"text": care_texts.consolidated},
            destroys=True,
            stores=True,
            required=("topic", "summary"),
            hidden=frozenset({"keep_originals"}),
        ),
        commands=(
            Command(
                words=("consolidate",),
                formats={"text": care_texts.consolidated_command},
                flags={"topic": _TOPIC, "summary": ("-s", "--summary")},
            ),
        ),
    ),
    Operation(
        run=memory_purge,
        http=False,
        example={"topic": "decisions-shop"},
        commands=(
            Command(
                words=("purge",),
                formats={"text": care_texts.purged},
                flags={
                    "id": (),
                    "topic": _TOPIC,
                    "project": ("-p", "--project"),
                    "query": ("-q", "--query"),
                    "yes": ("-y", "--yes"),
                },
            ),
        ),
    ),
    Operation(
        run=embeddings_download,
        http=False,
        commands=(
            Command(
                words=("embeddings", "download"),
                formats={"text": care_texts.downloaded},
                flags={"model": ()},
            ),
        ),
    ),
    Operation(
        run=schedule,
        http=False,
        commands=(
            Command(words=("schedule",), formats={"text": care_texts.scheduled}),
        ),
    ),
]

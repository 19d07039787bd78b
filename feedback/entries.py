"""The list of what feedback offers, and how each surface shows it."""

from __future__ import annotations

from feedback import texts
from feedback.operations import (
    feedback_apply,
    feedback_delete,
    feedback_helpful,
    feedback_list,
    feedback_record,
    feedback_search,
    feedback_stats,
)
from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool


def _surface(caller: Caller) -> str:
    return caller.surface


def _host(caller: Caller) -> str:
    return caller.host


_TOPIC, _LIMIT = ("-t", "--topic"), ("-l", "--limit")
_ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"

OPERATIONS = [
    Operation(
        run=feedback_record,
        example={
            "topic": "deploy-shop",
            "context": "The shop had to be released on a Friday.",
            "predicted": "Run deploy.sh.",
            "corrected": "Type make ship; deploy.sh is no longer in use.",
            "reason": "The script was replaced in March.",
            "source": "user",
        },
        tool=Tool(
            name="icm_feedback_record",
            formats={"text": texts.recorded},
            compact=texts.recorded_compact,
            stores=True,
            fill={"source": _host},
            hidden=frozenset({"allow_secret"}),
        ),
        commands=(
            Command(
                words=("feedback", "record"),
                formats={"text": texts.recorded},
                flags={
                    "topic": _TOPIC,
                    "context": ("-c", "--context"),
                    "predicted": ("-p", "--predicted"),
                    "corrected": ("--corrected",),
                    "reason": ("-r", "--reason"),
                    "source": ("-s", "--source"),
                },
                fill={"source": _surface},
            ),
        ),
    ),
    Operation(
        run=feedback_search,
        writes=False,
        example={"query": "how do we release the shop"},
        tool=Tool(
            name="icm_feedback_search",
            formats={"text": texts.found},
            compact=texts.found_compact,
            reads=True,
            ranges={"limit": (1, 100)},
        ),
        commands=(
            Command(
                words=("feedback", "search"),
                formats={"text": texts.found, "json": texts.found_json},
                flags={"query": (), "topic": _TOPIC, "limit": _LIMIT},
                ranges={"limit": (1, 500)},
            ),
        ),
    ),
    Operation(
        run=feedback_list,
        writes=False,
        commands=(
            Command(
                words=("feedback", "list"),
                formats={"text": texts.listed, "json": texts.listed_json},
                flags={"topic": _TOPIC, "limit": _LIMIT},
                ranges={"limit": (1, 10_000)},
            ),
        ),
    ),
    Operation(
        run=feedback_stats,
        writes=False,
        tool=Tool(name="icm_feedback_stats", formats={"text": texts.stats}, reads=True),
        commands=(
            Command(
                words=("feedback", "stats"),
                formats={"text": texts.stats, "json": texts.stats_json},
            ),
        ),
    ),
    Operation(
        run=feedback_apply,
        example={"id": _ID},
        tool=Tool(name="icm_feedback_apply", formats={"text": texts.applied}),
        commands=(
            Command(
                words=("feedback", "apply"),
                formats={"text": texts.applied},
                flags={"id": ()},
            ),
        ),
    ),
    Operation(
        run=feedback_helpful,
        example={"id": _ID},
        tool=Tool(
            name="icm_feedback_helpful",
            formats={"text": texts.helpful},
            compact=texts.helpful_compact,
            idempotent=True,
        ),
        commands=(
            Command(
                words=("feedback", "helpful"),
                formats={"text": texts.helpful},
                flags={"id": ()},
            ),
        ),
    ),
    Operation(
        run=feedback_delete,
        example={"id": _ID},
        commands=(
            Command(
                words=("feedback", "delete"),
                formats={"text": texts.deleted},
                flags={"id": ()},
            ),
        ),
    ),
]

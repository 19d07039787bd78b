"""How each surface shows distilling, patterns, learning, and search over all."""

from __future__ import annotations

from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool
from memoirs import intake_texts, search_texts, texts
from memoirs.intake_operations import (
    learn_project,
    memoir_distill,
    memory_extract_patterns,
)
from memoirs.operations import search_all


def _project(caller: Caller) -> str:
    return caller.project


OPERATIONS = [
    Operation(
        run=memoir_distill,
        example={"from_topic": "decisions-shop", "into": "system-architecture"},
        commands=(
            Command(
                words=("memoir", "distill"), formats={"text": intake_texts.distilled}
            ),
        ),
    ),
    Operation(
        run=memory_extract_patterns,
        example={"topic": "decisions-shop"},
        tool=Tool(
            name="icm_memory_extract_patterns",
            formats={"text": intake_texts.patterns},
            ranges={"min_cluster_size": (2, 50)},
        ),
        commands=(
            Command(
                words=("extract-patterns",),
                formats={"text": intake_texts.patterns, "json": texts.as_json},
                flags={"topic": ("-t", "--topic"), "memoir": ("-m", "--memoir")},
                ranges={"min_cluster_size": (2, 500)},
            ),
        ),
    ),
    Operation(
        run=learn_project,
        http=False,
        example={"directory": "."},
        tool=Tool(
            name="icm_learn",
            formats={"text": intake_texts.learned},
            idempotent=True,
        ),
        commands=(
            Command(
                words=("learn",),
                formats={"text": intake_texts.learned},
                flags={"directory": ("-d", "--dir"), "name": ("-n", "--name")},
            ),
        ),
    ),
    Operation(
        run=search_all,
        writes=False,
        example={"query": "who issues tokens"},
        tool=Tool(
            name="icm_search",
            formats={"text": search_texts.found},
            compact=search_texts.found_compact,
            reads=True,
            ranges={"limit": (1, 100), "max_tokens": (100, 32_000)},
            fill={"project": _project},
        ),
        commands=(
            Command(
                words=("search",),
                formats={"text": search_texts.found, "json": search_texts.found_json},
                flags={
                    "query": (),
                    "project": ("-p", "--project"),
                    "limit": ("-l", "--limit"),
                },
                ranges={"limit": (1, 500), "max_tokens": (1, 1_000_000)},
                note=search_texts.notes,
            ),
        ),
    ),
]

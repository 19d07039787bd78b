"""How each surface shows links, walks over them, and the whole graph."""

from __future__ import annotations

from icm_site.operation import Command, Operation, Tool
from memoirs import texts
from memoirs.operations import (
    memoir_delete_link,
    memoir_export,
    memoir_inspect,
    memoir_link,
    memoir_neighbors,
    memoir_update_link,
)

_MEMOIR = ("-m", "--memoir")
_EDGE = {
    "memoir": _MEMOIR,
    "from": ("--from",),
    "to": ("--to",),
    "relation": ("-r", "--relation"),
}
_EXAMPLE = {
    "memoir": "system-architecture",
    "from": "api-gateway",
    "to": "auth-service",
    "relation": "depends_on",
}

OPERATIONS = [
    Operation(
        run=memoir_link,
        example=_EXAMPLE,
        tool=Tool(
            name="icm_memoir_link",
            formats={"text": texts.linked_tool},
            compact=texts.compact_link,
            hidden=frozenset({"weight"}),
        ),
        commands=(
            Command(
                words=("memoir", "link"),
                formats={"text": texts.linked},
                flags={**_EDGE, "weight": ("-w", "--weight")},
            ),
        ),
    ),
    Operation(
        run=memoir_update_link,
        example={**_EXAMPLE, "weight": 0.5},
        commands=(
            Command(
                words=("memoir", "update-link"),
                formats={"text": texts.link_updated},
                flags={**_EDGE, "weight": ("-w", "--weight")},
            ),
        ),
    ),
    Operation(
        run=memoir_delete_link,
        example=_EXAMPLE,
        commands=(
            Command(
                words=("memoir", "delete-link"),
                formats={"text": texts.link_deleted},
                flags=_EDGE,
            ),
        ),
    ),
    Operation(
        run=memoir_neighbors,
        writes=False,
        example={"memoir": "system-architecture", "name": "auth-service"},
        commands=(
            Command(
                words=("memoir", "neighbors"),
                formats={"text": texts.neighbors, "json": texts.as_json},
                flags={
                    "memoir": _MEMOIR,
                    "name": (),
                    "relation": ("-r", "--relation"),
                },
            ),
        ),
    ),
    Operation(
        run=memoir_inspect,
        writes=False,
        example={"memoir": "system-architecture", "name": "auth-service"},
        tool=Tool(
            name="icm_memoir_inspect",
            formats={"text": texts.inspected_tool},
            reads=True,
            ranges={"depth": (1, 3)},
        ),
        commands=(
            Command(
                words=("memoir", "inspect"),
                formats={"text": texts.inspected, "json": texts.as_json},
                flags={"memoir": _MEMOIR, "name": (), "depth": ("-D", "--depth")},
                ranges={"depth": (1, 3)},
            ),
        ),
    ),
    Operation(
        run=memoir_export,
        writes=False,
        example={"name": "system-architecture", "format": "ai"},
        tool=Tool(
            name="icm_memoir_export", formats={"text": texts.exported}, reads=True
        ),
        commands=(
            Command(
                words=("memoir", "export"),
                formats={"text": texts.exported},
                flags={"name": _MEMOIR, "format": ("-f", "--format")},
            ),
        ),
    ),
]

"""The list of the operations on projects, and how each surface shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icm_site.operation import Command, Operation
from memories import formats
from memories.formats import plain
from memories.project_operations import (
    AliasResult,
    MergeProjectsResult,
    ProjectsResult,
    project_alias,
    project_list,
    project_merge,
)

if TYPE_CHECKING:
    from rich.table import Table

NONE = "No projects yet."


def listed(result: ProjectsResult) -> str | Table:
    """A table; one sentence where there is nothing to list."""
    if not result.projects:
        return NONE
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column("Project")
    table.add_column("Memories", justify="right")
    table.add_column("Last seen")
    table.add_column("Other names")
    table.add_column("Folder")
    for row in result.projects:
        seen = f"{row.last_seen.astimezone():%Y-%m-%d}" if row.last_seen else ""
        names = plain(", ".join(row.aliases))
        folder = plain(row.paths[-1]) if row.paths else ""
        table.add_row(plain(row.name), str(row.memories), seen, names, folder)
    return table


def listed_json(result: ProjectsResult) -> str:
    return formats.dumps(result.model_dump(mode="json")["projects"])


def merged(result: MergeProjectsResult) -> str:
    lines = [
        f"Merged '{result.old}' into '{result.new}': "
        f"{result.moved} memories of {result.topics} topics moved."
    ]
    if result.merged:
        lines.append(f"{result.merged} were there already.")
    if result.left:
        lines.append(f"{result.left} topics belong to another project and stay.")
    if result.change:
        lines.append(f"Undo with: icm undo {result.change}")
    return "\n".join(lines)


def aliased(result: AliasResult) -> str:
    verb = "no longer means" if result.removed else "now means"
    return f"'{plain(result.old)}' {verb} '{plain(result.new)}'."


OPERATIONS = [
    Operation(
        run=project_list,
        writes=False,
        commands=(
            Command(
                words=("projects",), formats={"human": listed, "json": listed_json}
            ),
        ),
    ),
    Operation(
        run=project_merge,
        http=False,
        example={"old": "shop", "new": "store"},
        commands=(
            Command(
                words=("projects", "merge"),
                formats={"text": merged},
                flags={"old": (), "new": ()},
            ),
        ),
    ),
    Operation(
        run=project_alias,
        http=False,
        example={"old": "old-shop", "new": "shop"},
        commands=(
            Command(
                words=("projects", "alias"),
                formats={"text": aliased},
                flags={"old": (), "new": ()},
            ),
        ),
    ),
]

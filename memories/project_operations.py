"""The operations on projects: which there are, and names that mean the same."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from django.utils import timezone
from pydantic import Field

from icm_site.caller import Caller
from icm_site.errors import Conflict
from icm_site.operation import Params, Result
from memories import embedding, project_records
from memories.schemas import NoParams


class ProjectRow(Result):
    name: str
    memories: int
    aliases: list[str]
    paths: list[str]
    last_seen: datetime | None


class ProjectsResult(Result):
    projects: list[ProjectRow]


class MergeProjectsParams(Params):
    old: str = Field(description="Project that is to end")
    new: str = Field(description="Project that its memories go to")


class MergeProjectsResult(Result):
    old: str
    new: str
    topics: int
    moved: int
    merged: int
    left: int
    change: str | None


class AliasParams(Params):
    old: str = Field(description="The other name")
    new: str = Field(description="The project that it means")
    remove: bool = Field(False, description="Take the other name back")


class AliasResult(Result):
    old: str
    new: str
    removed: bool


def project_list(params: NoParams, caller: Caller) -> ProjectsResult:
    """List the projects with the number of their memories and their other names."""
    del params, caller
    rows = [
        ProjectRow(
            name=row.name,
            memories=row.memories,
            aliases=list(row.aliases),
            paths=list(row.paths),
            last_seen=row.last_seen,
        )
        for row in project_records.listed()
    ]
    return ProjectsResult(projects=rows)


def project_merge(
    params: MergeProjectsParams,
    caller: Caller,
    progress: embedding.Progress | None = None,
) -> MergeProjectsResult:
    """Make two projects one: topics are renamed, the old name stays an alias.

    Folders of the old project go on under the new one. It can be undone.
    """
    done = project_records.merge(
        params.old, params.new, caller=caller, now=timezone.now()
    )
    if done.moved and embedding.database_embedder() is not None:
        # The merge is done, so a backfill that runs elsewhere is no failure of it.
        with suppress(Conflict):
            embedding.backfill(progress=progress)
    return MergeProjectsResult(
        old=done.old,
        new=done.new,
        topics=done.topics,
        moved=done.moved,
        merged=done.merged,
        left=done.left,
        change=done.change.ulid if done.change else None,
    )


def project_alias(params: AliasParams, caller: Caller) -> AliasResult:
    """Let another name mean a project, without touching what is stored."""
    del caller
    project_records.alias(
        params.old, params.new, now=timezone.now(), remove=params.remove
    )
    return AliasResult(old=params.old, new=params.new, removed=params.remove)

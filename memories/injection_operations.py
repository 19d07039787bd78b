"""The operations that give a session what it should know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils import timezone

from icm_site import conf
from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from memories import known_projects, operations, recall, snapshot, wake_up
from memories.driver import raw_connection
from memories.injection_schemas import (
    ContextParams,
    ContextResult,
    RecallContextParams,
    RecallContextResult,
    RecallProjectParams,
    SaveProjectParams,
    SectionResult,
    WakeUpParams,
    WakeUpResult,
)
from memories.models import Memory
from memories.schemas import RecallParams, RecallResult, StoreParams, StoreResult
from memories.standing import Section

NONE = ("", "-")


def wake_up_pack(params: WakeUpParams, caller: Caller) -> WakeUpResult:
    """What to know before work: critical and high memories, preferences.

    Once, when a session starts.
    """
    project = _project(params.project, caller)
    pack = wake_up.pack(
        raw_connection(),
        project=project,
        max_tokens=params.max_tokens,
        now=timezone.now(),
        preferences=params.include_preferences,
    )
    return WakeUpResult(
        project=project,
        sections=_sections(pack.sections),
        ids=_ulids(pack.ids),
        miss=known_projects.miss(raw_connection(), project),
    )


def project_context(params: ContextParams, caller: Caller) -> ContextResult:
    """What is on record of the project, of any importance, and the preferences."""
    project = _project(params.project, caller) or ""
    found = snapshot.snapshot(
        raw_connection(), project=project, max_tokens=params.max_tokens
    )
    return ContextResult(
        project=project,
        sections=_sections(found.sections),
        ids=_ulids(found.ids),
        total_chars=found.total_chars,
        max_chars=found.max_chars,
        over_budget=found.over_budget,
        dropped=found.dropped,
        miss=known_projects.miss(raw_connection(), project),
    )


def recall_context(params: RecallContextParams, caller: Caller) -> RecallContextResult:
    """Recall as a block of notes to put before a prompt."""
    project = _project(params.project, caller)
    if project == "":
        project = None  # Asked for by a person or an agent, outside any project.
    asked = RecallParams.model_validate(
        params.model_dump(exclude={"project"}) | {"project": project}
    )
    found = operations.memory_recall(asked, caller)
    less = 0 if found.hits else _less_relevant(asked)
    below = f"Left out as less relevant than {params.min_relevance:g}: {less}."
    return RecallContextResult(
        query=params.query,
        project=project or "",
        hits=found.hits,
        notes=[*found.notes, *([below] if less else [])],
        miss=found.miss,
    )


def _less_relevant(asked: RecallParams) -> int:
    """How many memories a question without an answer leads to all the same."""
    if not asked.min_relevance:
        return 0
    every = asked.model_dump(exclude={"explain"}) | {"min_relevance": 0.0}
    return len(recall.recall(**every, count=False).hits)


def recall_project(params: RecallProjectParams, caller: Caller) -> RecallResult:
    """Recall what is known of the project as such. For a question, use recall."""
    project = _own_project(params.project, caller)
    asked = RecallParams.model_validate(
        {"query": project, "project": project, "limit": params.limit}
    )
    return operations.memory_recall(asked, caller)


def save_project(params: SaveProjectParams, caller: Caller) -> StoreResult:
    """Store a fact about the project under context-<project>."""
    project = _own_project(params.project, caller)
    fields = params.model_dump(exclude={"project"}) | {"topic": f"context-{project}"}
    asked = StoreParams.model_validate(fields)
    return operations.memory_store(asked, caller)


def _project(given: str | None, caller: Caller) -> str | None:
    """The project meant: the caller's ("" outside any) unless one is given."""
    if given is None:
        return caller.project
    if given.strip() in NONE:
        return None
    aliases = conf.current().projects.aliases
    return known_projects.named(raw_connection(), given, aliases)


def _own_project(given: str | None, caller: Caller) -> str:
    project = _project(given, caller)
    if not project:
        raise InvalidInput(
            "this folder belongs to no project: work in a project's folder, "
            "or name the project"
        )
    return project


def _sections(found: Iterable[Section]) -> list[SectionResult]:
    return [SectionResult(title=one.title, lines=list(one.lines)) for one in found]


def _ulids(keys: Sequence[int]) -> list[str]:
    rows = dict(Memory.objects.filter(pk__in=keys).values_list("pk", "ulid"))
    return [rows[key] for key in keys if key in rows]

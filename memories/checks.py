"""System checks: misconfiguration said with an id and a hint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connection

from icm_site.sqlite.capabilities import capabilities
from memories import embedder


@register(Tags.database)
def sqlite_modules(
    app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn of a SQLite that lacks what search is best with."""
    del app_configs, kwargs
    if not databases:
        return []
    can = capabilities(connection)
    found: list[CheckMessage] = []
    if not can.fts5:
        found.append(
            Warning(
                f"SQLite {can.sqlite_version} was built without FTS5.",
                hint="Search falls back to substrings; use another Python build.",
                id="memories.W001",
            )
        )
    if not can.vec0:
        found.append(
            Warning(
                "sqlite-vec could not be loaded.",
                hint="Vectors are searched in memory instead; nothing else changes.",
                id="memories.W002",
            )
        )
    return found


@register()
def packaged_model(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Warn of a platform without the packaged model while it is asked for."""
    del app_configs, kwargs
    reason = embedder.packaged_reason()
    if embedder.configured() != embedder.PACKAGED or not reason:
        return []
    return [
        Warning(
            f"Search by meaning is off: {reason}.",
            hint="Set embeddings.model to a model of fastembed, or "
            "embeddings.enabled = false.",
            id="memories.W003",
        )
    ]

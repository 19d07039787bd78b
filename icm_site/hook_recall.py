"""How a hook finds memories: by recall in the resident, else by words alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from icm_site.hooks import Ask, Found, Note
from icm_site.resident import place
from icm_site.sqlite.address import uri
from memories import projects

if TYPE_CHECKING:
    import sqlite3

    from icm_site.conf import Config
    from memories.scope import Connection
    from memories.search import Vectors

Row = tuple[int, str, str]

SPARE = 5
# The file was opened by others before; a hook does not wait for a lock.
BUSY_SECONDS = 0.2

SUMMARIES = "SELECT id, topic, summary FROM memories WHERE id IN ({})"


def warm(ask: Ask, config: Config) -> Found:
    """What words and meaning find; it counts as access once the answer is out."""
    from django.utils import timezone

    from icm_site import afterwards
    from memories import matrices, recall

    known = _settings_of(config)
    project = _project(ask, known)
    raw = matrices.raw_connection()
    vector, vectors = recall.by_meaning(ask.query)
    rows = _found(raw, ask, known, project, vector, vectors)
    keys = [row[0] for row in rows]
    afterwards.do(lambda: recall.count_access(keys, now=timezone.now()))
    return Found(_notes(rows, project), project)


def cold(ask: Ask, flags: Mapping[str, str | bool]) -> Found:
    """What the words find, on a connection that only reads.

    Raises sqlite3.Error for a database that is missing, locked or none of ours.
    """
    known = _settings(ask, flags)
    project = _project(ask, known)
    with closing(_opened(known.database)) as raw:
        rows = _found(raw, ask, known, project)
    return Found(_notes(rows, project), project)


def _found(
    raw: Connection,
    ask: Ask,
    known: Settings,
    project: str,
    vector: Sequence[float] | None = None,
    vectors: Vectors | None = None,
) -> list[Row]:
    """The rows to show, best first in each tier."""
    from memories import marks, tiers

    hits = tiers.find(
        raw,
        ask.query,
        tiers.scopes(raw, None, None, project),
        # Outside any project, what belongs to one is left out afterwards.
        limit=ask.limit if project else ask.limit * SPARE,
        min_score=ask.floor,
        query_vector=vector,
        vectors=vectors,
        marked=known.affects_recall and marks.exist(raw),
    )
    keys = [hit.memory_id for hit in hits if hit.score >= ask.floor]
    statement = SUMMARIES.format(",".join("?" * len(keys)))
    rows = {row[0]: row for row in raw.execute(statement, keys)}
    shown = [rows[key] for key in keys if key in rows and _is_near(rows[key], project)]
    return shown[: ask.limit]


def _is_near(row: Row, project: str) -> bool:
    return _tier(row[1], project) is not None


class Settings(NamedTuple):
    """What a hook needs to know of the configuration."""

    database: str
    name: str | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    affects_recall: bool = True


def _settings(ask: Ask, flags: Mapping[str, str | bool]) -> Settings:
    """The settings in force; reading files takes longer than the search, if any."""
    cwd = ask.cwd or os.getcwd()
    database = place.database(ask.env, cwd, flags)
    if database and place.is_plain(ask.env, cwd):
        return Settings(database)
    from icm_site import conf

    return _settings_of(conf.load(ask.env, cwd, flags=flags))


def _settings_of(config: Config) -> Settings:
    return Settings(
        str(config.database_path),
        config.project.name,
        config.projects.aliases,
        config.feedback.affects_recall,
    )


def _opened(database: str) -> sqlite3.Connection:
    # Not `sqlite3`: what it adds to the C module is dates, which take 5 ms to import.
    import _sqlite3

    opened: sqlite3.Connection = _sqlite3.connect(
        uri(database, "mode=ro"),
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
    )
    return opened


def _project(ask: Ask, known: Settings) -> str:
    found = projects.project_name(
        ask.cwd or os.getcwd(),
        env=ask.env,
        name=known.name,
        aliases=known.aliases,
    )
    return found or ""


def _notes(rows: Sequence[Row], project: str) -> list[Note]:
    return [Note(t, text, _tier(t, project) or 0) for _, t, text in rows]


def _tier(topic: str, project: str) -> int | None:
    """0 for the project, 1 for no project, 2 for the person; None: another's."""
    if projects.is_global_topic(topic):
        return 2
    if project and projects.segment_match(topic, project):
        return 0
    return 1 if projects.is_kind_only(topic) else None

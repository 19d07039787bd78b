"""How a hook finds memories: by recall in the resident, else by words alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
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

# Where there is no project, what belongs to one is left out after the search.
SPARE = 5
# The file was opened by others before; a hook does not wait for a lock.
BUSY_SECONDS = 0.2

SUMMARIES = "SELECT id, topic, summary FROM memories WHERE id IN ({})"


def warm(ask: Ask, config: Config) -> Found:
    """What recall finds, with every arm that there is."""
    from memories.recall import recall

    project = _project(ask, _settings_of(config))
    answer = recall(
        query=ask.query,
        project=project,
        limit=_wanted(ask, project),
        min_score=ask.floor,
    )
    rows = ((hit.memory.topic, hit.memory.summary) for hit in answer.hits)
    return Found(_notes(rows, ask, project), project)


def cold(ask: Ask, flags: Mapping[str, str | bool]) -> Found:
    """What the words find, on a connection that only reads.

    Raises sqlite3.Error for a database that is missing, locked or none of ours.
    """
    from memories import marks, tiers

    known = _settings(ask, flags)
    project = _project(ask, known)
    with closing(_opened(known.database)) as raw:
        marked = known.affects_recall and marks.exist(raw)
        hits = tiers.find(
            raw,
            ask.query,
            tiers.scopes(raw, None, None, project),
            limit=_wanted(ask, project),
            min_score=ask.floor,
            marked=marked,
        )
        rows = _rows(raw, [hit.memory_id for hit in hits if hit.score >= ask.floor])
    return Found(_notes(rows, ask, project), project)


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


def _wanted(ask: Ask, project: str) -> int:
    return ask.limit if project else ask.limit * SPARE


def _rows(raw: Connection, keys: list[int]) -> list[tuple[str, str]]:
    statement = SUMMARIES.format(",".join("?" * len(keys)))
    found = {row[0]: (row[1], row[2]) for row in raw.execute(statement, keys)}
    return [found[key] for key in keys if key in found]


def _notes(rows: Iterable[tuple[str, str]], ask: Ask, project: str) -> list[Note]:
    """Notes of the project, of no project and of the person; never of another's."""
    found = []
    for topic, summary in rows:
        if projects.is_global_topic(topic):
            found.append(Note(topic, summary, 2))
        elif project and projects.segment_match(topic, project):
            found.append(Note(topic, summary, 0))
        elif projects.is_kind_only(topic):
            found.append(Note(topic, summary, 1))
    return found[: ask.limit]

"""The memories as a hook sees them: in the resident, or on a connection of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from icm_site.hooks.notes import Note
from icm_site.resident import place
from icm_site.sqlite.address import uri
from memories import known_projects, outgoing, projects, shown

if TYPE_CHECKING:
    import sqlite3

    from icm_site.conf import Config
    from memories.scope import Connection
    from memories.search import Vectors
    from memories.vector_rows import Needle
    from memories.words import Source

    # A query's vector and what to compare it with.
    Meaning = Callable[[str], tuple[Needle | None, Vectors | None]]

# The file was opened by others before; a hook does not wait for a lock.
BUSY_SECONDS = 0.2
# Outside any project, what belongs to one is left out afterwards.
SPARE = 5
READ_ONLY = "ICM_READONLY"

SUMMARIES = "SELECT id, topic, summary, origin FROM memories WHERE id IN ({})"


class Settings(NamedTuple):
    """What a hook needs to know of the configuration, with its defaults."""

    database: str
    read_only: bool = False
    name: str | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    affects_recall: bool = True
    recall_enabled: bool = True
    limit: int = 5
    prompt_tokens: int = 500
    start_tokens: int = 500
    session_tokens: int = 2_000
    keep_days: int = 90
    preferences: bool = True
    capture: bool = True
    extract_every: int = 3
    secrets: outgoing.Patterns = ((), ())


class Memory:
    """One database for one run. `raw` raises sqlite3.Error where it cannot be read."""

    def __init__(
        self,
        settings: Settings,
        project: str,
        connect: Callable[[], Connection],
        *,
        meaning: Meaning | None = None,
        words: Source | None = None,
    ) -> None:
        self.settings, self._derived = settings, project
        self.warm = meaning is not None
        self._connect, self._meaning, self._words = connect, meaning, words
        self._raw: Connection | None = None
        self._project: str | None = None

    @property
    def project(self) -> str:
        """The project that is worked in, by the name it goes by now; "" for none."""
        if self._project is None:
            try:
                self._project = known_projects.named(
                    self.raw, self._derived, self.settings.aliases
                )
            # Without the database there are the names of the configuration.
            except Exception:
                self._project = projects.current(self._derived, self.settings.aliases)
        return self._project

    @property
    def raw(self) -> Connection:
        """A DB-API connection."""
        if self._raw is None:
            self._raw = self._connect()
        return self._raw

    def shown(self, session: str) -> Collection[int]:
        """The memories that a session was shown and that did not change since."""
        return shown.unchanged(self.raw, session) if session else ()

    def tokens_left(self, session: str) -> int:
        """What is left of a session's budget."""
        spent = shown.spent(self.raw, session) if session else 0
        return max(self.settings.session_tokens - spent, 0)

    def find(
        self, query: str, *, limit: int, session: str, topic: str | None = None
    ) -> list[Note]:
        """What bears on a text and was not shown, best first in each tier.

        Only of the project, of no project at all, and what belongs to the person.
        """
        from memories import marks, rank, tiers
        from memories.search import INDEX

        vector, vectors = self._meaning(query) if self._meaning else (None, None)
        hits = tiers.find(
            self.raw,
            query,
            tiers.scopes(self.raw, topic, None, self.project),
            limit=limit if self.project else limit * SPARE,
            min_relevance=rank.HOOK_FLOOR,
            query_vector=vector,
            vectors=vectors,
            marked=self.settings.affects_recall and marks.exist(self.raw),
            words=self._words or INDEX,
            exclude=self.shown(session),
        )
        scores = {hit.memory_id: hit.relevance for hit in hits}
        return self._notes(scores)[:limit]

    def find_any(
        self,
        queries: Sequence[str],
        *,
        limit: int,
        session: str,
        topic: str | None = None,
    ) -> list[Note]:
        """What bears on any of these texts, as `find` has it; best first of several."""
        found = [
            self.find(query, limit=limit, session=session, topic=topic)
            for query in queries
        ]
        if len(found) == 1:
            return found[0]
        best: dict[int, Note] = {}
        for note in (note for notes in found for note in notes):
            if note.id not in best or best[note.id].score < note.score:
                best[note.id] = note
        return sorted(best.values(), key=lambda note: (-note.score, note.id))[:limit]

    def _notes(self, scores: Mapping[int, float]) -> list[Note]:
        statement = SUMMARIES.format(",".join("?" * len(scores)))
        rows = {row[0]: row for row in self.raw.execute(statement, list(scores))}
        found = []
        for key, score in scores.items():
            _, topic, summary, origin = rows.get(key, (key, "", "", ""))
            near = tier(topic, self.project)
            if topic and near is not None:
                found.append(Note(key, topic, summary, near, score, origin))
        return found


def tier(topic: str, project: str) -> int | None:
    """0 for the project, 1 for no project, 2 for the person; None: another's."""
    if projects.is_global_topic(topic):
        return 2
    if project and projects.segment_match(topic, project):
        return 0
    return 1 if projects.is_kind_only(topic) else None


def warm(cwd: str, env: Mapping[str, str], config: Config) -> Memory:
    """The memory of the resident's database: words and meaning."""
    from memories import driver, matrices, recall

    known = settings_of(config)
    return Memory(
        known,
        _project(cwd, env, known),
        driver.raw_connection,
        meaning=recall.by_meaning,
        words=matrices.words(),
    )


def cold(cwd: str, env: Mapping[str, str], flags: Mapping[str, str | bool]) -> Memory:
    """The same from words alone, on a connection that only reads."""
    known = settings_at(cwd, env, flags)
    outgoing.use(known.secrets)
    return Memory(
        known, _project(cwd, env, known), lambda: opened(known.database, "ro")
    )


def opened(database: str, mode: str) -> sqlite3.Connection:
    """A connection of our own, in mode ro or rw; raises sqlite3.Error."""
    # Not `sqlite3`: what it adds to the C module is dates, which take 5 ms to import.
    import _sqlite3

    raw: sqlite3.Connection = _sqlite3.connect(
        uri(database, f"mode={mode}"),
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
    )
    if mode == "rw":
        # As everywhere else: a note that a power failure takes is worth no waiting.
        raw.execute("PRAGMA synchronous = NORMAL")
    return raw


def settings_at(
    cwd: str, env: Mapping[str, str], flags: Mapping[str, str | bool]
) -> Settings:
    """The settings in force; reading files takes longer than the search, if any."""
    database = place.database(env, cwd, flags)
    if database and place.is_plain(env, cwd):
        return Settings(database, read_only=env.get(READ_ONLY, "") not in ("", "0"))
    from icm_site import conf
    from icm_site.errors import IcmError

    try:
        return settings_of(conf.load(env, cwd, flags=flags))
    except IcmError:
        # A file with a mistake in it: `icm config` says so, a hook goes on without.
        return settings_of(conf.load(env, cwd, flags=flags, files=False))


def settings_of(config: Config) -> Settings:
    """What of a configuration matters here."""
    return Settings(
        str(config.database_path),
        read_only=config.read_only,
        name=config.project.name,
        aliases=config.projects.aliases,
        affects_recall=config.feedback.affects_recall,
        recall_enabled=config.recall.enabled,
        limit=config.recall.limit,
        prompt_tokens=config.recall.max_tokens,
        start_tokens=config.wakeup.max_tokens,
        session_tokens=config.hooks.session_tokens,
        keep_days=config.hooks.keep_days,
        preferences=config.wakeup.include_preferences,
        capture=config.extraction.enabled,
        extract_every=config.extraction.extract_every,
        secrets=outgoing.patterns_of(config),
    )


def _project(cwd: str, env: Mapping[str, str], known: Settings) -> str:
    return projects.project_name(cwd or os.sep, env=env, name=known.name) or ""

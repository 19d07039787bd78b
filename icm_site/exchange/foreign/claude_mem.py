"""`claude-mem.db` of claude-mem: what an agent noted of its sessions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import database, staging
from icm_site.exchange.foreign.moments import moment
from icm_site.exchange.foreign.staging import Notes, Row

PROGRAM = "claude-mem"
_KNOWN = ("id", "memory_session_id", "sdk_session_id", "project", "merged_into_project")
_TIMES = ("created_at", "created_at_epoch")
# The second group has no place here: counts, hashes and names of models.
OBSERVATION = (
    *(*_KNOWN, *_TIMES, "type", "title", "subtitle", "narrative", "text", "facts"),
    *("concepts", "files_read", "files_modified"),
)
SUMMARY = (
    *(*_KNOWN, *_TIMES, "request", "investigated", "learned", "completed"),
    *("next_steps", "notes", "files_read", "files_edited"),
)
DIRECTIVE = (*("id", "scope", "project", "content", "status", "source"), *_TIMES)
_TOPICS = {"decision": "decisions", "bugfix": "errors-resolved"}
_SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def matches(raw: sqlite3.Connection) -> bool:
    """Whether a SQLite file has that program's tables."""
    held = database.columns(raw, "observations")
    return "project" in held and "sdk_sessions" in database.tables(raw)


def rows(path: Path, notes: Notes) -> Iterator[Row]:
    """Observations, summaries of sessions and directives. Raises InvalidInput."""
    with database.opened(path) as raw:
        if not matches(raw):
            raise InvalidInput(f"{path} is no database of claude-mem")
        why = "holds what was typed, and no memory"
        for table in ("user_prompts", "pending_messages"):
            if table in database.tables(raw):
                notes.table(table, database.count(raw, table), why)
        readers = (
            ("observations", OBSERVATION, _observation),
            ("session_summaries", SUMMARY, _summary),
            ("directives", DIRECTIVE, _directive),
        )
        for table, wanted, read in readers:
            for row in database.rows(raw, table, wanted):
                made = read(row, notes)
                if made:
                    yield made


def _observation(row: Mapping[str, Any], notes: Notes) -> Row | None:
    kind = str(row["type"] or "")
    facts = [f"- {fact}" for fact in _list(row["facts"])]
    told = row["narrative"] or row["text"] or row["subtitle"]
    lines = [str(each) for each in (row["title"], told) if each]
    topic = _TOPICS.get(kind, "context")
    return _memory(
        "observation",
        row,
        notes,
        topic=staging.topic(topic, _project(row)),
        text="\n".join([*lines, *facts]),
        keywords=[*_list(row["concepts"]), *([f"kind:{kind}"] if kind else [])],
        files=[*_list(row["files_read"]), *_list(row["files_modified"])],
    )


def _summary(row: Mapping[str, Any], notes: Notes) -> Row | None:
    lines = [
        f"{name.replace('_', ' ').capitalize()}: {row[name]}"
        for name in _SAID
        if row[name]
    ]
    return _memory(
        "summary",
        row,
        notes,
        topic=staging.topic("context", _project(row)),
        text="\n".join(lines),
        keywords=["kind:summary"],
        files=[*_list(row["files_read"]), *_list(row["files_edited"])],
    )


def _directive(row: Mapping[str, Any], notes: Notes) -> Row | None:
    if row["status"] not in (None, "active"):
        notes.add("a directive that is not in force was left out")
        return None
    topic = staging.topic("rules", str(row["project"] or ""))
    return _memory(
        "directive",
        row,
        notes,
        topic=topic if row["project"] else "preferences",
        text=str(row["content"] or ""),
        keywords=["kind:directive"],
        files=[],
    )


def _memory(
    what: str,
    row: Mapping[str, Any],
    notes: Notes,
    *,
    topic: str,
    text: str,
    keywords: list[str],
    files: list[str],
) -> Row | None:
    at = moment(row["created_at_epoch"] or row["created_at"])
    session = str(row.get("memory_session_id") or row.get("sdk_session_id") or "")
    # Numbers alone would be the same in every database of that program.
    made = staging.memory(
        program=PROGRAM,
        key=f"{what}\0{session}\0{row['id']}\0{at.isoformat()}",
        topic=topic,
        text=text,
        notes=notes,
        at=at,
        keywords=keywords,
        source={"files": list(dict.fromkeys(files))[:100]} if files else {},
    )
    return made and made | {"agent_session": session[:255]}


def _project(row: Mapping[str, Any]) -> str:
    return str(row["merged_into_project"] or row["project"] or "")


def _list(value: Any) -> list[str]:
    """A list that stands in a column as JSON; older versions have plain text there."""
    try:
        found = json.loads(value or "[]")
    except (TypeError, ValueError, RecursionError):
        return [str(value)]
    return [str(each) for each in found] if isinstance(found, list) else [str(found)]

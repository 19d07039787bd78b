"""The context snapshot: the person's preferences and what a project has on record.

Takes any SQLite connection and imports neither Django nor numpy.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memories import projects, standing
from memories.scope import Connection
from memories.standing import CHARS_PER_TOKEN, Form, Line, Row, Section

TITLE = "ICM Context Snapshot"
TITLES = ("Identity & preferences", "Project context")
# Kinds of knowledge whose topics make up a project's context. Decisions and solved
# errors belong to it: what hooks captured is never above medium, so that the wake-up
# pack does not have it.
KINDS: tuple[tuple[str, ...], ...] = (
    ("context",),
    ("contexte",),
    ("decisions",),
    ("errors", "resolved"),
)
ADVICE = "> There is more than fits here; `icm consolidate -t TOPIC` joins a topic."
FULL_SHARE = 0.8

ROWS = """
SELECT m.id, m.ulid, m.topic, m.summary, m.importance, m.origin
FROM memories m
WHERE m.state = 'live' AND m.topic_key IN (SELECT value FROM json_each(?))
ORDER BY CASE m.importance
    WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END,
    m.created_at DESC, m.ulid DESC
LIMIT ?
"""
COUNT = """
SELECT count(*) FROM memories m
WHERE m.state = 'live' AND m.topic_key IN (SELECT value FROM json_each(?))
"""


class Snapshot(NamedTuple):
    """The snapshot as text ("" where there is nothing) and how it came about.

    `ids` are the keys of its memories; `dropped` is how many did not fit;
    `over_budget`: some did not, and most of the room is taken.
    """

    text: str
    ids: tuple[int, ...]
    sections: tuple[Section, ...]
    total_chars: int
    max_chars: int
    dropped: int
    over_budget: bool


def snapshot(
    connection: Connection,
    *,
    project: str | None,
    max_tokens: int,
    exclude: Collection[int] = (),
    form: Form = "markdown",
    advice: bool = True,
    preferences: bool = True,
) -> Snapshot:
    """Preferences and identity, then the project's context: by importance, newest.

    `exclude`: keys of memories that were shown already. `advice`: say so in a line
    where not all fits into `max_tokens` x 4 characters. Equal content gives equal
    bytes.
    """
    max_chars = max_tokens * CHARS_PER_TOKEN
    personal, total = _rows(
        connection,
        lambda topic: preferences and projects.is_global_topic(topic),
        max_chars,
        exclude,
    )
    own, others = _rows(
        connection, lambda topic: is_context(topic, project or ""), max_chars, exclude
    )
    found = [
        Line(number, row.id, standing.shortened(row.summary, max_chars), row.origin)
        for number, rows in enumerate((personal, own))
        for row in rows
    ]
    lines = list(standing.distinct(found))
    total += others - (len(found) - len(lines))
    left = max_chars - len(TITLE) - len("# ")
    chosen = list(standing.fill(lines, TITLES, left=left))
    if advice and len(chosen) < total:
        left -= len(ADVICE) + len("\n\n")
        chosen = list(standing.fill(lines, TITLES, left=left))
    return _made(chosen, total, max_chars, form, advice)


def is_context(topic: str, project: str) -> bool:
    """Whether a topic is the project, `context-<project>` or the like, or below it.

    Outside any project those are the kinds by themselves.
    """
    parts = projects.ordered_segments(topic)
    if projects.is_global_topic(topic):
        return False
    if not project:
        return parts in KINDS
    name = projects.ordered_segments(project)
    beginnings = (name, *(kind + name for kind in KINDS))
    return any(parts[: len(start)] == start for start in beginnings)


def _rows(
    connection: Connection,
    wanted: standing.Wanted,
    max_chars: int,
    exclude: Collection[int],
) -> tuple[list[Row], int]:
    """The rows that may be shown, and how many there are in all."""
    keys = standing.topics(connection, wanted)
    most = standing.max_rows(max_chars) + len(exclude)
    found = [Row(*row) for row in connection.execute(ROWS, (keys, most))]
    total = len(found)
    if total == most:
        total = connection.execute(COUNT, (keys,)).fetchone()[0]
    rows = [row for row in found if row.id not in exclude]
    return rows, total - (len(found) - len(rows))


def _made(
    chosen: Sequence[Line], total: int, max_chars: int, form: Form, advice: bool
) -> Snapshot:
    if not chosen:
        return Snapshot("", (), (), 0, max_chars, 0, False)
    sections = standing.sections(TITLES, chosen)
    body = standing.written(TITLE, sections, form)
    dropped = total - len(chosen)
    over = dropped > 0 and len(body) >= FULL_SHARE * max_chars
    return Snapshot(
        text=f"{body}\n\n{ADVICE}" if over and advice else body,
        ids=tuple(line.id for line in chosen),
        sections=sections,
        total_chars=len(body),
        max_chars=max_chars,
        dropped=dropped,
        over_budget=over,
    )

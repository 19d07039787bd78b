"""The wake-up pack: what a session should know before it is asked anything.

Takes any SQLite connection and imports neither Django nor numpy.
"""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from memories import projects, standing
from memories.fence import harmless
from memories.scope import Connection
from memories.standing import CHARS_PER_TOKEN, Form, Line, Row, Section

if TYPE_CHECKING:
    from datetime import datetime

TITLE = "ICM Wake-up"
TITLES = (
    "Identity & preferences",
    "Critical decisions",
    "Active constraints",
    "Recent errors resolved",
    "Milestones",
    "Project context",
)
PERSONAL, CONTEXT = 0, len(TITLES) - 1
# Beginnings of words that put a memory into a section: of its topic first, then of its
# text. What neither decides is context.
TOPIC_WORDS = (
    (0, re.compile(r"\b(?:identity|preference)", re.I)),
    (3, re.compile(r"(?:^|[-._/:\s])(?:error|bug|fix|incident|resolved)", re.I)),
    (2, re.compile(r"(?:^|[-._/:\s])(?:constraint|rule|limit|polic|security)", re.I)),
    (4, re.compile(r"(?:^|[-._/:\s])(?:milestone|release|roadmap|deadline)", re.I)),
    (1, re.compile(r"(?:^|[-._/:\s])(?:decision|architecture|adr\b|choice)", re.I)),
)
TEXT_WORDS = (
    (1, re.compile(r"\b(?:decid|decision|chose|agreed|switched to|opted for)", re.I)),
    (2, re.compile(r"\b(?:must|never|only works|not support|require|forbid)", re.I)),
    (3, re.compile(r"\b(?:fixed|resolved|root cause|workaround|regression)", re.I)),
    (4, re.compile(r"\b(?:milestone|released|shipped|launched|went live)", re.I)),
)
RANKS = ("critical", "high", "medium", "low")

# Score (documented): importance x 1 / (1 + days / 30) x weight; days since the later
# of creation and last access.
ROWS = """
SELECT m.id, m.ulid, m.topic, m.summary, m.importance, m.origin
FROM memories m JOIN memory_usage u ON u.memory_id = m.id
WHERE m.state = 'live' AND m.topic_key IN (SELECT value FROM json_each(?))
AND (m.importance IN ('critical', 'high')
    OR m.topic_key IN (SELECT value FROM json_each(?)))
ORDER BY
    CASE m.importance
        WHEN 'critical' THEN 10.0 WHEN 'high' THEN 5.0 WHEN 'medium' THEN 2.0 ELSE 0.5
    END
    / (1.0 + max(julianday(?) - max(julianday(m.created_at),
        julianday(u.last_accessed)), 0.0) / 30.0)
    * max(u.weight, 0.01) DESC, m.ulid
LIMIT ?
"""


class Pack(NamedTuple):
    """The pack as text ("" where there is nothing), and the keys of its memories."""

    text: str
    ids: tuple[int, ...]
    sections: tuple[Section, ...] = ()


def pack(
    connection: Connection,
    *,
    project: str | None,
    max_tokens: int,
    now: "datetime",
    form: Form = "markdown",
    preferences: bool = True,
    exclude: Collection[int] = (),
) -> Pack:
    """Critical and high memories of the project, preferences and identity.

    `project`: None for all of them, "" outside any. What is shown is chosen by score
    within `max_tokens` x 4 characters, at least one; how it is ordered depends on the
    content alone, so that equal content gives equal bytes. `now` is aware. `exclude`:
    keys of memories that were shown already.
    """
    max_chars = max_tokens * CHARS_PER_TOKEN
    rows = [
        row
        for row in _rows(connection, project, max_chars, now, preferences, exclude)
        if row.id not in exclude
    ]
    header = titled(project)
    lines = standing.distinct(_line(row, max_chars) for row in rows)
    left = max_chars - len(header) - len("# ")
    chosen = list(standing.fill(lines, TITLES, left=left))
    if not chosen:
        return Pack("", ())
    places = {row.id: n for n, row in enumerate(sorted(rows, key=_fixed))}
    chosen.sort(key=lambda line: (line.section, places[line.id]))
    sections = standing.sections(TITLES, chosen)
    text = standing.written(header, sections, form)
    return Pack(text, tuple(line.id for line in chosen), sections)


def titled(project: str | None) -> str:
    """The first line of a pack, without its mark."""
    return f"{TITLE} (project: {harmless(project)})" if project else TITLE


def section(topic: str, summary: str) -> int:
    """The number of the section that a memory belongs to."""
    if projects.is_global_topic(topic):
        return PERSONAL
    return next(_matches(topic, summary), CONTEXT)


def _matches(topic: str, summary: str) -> Iterator[int]:
    for words, where in ((TOPIC_WORDS, topic), (TEXT_WORDS, summary)):
        yield from (number for number, pattern in words if pattern.search(where))


def _fixed(row: Row) -> tuple[int, str]:
    """An order that neither time nor use changes."""
    return RANKS.index(row.importance), row.ulid


def _line(row: Row, max_chars: int) -> Line:
    shown = standing.shortened(row.summary, max_chars)
    return Line(section(row.topic, row.summary), row.id, shown, row.origin)


def _rows(
    connection: Connection,
    project: str | None,
    max_chars: int,
    now: "datetime",
    preferences: bool,
    exclude: Collection[int],
) -> list[Row]:
    """What may be shown, by score."""

    def wanted(topic: str) -> bool:
        if projects.is_global_topic(topic):
            return preferences
        return standing.is_own(topic, project)

    found = connection.execute(
        ROWS,
        (
            standing.topics(connection, wanted),
            standing.topics(connection, projects.is_global_topic),
            now.isoformat(" "),
            standing.max_rows(max_chars) + len(exclude),
        ),
    )
    return [Row(*row) for row in found]

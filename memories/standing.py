"""Memories that are of use without a question: which, and how they fill a budget.

Takes any SQLite connection and imports neither Django nor numpy.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from icm_site import text
from icm_site.text import normalise
from memories import projects
from memories.fence import harmless, told
from memories.outgoing import unasked
from memories.scope import TOPICS, Connection

Form = Literal["markdown", "plain"]
# Whether a topic is meant.
Wanted = Callable[[str], bool]

CHARS_PER_TOKEN = 4
# The share of the budget that one text may take, and what it may take in any case.
LARGEST_SHARE, LEAST_CHARS = 2, 200
CUT = " […]"
# What the shortest bullet costs: no more rows than this can ever be shown.
SHORTEST_BULLET = 4


class Row(NamedTuple):
    """A memory that may be shown; `id` is its key in the table."""

    id: int
    ulid: str
    topic: str
    summary: str
    importance: str
    origin: str = ""


class Line(NamedTuple):
    """A memory as one line of a section, by the section's place in the order."""

    section: int
    id: int
    text: str
    origin: str = ""

    @property
    def shown(self) -> str:
        """The text, with who stored it."""
        return told(self.text, self.origin)


class Section(NamedTuple):
    """A heading and the texts below it."""

    title: str
    lines: tuple[str, ...]


class Shape(NamedTuple):
    """How headings and sections are written."""

    heading: str
    section: str


SHAPES: dict[Form, Shape] = {
    "markdown": Shape("# {}", "## {}"),
    "plain": Shape("{}", "[{}]"),
}


def topics(connection: Connection, wanted: Wanted) -> str:
    """The topics of the database that are wanted, as keys in a JSON list."""
    names = (row[0] for row in connection.execute(TOPICS))
    return json.dumps([normalise(name.strip()) for name in names if wanted(name)])


def is_own(topic: str, project: str | None) -> bool:
    """Whether a topic belongs to the project; "" is work outside any, None all."""
    if project is None:
        return True
    if not project:
        return projects.is_kind_only(topic)
    return projects.segment_match(topic, project)


def max_rows(max_chars: int) -> int:
    return max_chars // SHORTEST_BULLET + 1


def shortened(summary: str, max_chars: int) -> str:
    """A text as one line; a long one is cut so that it leaves room for others."""
    line = harmless(unasked(summary))
    most = max(LEAST_CHARS, max_chars // LARGEST_SHARE)
    return line if len(line) <= most else line[:most].rstrip() + CUT


def distinct(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without those that say in other order what a line before them said."""
    said: set[frozenset[str]] = set()
    for line in lines:
        words = text.word_set(line.text)
        if not words or words not in said:
            said.add(words)
            yield line


def fill(lines: Iterable[Line], titles: Sequence[str], *, left: int) -> Iterator[Line]:
    """Those lines that fit into `left` characters, the first in any case.

    Each costs its bullet, and the heading of its section if it is the first there.
    """
    opened: set[int] = set()
    for line in lines:
        cost = len(line.shown) + len("\n- ")
        if line.section not in opened:
            cost += len(titles[line.section]) + len("\n\n## ")
        if cost > left and opened:
            continue
        left -= cost
        opened.add(line.section)
        yield line


def sections(titles: Sequence[str], lines: Sequence[Line]) -> tuple[Section, ...]:
    """The lines by section; sections without a line are left out."""
    found = (
        Section(title, tuple(line.shown for line in lines if line.section == number))
        for number, title in enumerate(titles)
    )
    return tuple(section for section in found if section.lines)


def written(
    header: str, sections: Iterable[tuple[str, Sequence[str]]], form: Form
) -> str:
    """Header, titles and lines as text."""
    shape = SHAPES[form]
    parts = [shape.heading.format(header)]
    for title, lines in sections:
        bullets = [f"- {line}" for line in lines]
        parts.append("\n".join([shape.section.format(title), *bullets]))
    return "\n\n".join(parts)

"""The projects that the database knows, and what was perhaps meant by an unknown one.

Takes any SQLite connection and imports neither Django nor numpy.
"""

from collections.abc import Mapping
from types import MappingProxyType

from memories import projects, tiers
from memories.fence import harmless
from memories.scope import Connection

NAMES = "SELECT name FROM projects"
ALIASES = """
SELECT a.value, p.name FROM projects p, json_each(p.aliases) a
WHERE p.aliases <> '[]' AND json_valid(p.aliases)
"""
TOPIC_NAMES = tiers.TOPICS


def aliases(connection: Connection) -> Mapping[str, str]:
    """The other names of projects that were given by command: old -> new."""
    return MappingProxyType(dict(connection.execute(ALIASES).fetchall()))


def names(connection: Connection) -> list[str]:
    """The projects by name: those that were seen, and those that topics name.

    `context-shop-web` is of the project shop where that one is known.
    """
    seen = {row[0] for row in connection.execute(NAMES)}
    told = {projects.named_in(row[0]) for row in connection.execute(TOPIC_NAMES)}
    found = set(seen)
    for name in sorted(filter(None, told - seen), key=len):
        if not any(name.startswith(f"{parent}-") for parent in found):
            found.add(name)
    return sorted(found)


def miss(connection: Connection, project: str | None) -> str:
    """A sentence where a project has no memory and others are spelled nearly so."""
    if not project or not project.strip():
        return ""
    topics = connection.execute(TOPIC_NAMES).fetchall()
    if any(projects.segment_match(row[0], project) for row in topics):
        return ""
    near = projects.near_misses(project, names(connection))
    if not near:
        return ""
    meant = " or ".join(f"'{harmless(name)}'" for name in near)
    return f"No memories of the project '{harmless(project)}'; did you mean {meant}?"

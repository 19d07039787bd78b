"""The projects that the database knows, by their names and by their other names.

Takes any SQLite connection and imports neither Django nor numpy.
"""

import os
from collections.abc import Mapping
from contextlib import closing
from types import MappingProxyType

from icm_site.sqlite.address import uri
from memories import projects
from memories.fence import harmless
from memories.scope import TOPICS, Connection

NAMES = "SELECT name FROM projects"
# A name that came with a change counts as long as the change stands.
ALIASES = """
SELECT alias, name FROM (
    SELECT p.name AS name,
        CASE a.type WHEN 'object' THEN json_extract(a.value, '$.name')
            ELSE a.value END AS alias,
        CASE a.type WHEN 'object' THEN json_extract(a.value, '$.change') END AS change
    FROM projects p, json_each(p.aliases) a WHERE p.aliases <> '[]'
) LEFT JOIN changes c ON c.ulid = change
WHERE typeof(alias) = 'text' AND c.undone IS NOT 1
"""


def aliases(connection: Connection) -> Mapping[str, str]:
    """The other names of projects that were given by command: old -> new."""
    return MappingProxyType(dict(connection.execute(ALIASES).fetchall()))


def of_database(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """The aliases of a database file; none where it cannot be read as it is now."""
    import sqlite3  # a hook has opened its own, without what this adds

    try:
        with closing(sqlite3.connect(uri(path, "mode=ro"), uri=True)) as raw:
            return aliases(raw)
    except (sqlite3.Error, UnicodeDecodeError):
        return MappingProxyType({})


def named(connection: Connection, project: str | None, own: Mapping[str, str]) -> str:
    """The name that a project goes by now; "" for none.

    `own` are the aliases of the configuration; they come first.
    """
    if not project or not project.strip():
        return ""
    return projects.current(project, {**aliases(connection), **own})


def names(connection: Connection) -> list[str]:
    """The projects by name: those that were seen, and those that topics name.

    `context-shop-web` is of the project shop where that one is known; what has become
    another name of a project is none.
    """
    seen = {row[0] for row in connection.execute(NAMES)}
    told = {projects.named_in(row[0]) for row in connection.execute(TOPICS)}
    found = set(seen)
    for name in sorted(filter(None, told - seen), key=len):
        if not any(name.startswith(f"{parent}-") for parent in found):
            found.add(name)
    return sorted(found - aliases(connection).keys())


def miss(connection: Connection, project: str | None) -> str:
    """A sentence where a project has no memory and others are spelled nearly so."""
    if not project or not project.strip():
        return ""
    topics = connection.execute(TOPICS).fetchall()
    if any(projects.segment_match(row[0], project) for row in topics):
        return ""
    meant = near(connection, project)
    if not meant:
        return ""
    return f"No memories of the project '{harmless(project)}'; {meant}"


def near(connection: Connection, project: str) -> str:
    """A question that names projects spelled nearly so; "" where there are none."""
    found = projects.near_misses(project, names(connection))
    listed = " or ".join(f"'{harmless(name)}'" for name in found)
    return f"did you mean {listed}?" if found else ""

"""Which memories may be found: the filters of a search, as SQL and in Python."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from icm_site.text import normalise


class Connection(Protocol):
    """A DB-API connection in the style of sqlite3 (`?` parameters)."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...


@dataclass(frozen=True)
class Scope:
    """Which memories may be found; applied before any cut.

    `topics`: in any case; None means all. `keyword`: contained, normalised, in one of
    the memory's keywords; None means any.
    """

    topics: tuple[str, ...] | None = None
    keyword: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing is filtered."""
        return self.topics is None and self.keyword is None

    @property
    def topic_keys(self) -> str:
        """The topics as the database compares them: a list in JSON."""
        return json.dumps([normalise(topic.strip()) for topic in self.topics or ()])

    @property
    def parameters(self) -> tuple[str | None, ...]:
        """The four parameters of IN_SCOPE."""
        topics = None if self.topics is None else self.topic_keys
        keyword = None if self.keyword is None else normalise(self.keyword)
        return topics, topics, keyword, keyword


EVERYTHING = Scope()

IN_SCOPE = """
(? IS NULL OR m.topic_key IN (SELECT value FROM json_each(?)))
AND (? IS NULL OR instr(m.keywords_key, ?) > 0)
"""


# One spelling of each topic, by a jump in the index from key to key.
TOPICS = """
WITH RECURSIVE keys(key) AS (
    SELECT min(topic_key) FROM memories
    UNION ALL
    SELECT (SELECT min(topic_key) FROM memories WHERE topic_key > keys.key)
    FROM keys WHERE keys.key IS NOT NULL)
SELECT topic FROM (
    SELECT (SELECT topic FROM memories
        WHERE topic_key = keys.key AND state IN ('live', 'superseded') LIMIT 1) AS topic
    FROM keys WHERE keys.key IS NOT NULL)
WHERE topic IS NOT NULL
"""


def topics_matching(wanted: str, topics: Iterable[str]) -> tuple[str, ...]:
    """The topics that a topic filter means: equal or one contains the other.

    Case does not count. A blank filter matches nothing.
    """
    key = normalise(wanted.strip())
    if not key:
        return ()
    return tuple(t for t in topics if _overlaps(key, normalise(t.strip())))


def _overlaps(one: str, other: str) -> bool:
    return bool(other) and (one in other or other in one)

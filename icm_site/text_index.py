"""A full-text index (FTS5) beside a table: made where SQLite can, kept by triggers."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from icm_site.sqlite.capabilities import capabilities
from icm_site.text import index_text

# Texts are up to 64 kB, and a batch of them is in memory.
BATCH = 500
# Columns of JSON that hold lists of words.
LISTS = frozenset({"keywords", "labels"})


@dataclass(frozen=True, kw_only=True)
class TextIndex:
    """The index `<table>_fts` over columns of a table whose key is `id`.

    The columns hold index words (`text.index_text`); `tokenizer` is FTS5's option.
    """

    table: str
    columns: tuple[str, ...]
    tokenizer: str

    @property
    def name(self) -> str:
        return f"{self.table}_fts"

    @property
    def create(self) -> list[str]:
        """Statements that make the index and its triggers."""
        return [self._create_table, *self.triggers]

    @property
    def drop(self) -> list[str]:
        return [*self.drop_triggers, f"DROP TABLE IF EXISTS {self.name}"]

    @property
    def rebuilt(self) -> str:
        """The statement that fills the index anew from its table."""
        return f"INSERT INTO {self.name}({self.name}) VALUES ('rebuild')"

    @property
    def checked(self) -> str:
        """The statement that fails where index and table differ."""
        return (
            f"INSERT INTO {self.name}({self.name}, rank) VALUES ('integrity-check', 1)"
        )

    @property
    def triggers(self) -> list[str]:
        columns = ", ".join(self.columns)
        new, old = (
            ", ".join(f"{row}.{name}" for name in ("id", *self.columns))
            for row in ("new", "old")
        )
        insert = f"INSERT INTO {self.name}(rowid, {columns}) VALUES ({new})"
        # FTS5 takes out exactly the words it is given here, so they must be the old
        # ones.
        delete = (
            f"INSERT INTO {self.name}({self.name}, rowid, {columns}) "
            f"VALUES ('delete', {old})"
        )
        # An ORM save names every column, so OF alone would fire on each of them.
        differ = " OR ".join(f"old.{name} IS NOT new.{name}" for name in self.columns)
        table = self.table
        return [
            f"CREATE TRIGGER {self.name}_insert AFTER INSERT ON {table} "
            f"BEGIN {insert}; END",
            f"CREATE TRIGGER {self.name}_delete AFTER DELETE ON {table} "
            f"BEGIN {delete}; END",
            f"CREATE TRIGGER {self.name}_update AFTER UPDATE OF {columns} ON {table} "
            f"WHEN {differ} BEGIN {delete}; {insert}; END",
        ]

    @property
    def drop_triggers(self) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {name}" for name in sorted(self._parts)]

    @property
    def _parts(self) -> set[str]:
        """Names of the triggers: without one of them the index grows stale."""
        return {f"{self.name}_{event}" for event in ("insert", "delete", "update")}

    @property
    def _create_table(self) -> str:
        return (
            f"CREATE VIRTUAL TABLE {self.name} USING fts5({', '.join(self.columns)}, "
            f"content='{self.table}', content_rowid='id', tokenize='{self.tokenizer}')"
        )

    def drop_before_migrate(self, plan: list[Any], **kwargs: Any) -> None:
        """Take the triggers away: Django's rebuild of a table trips over them."""
        del kwargs
        if plan:
            _run(self.drop_triggers)

    def ensure_after_migrate(self, **kwargs: Any) -> None:
        """Make again what a rebuild of the table has taken away."""
        del kwargs
        if not getattr(connection, "read_only", False) and self.table in self._names():
            self.ensure()

    def ensure(self) -> None:
        """Bring the index in step with this build of SQLite and with the table."""
        with transaction.atomic():
            names = self._names()
            if not capabilities(connection).fts5:
                _run(self.drop_triggers)
            elif not names >= self._parts:
                _run(self.drop_triggers)
                if self.name not in names:
                    _run([self._create_table])
                _run([*self.triggers, self.rebuilt])

    def in_step(self) -> bool:
        """Whether the index fits this build of SQLite: no write."""
        there = self._names() & self._parts
        return there == (self._parts if capabilities(connection).fts5 else set())

    def rebuild(self) -> None:
        """Make the index anew from its table, as far as this SQLite can."""
        with transaction.atomic():
            _run(self.drop if capabilities(connection).fts5 else self.drop_triggers)
            self.ensure()

    def holders(
        self, terms: Sequence[str], rows: Collection[int]
    ) -> list[tuple[int, frozenset[int]]]:
        """For each FTS5 term: how many rows of the index hold it, and which of `rows`.

        Raises OperationalError where there is no index.
        """
        found: list[tuple[int, frozenset[int]]] = [(0, frozenset())] * len(terms)
        statement = f"""
SELECT word.key, count(*), json_group_array(f.rowid)
    FILTER (WHERE +f.rowid IN (SELECT value FROM json_each(%s)))
FROM json_each(%s) AS word JOIN {self.name} AS f
WHERE f.{self.name} MATCH word.value
GROUP BY word.key
"""
        with connection.cursor() as cursor:
            cursor.execute(statement, [json.dumps(sorted(rows)), json.dumps([*terms])])
            for key, count, held in cursor.fetchall():
                found[key] = (count, frozenset(json.loads(held)))
        return found

    def size(self) -> int:
        """How many rows are indexed. Raises OperationalError without an index."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {self.name}_docsize")
            count: int = cursor.fetchone()[0]
        return count

    def _names(self) -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT name FROM sqlite_master WHERE name = %s OR name LIKE %s",
                [self.table, f"{self.table}%"],
            )
            return {row[0] for row in cursor.fetchall()}


def renew(
    table: str, columns: Sequence[str], *, holding: frozenset[str] | None = None
) -> int:
    """Make index columns anew from their texts; returns how many rows were not right.

    The text of `topic_index` is in `topic`. With `holding` only rows that hold one of
    these index words are looked at. Each batch is a transaction of its own, so that
    others can write in between.
    """
    texts = ", ".join(_text_of(name.removesuffix("_index")) for name in columns)
    reading = (
        f"SELECT id, {texts}, {', '.join(columns)} FROM {table} AS t "
        f"WHERE id > %s ORDER BY id LIMIT {BATCH}"
    )
    renewed, last = 0, 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(reading, [last])
            rows = cursor.fetchall()
            renewed += _renew(cursor, table, columns, rows, holding)
        if len(rows) < BATCH:
            return renewed
        last = rows[-1][0]


def _text_of(name: str) -> str:
    if name not in LISTS:
        return f"t.{name}"
    return (
        f"(SELECT coalesce(group_concat(value, ' '), '') FROM json_each(t.{name})) "
        f"AS {name}"
    )


def _renew(
    cursor: Any,
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    holding: frozenset[str] | None,
) -> int:
    half = len(columns) + 1
    changed = []
    for row in rows:
        if holding and holding.isdisjoint(" ".join(row[half:]).split()):
            continue
        words = tuple(map(index_text, row[1:half]))
        if words != row[half:]:
            changed.append((*words, row[0]))
    fields = ", ".join(f"{name} = %s" for name in columns)
    cursor.executemany(f"UPDATE {table} SET {fields} WHERE id = %s", changed)
    return len(changed)


def _run(statements: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            # Without parameters Django passes a statement on as it stands.
            cursor.execute(statement)

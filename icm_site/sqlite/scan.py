"""Reads a damaged table row by row, from both ends and between what is broken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from icm_site.sqlite import failures

LOWEST, HIGHEST = -(2**63), 2**63 - 1
# Failing reads after which the rest of a table is given up.
FAILURES = 3000
# In place of a value that cannot be read.
UNREADABLE = object()
# Spans below are halved until nothing is left; in wider ones that has no end.
WIDE = 1 << 24

Order = Literal["ASC", "DESC"]


@dataclass
class Scan:
    """A scan of one table; what it could not reach is known once it is over.

    `holes` are ranges of rowids that could not be read, both ends included.
    """

    connection: sqlite3.Connection
    table: str
    columns: tuple[str, ...]
    holes: list[tuple[int, int]] = field(default_factory=list)
    failures: int = 0

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Every row that can be reached, each once, without its rowid.

        What cannot be read of one is UNREADABLE.
        """
        spans = [(LOWEST, HIGHEST)]
        while spans:
            low, high = spans.pop()
            last = yield from self._one_way(low, high, "ASC")
            low = HIGHEST if last is None else last + 1
            if last is None or low > high:
                continue
            first = yield from self._one_way(low, high, "DESC")
            high = LOWEST if first is None else first - 1
            if first is None or low > high:
                continue
            cut = self._cut(low, high) if self.failures < FAILURES else None
            if cut is not None:
                spans += [(low, cut - 1), (cut, high)]
            elif low == high and (row := self._in_parts(low)):
                yield row
            else:
                self.holes.append((low, high))

    def _cut(self, low: int, high: int) -> int | None:
        """A number between, from which on reading may go on; None to give up.

        Numbers that leap ahead find where it does in a span without a known end.
        """
        if low == high:
            return None
        if high - low < WIDE:
            return (low + high) // 2 + 1
        for leap in range(63):
            step = 1 << leap
            up, down = max(low, 0) + step, min(high, 1 << 62) - step
            for number in (up, down):
                if low < number <= high and self._is_readable(number, high):
                    return number
        return None

    def _in_parts(self, rowid: int) -> tuple[Any, ...] | None:
        """A row of which some columns can be read, or None."""
        found: list[Any] = []
        for name in self.columns:
            statement = f'SELECT "{name}" FROM "{self.table}" NOT INDEXED '
            try:
                row = self.connection.execute(
                    statement + "WHERE rowid = ?", (rowid,)
                ).fetchone()
            except failures.DAMAGE:
                row = (UNREADABLE,)
            if row is None:
                return None
            found.append(row[0])
        # The first may be the number of the row, which is known anyway.
        return None if set(found[1:]) <= {UNREADABLE} else tuple(found)

    def _is_readable(self, low: int, high: int) -> bool:
        try:
            self._next(low, high, "ASC")
        except (*failures.DAMAGE, OverflowError):
            self.failures += 1
            return False
        return True

    def _one_way(self, low: int, high: int, order: Order) -> Any:
        """Yield rows; returns None at the end of the span, else the last rowid read.

        Before the first one that is the number just outside the span.
        """
        up = order == "ASC"
        last = low - 1 if up else high + 1
        try:
            for rowid, *values in self.connection.execute(
                self._statement(order), (low, high, -1)
            ):
                # A page that hangs in the tree twice would be read for ever.
                if not isinstance(rowid, int) or (
                    rowid <= last if up else rowid >= last
                ):
                    break
                last = rowid
                yield tuple(values)
            else:
                return None
        except (*failures.DAMAGE, OverflowError):
            pass
        # The driver reads a row ahead, and loses the one before a failure.
        try:
            bounds = (last + 1, high) if up else (low, last - 1)
            if bounds[0] <= bounds[1] and (row := self._next(*bounds, order)):
                last = row[0]
                yield tuple(row[1:])
        except (*failures.DAMAGE, OverflowError):
            pass
        self.failures += 1
        return last

    def _next(self, low: int, high: int, order: Order) -> Any:
        return self.connection.execute(
            self._statement(order), (low, high, 1)
        ).fetchone()

    def _statement(self, order: Order) -> str:
        names = ", ".join(f'"{name}"' for name in self.columns)
        return (
            f'SELECT rowid, {names} FROM "{self.table}" NOT INDEXED '
            f"WHERE rowid BETWEEN ? AND ? ORDER BY rowid {order} LIMIT ?"
        )

    @property
    def lost(self) -> int | None:
        """The most rows that may be lost; None where nobody can tell."""
        if any(low == LOWEST or high == HIGHEST for low, high in self.holes):
            return None
        return sum(high - low + 1 for low, high in self.holes)

"""Pages of tables that hang in no known tree, as where an inner page is broken.

The format of pages, cells and records: sqlite.org/fileformat2.html 1.6 and 2.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from icm_site.sqlite.definitions import page_size
from icm_site.sqlite.values import Column

_LEAF, _INNER = 13, 5
# Rows of a tree that are compared with a table.
_SAMPLE = 20
_TEXTS = frozenset({"varchar", "char", "text", "datetime", "date", "json"})
_NUMBERS = frozenset({"integer", "bigint", "smallint", "bool", "real"})
Shape = tuple[int, ...]


def find(
    path: Path,
    tables: Mapping[str, Sequence[Column]],
    *,
    known: Collection[int],
    lost: Collection[str],
) -> list[tuple[str, int]]:
    """The table that each tree belongs to whose root is not `known`, and that root.

    A tree belongs to the only table that its first rows fit by number and types of
    their columns, of several to the only one that is `lost`; others are left out.
    """
    data = _Pages(path)
    below: set[int] = set()
    trees: list[int] = []
    for number in range(2, data.count + 1):
        page = data.read(number)
        if page[0] == _INNER:
            below.update(data.children(page))
        if page[0] in (_LEAF, _INNER):
            trees.append(number)
    found = []
    for root in trees:
        if root in below or root in known:
            continue
        shapes = data.shapes(root)
        fitting = [
            name
            for name, columns in tables.items()
            if shapes and all(_fits(columns, shape) for shape in shapes)
        ]
        meant = [name for name in fitting if name in lost] or fitting
        if len(meant) == 1:
            found.append((meant[0], root))
    return found


def _fits(columns: Sequence[Column], shape: Shape) -> bool:
    """Whether a record of these serial types may be a row of a table."""
    if len(columns) != len(shape):
        return False
    for column, serial in zip(columns, shape, strict=True):
        if serial == 0:
            # The first column may be the number of the row, which is kept apart.
            good = column.optional or column is columns[0]
        elif serial >= 12:
            good = column.kind in _TEXTS if serial % 2 else column.kind == "blob"
        else:
            good = column.kind in _NUMBERS
        if not good:
            return False
    return True


class _Pages:
    """The pages of a file, counted from 1; one that is cut off ends in zeros."""

    def __init__(self, path: Path) -> None:
        self._file, self._size = path, page_size(path)
        self.count = -(-path.stat().st_size // self._size)

    def read(self, number: int) -> bytes:
        with self._file.open("rb") as file:
            file.seek((number - 1) * self._size)
            return file.read(self._size).ljust(self._size, b"\0")

    def children(self, page: bytes) -> list[int]:
        """The pages right below an inner one."""
        cells = [page[at : at + 4] for at in _cells(page, 12)]
        found = (int.from_bytes(cell, "big") for cell in (*cells, page[8:12]))
        return [number for number in found if 1 < number <= self.count]

    def shapes(self, root: int) -> list[Shape]:
        """The serial types of the first rows of a tree."""
        found: list[Shape] = []
        waiting, seen = [root], set[int]()
        while waiting and len(found) < _SAMPLE:
            number = waiting.pop()
            page = self.read(number)
            if number in seen:
                continue
            seen.add(number)
            if page[0] == _INNER:
                waiting += reversed(self.children(page))
            elif page[0] == _LEAF:
                found += [_shape(page, at) for at in _cells(page, 8)]
        return found[:_SAMPLE]


def _cells(page: bytes, start: int) -> Iterator[int]:
    """Where the cells of a page are; `start` is where their list begins."""
    for n in range(int.from_bytes(page[3:5], "big")):
        at = int.from_bytes(page[start + 2 * n : start + 2 * n + 2], "big")
        if start <= at < len(page) - 4:
            yield at


def _shape(page: bytes, at: int) -> Shape:
    for _ in range(2):  # the length of the row, and its number
        _, at = _varint(page, at)
    size, behind = _varint(page, at)
    end = min(at + size, len(page))
    found = []
    while behind < end:
        serial, behind = _varint(page, behind)
        found.append(serial)
    return tuple(found)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """The number there, and where the next thing starts."""
    value = 0
    for _ in range(9):
        byte = page[at] if at < len(page) else 0
        value, at = value << 7 | byte & 0x7F, at + 1
        if byte < 0x80:
            break
    return value, at

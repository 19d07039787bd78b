"""Rows of the database as records of an export, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db.models import QuerySet

from icm_site.exchange.columns import SUCCESSOR, Mask
from icm_site.exchange.kinds import Kind
from memories.models import Memory

BATCH = 500
T = TypeVar("T")


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Lists of at most `size` items, in their order."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def records(
    kind: Kind, rows: QuerySet[Any], mask: Mask
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Primary key and record of each row; the key of `metadata` is its text."""
    paths = [column.path for column in kind.columns]
    found = rows.order_by(*kind.order).values("pk", *paths)
    for batch in batches(found.iterator(chunk_size=BATCH)):
        if kind.name == "revision":
            _name_successors(batch)
        for row in batch:
            yield row["pk"], record(kind, row, mask)


def record(kind: Kind, row: Mapping[str, Any], mask: Mask) -> dict[str, Any]:
    """One row as it stands in a file."""
    return {
        "type": kind.name,
        **{c.name: c.write(row[c.path], mask) for c in kind.columns},
    }


def _name_successors(rows: Sequence[dict[str, Any]]) -> None:
    """Earlier fields name a successor by its key, which means nothing elsewhere."""
    befores = [row["before"] for row in rows if row["before"]]
    keys = {before[SUCCESSOR] for before in befores if before.get(SUCCESSOR)}
    names = dict(Memory.objects.filter(pk__in=keys).values_list("pk", "ulid"))
    for before in befores:
        if SUCCESSOR in before:
            before[SUCCESSOR] = names.get(before[SUCCESSOR])

"""What a row of a file says otherwise than the row that is here: kept beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils import timezone

from icm_site.exchange.kinds import Kind
from icm_site.text import cut
from icm_site.ulid import encode, milliseconds
from memoirs.models import Concept, ConceptRevision, Origin
from memoirs.validation import NAME_BYTES
from memories.models import MemoryRevision, State

Row = dict[str, Any]
# What of a row a person or an agent wrote: this must not be lost. Of a link that is
# what it joins.
WRITTEN: Mapping[str, tuple[str, ...]] = {
    "memory": ("topic", "summary", "raw_excerpt", "keywords", "metadata"),
    "memoir": ("description",),
    "concept": ("name", "definition", "labels"),
    "concept_link": ("source", "target", "relation"),
    "feedback": ("topic", "context", "predicted", "corrected", "reason"),
}
IMPORT = "import"


def differs(kind: Kind, row: Row, found: Row) -> bool:
    """Whether something that is written in a row of the file is not in the row here."""
    names = WRITTEN.get(kind.name, ())
    written = _written(kind, row)
    if kind.name == "memoir" and not row["description"].strip():
        return False
    return any(written[name] != found[name] for name in names)


def made(kind: Kind, row: Row) -> Row | None:
    """The row under an id of its own; None where the history has what is written.

    A memory is archived behind the one that stays, a memoir has a name that says where
    it is from. The id is made from the content, so that a second import adds nothing.
    """
    written = _written(kind, row)
    digest = hashlib.sha256(
        json.dumps([kind.name, row["id"], written], sort_keys=True).encode()
    ).digest()
    moment = milliseconds(row["id"]) << 80
    ulid = encode(moment | int.from_bytes(digest[:10], "big"))
    new = row | {"id": ulid}
    if kind.name == "memoir":
        mark = f" ({IMPORT} {ulid[-6:]})"
        return new | {"name": cut(row["name"], NAME_BYTES - len(mark)) + mark}
    if kind.name != "memory":
        return new
    known = MemoryRevision.objects.filter(memory__ulid=row["id"])
    for before in known.values_list("before", flat=True):
        if before and all(before.get(name, row[name]) == row[name] for name in written):
            return None
    return new | {"state": State.ARCHIVED, "superseded_by": row["id"]}


def noted(row: Row, *, here: str) -> bool:
    """Whether a concept of the file was new to the history of the one that is here."""
    concept = Concept.objects.get(ulid=here)
    kept = {
        name: row[name]
        for name in ("name", "definition", "labels", "confidence", "source_memory_ids")
    }
    for known in concept.revisions.all():
        if all(getattr(known, name) == row[name] for name in WRITTEN["concept"]):
            return False
    ConceptRevision.objects.create(
        concept=concept,
        revision=row["revision"],
        written_by=row["origin"],
        written_at=row["updated_at"],
        operation=IMPORT,
        surface="cli",
        origin=Origin.IMPORT,
        at=timezone.now(),
        **kept,
    )
    return True


def apart(kind: Kind, batch: Sequence[Row]) -> Iterator[list[Row]]:
    """Parts of a batch in which no two rows hold the same place.

    In the file none do; but of its memoirs and concepts two may be the same one here.
    """
    part: list[Row] = []
    taken: set[tuple[Any, ...]] = set()
    for row in batch:
        key = kind.key(row, kind.unique)
        if kind.unique and key in taken:
            yield part
            part, taken = [], set()
        taken.add(key)
        part.append(row)
    yield part


def _written(kind: Kind, row: Row) -> Row:
    names = WRITTEN.get(kind.name, ())
    return {name: kind.by_name[name].write(row[name], str) for name in names}

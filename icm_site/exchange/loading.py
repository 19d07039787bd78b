"""Brings a checked export into the database: new rows only, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import Conflict
from icm_site.exchange import beside, rows
from icm_site.exchange.columns import SUCCESSOR, Mask, masked
from icm_site.exchange.kinds import BY_NAME, KINDS, Kind
from icm_site.exchange.reading import Checked, Reader
from memories import history, indexes
from memories.models import Memory, MemoryUsage, State

# Ids of rows that differ, as many as are named.
NAMED = 20
_USAGE = frozenset({"weight", "access_count", "last_accessed", "decayed_at"})
_TIMES = frozenset({"created_at", "updated_at", "last_accessed"})
Row = dict[str, Any]


@dataclass
class Tally:
    """What became of the rows of one type.

    `differing` rows are here with other content and stay, `kept` are those of them
    whose own content is put beside, or into the history of the concept; `left` belong
    to a row that was here before; `hidden` memories are new, but a live one has the
    same text.
    """

    new: int = 0
    same: int = 0
    differing: int = 0
    kept: int = 0
    left: int = 0
    hidden: int = 0
    named: list[str] = field(default_factory=list)


@dataclass
class Loaded:
    """The outcome by type of row; `change` is the one that an undo takes back."""

    change: str = ""

    tallies: dict[str, Tally] = field(
        default_factory=lambda: {kind.name: Tally() for kind in KINDS}
    )

    @property
    def new(self) -> int:
        return sum(tally.new for tally in self.tallies.values())

    @property
    def differing(self) -> int:
        return sum(tally.differing for tally in self.tallies.values())


def load(
    stream: IO[bytes],
    checked: Checked,
    *,
    mask: Mask,
    dry_run: bool,
    caller: Caller | None = None,
) -> Loaded:
    """Add what is new. With `dry_run` all is done and taken back.

    With a `caller` the new memories are one change of it, which can be undone, and a
    row's own times do not make it differ: it is of another program. Raises
    InvalidInput, Conflict where the file is not the one that was checked.
    """
    with _all_or_nothing():
        work = _Loading(mask, foreign=caller is not None)
        reader = Reader(stream)
        for name, group in groupby(reader.rows(), key=lambda found: found[0].name):
            kind = BY_NAME[name]
            for batch in rows.batches(row for _, row in group):
                work.add(kind, batch)
            work.late(kind)
        if reader.digest != checked.digest:
            raise Conflict("the file was changed meanwhile; nothing was imported")
        if work.loaded.tallies["metadata"].new:
            indexes.remake_vectors_if_possible()
        if caller is not None:
            work.log(caller)
        if dry_run:
            transaction.set_rollback(True)
    return work.loaded


@contextmanager
def _all_or_nothing() -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise Conflict(
            f"the file does not go with what is here: {error}; nothing was imported"
        ) from error


class _Loading:
    """One import: what was here before, and which ids stand for others."""

    def __init__(self, mask: Mask, *, foreign: bool) -> None:
        self.loaded = Loaded()
        self._passing = _TIMES if foreign else frozenset[str]()
        self._mask = mask
        self._aliases: dict[tuple[str, str], str] = {}
        self._late: list[tuple[str, str, str]] = []
        self._last = {
            name: BY_NAME[name].model._default_manager.aggregate(m=Max("pk"))["m"] or 0
            for name in ("memory", "concept")
        }

    def add(self, kind: Kind, batch: Sequence[Row]) -> None:
        """Insert those rows of a batch that are new."""
        for part in beside.apart(kind, [self._prepared(kind, row) for row in batch]):
            self._add(kind, part)

    def _add(self, kind: Kind, clean: Sequence[Row]) -> None:
        keys = {column.refers: self._keys(column.refers, clean, kind)
                for column in kind.references}  # fmt: skip
        fresh = list(self._fresh(kind, clean, keys))
        self.loaded.tallies[kind.name].new += len(fresh)
        if kind.name == "revision":
            _key_successors(fresh)
        objects = [self._object(kind, row, keys) for row in fresh]
        if kind.name == "memory":
            self._insert_memories(fresh, objects)
        else:
            kind.model._default_manager.bulk_create(objects)
        self._note_late(kind, fresh)

    def log(self, caller: Caller) -> None:
        """Make the new memories one change, so that an undo hides them."""
        now = timezone.now()
        with history.change("import", caller=caller, now=now) as log:
            for memory in Memory.objects.filter(pk__gt=self._last["memory"]).iterator():
                log.created(memory)
            self.loaded.change = log.change.ulid if log.before else ""

    def late(self, kind: Kind) -> None:
        """Set the references that may stand before what they name."""
        model = kind.model._default_manager
        for batch in rows.batches(self._late):
            targets = dict(
                model.filter(ulid__in={to for *_, to in batch}).values_list(
                    "ulid", "pk"
                )
            )
            for source, name, to in batch:
                model.filter(ulid=source).update(**{f"{name}_id": targets[to]})
        self._late.clear()

    def _prepared(self, kind: Kind, row: Row) -> Row:
        """Secrets masked, references to rows that stand for others replaced."""
        clean = {
            c.name: masked(row[c.name], self._mask, c.limit)
            if c.masked
            else row[c.name]
            for c in kind.columns
        }
        for column in kind.references:
            alias = (column.refers, clean[column.name])
            clean[column.name] = self._aliases.get(alias, clean[column.name])
        return clean

    def _keys(self, refers: str, batch: Sequence[Row], kind: Kind) -> dict[str, int]:
        """Primary keys of the rows of one type that a batch names."""
        names = [c.name for c in kind.references if c.refers == refers and not c.late]
        ids = {row[name] for row in batch for name in names if row[name]}
        model = BY_NAME[refers].model._default_manager
        return dict(model.filter(ulid__in=ids).values_list("ulid", "pk"))

    def _fresh(
        self, kind: Kind, batch: Sequence[Row], keys: Mapping[str, Mapping[str, int]]
    ) -> Iterator[Row]:
        tally = self.loaded.tallies[kind.name]
        here = self._here(kind, batch, kind.identity, keys) if kind.identity else {}
        taken = self._here(kind, batch, kind.unique, keys) if kind.unique else {}
        for row in batch:
            known = here.get(kind.key(row, kind.identity)) if kind.identity else None
            holder = taken.get(kind.key(row, kind.unique)) if kind.unique else None
            if known is None and holder is not None:
                self._aliases[kind.name, row["id"]] = holder["id"]
            if (found := known or holder) is not None:
                if self._compare(kind, row, found, tally, other=known is None):
                    yield from self._kept(kind, row, found, keys)
            elif kind.name == "concept_link" and row["source"] == row["target"]:
                tally.left += 1  # its two concepts are one here
            elif kind.owner and self._was_here(kind, row, keys):
                tally.left += 1
            else:
                yield row

    def _kept(
        self,
        kind: Kind,
        row: Row,
        found: Row,
        keys: Mapping[str, Mapping[str, int]],
    ) -> Iterator[Row]:
        """What is written in a row and not here: as a row, or in a history."""
        tally = self.loaded.tallies[kind.name]
        if not beside.differs(kind, row, found):
            return
        if kind.name == "concept":
            if beside.noted(row, here=found["id"]):
                tally.kept += 1
                tally.new += 1
            return
        new = beside.made(kind, row)
        places = (kind.identity, kind.unique)
        if new and not any(
            self._here(kind, [new], names, keys).get(kind.key(new, names))
            for names in places
            if names
        ):
            tally.kept += 1
            yield new

    def _was_here(
        self, kind: Kind, row: Row, keys: Mapping[str, Mapping[str, int]]
    ) -> bool:
        owner = kind.by_name[kind.owner].refers
        return keys[owner][row[kind.owner]] <= self._last[owner]

    def _here(
        self,
        kind: Kind,
        batch: Sequence[Row],
        names: tuple[str, ...],
        keys: Mapping[str, Mapping[str, int]],
    ) -> dict[tuple[Any, ...], Row]:
        """Rows of the database that may be those of the batch, by these columns."""
        first = kind.by_name[names[0]]
        if kind.unique == names and len(names) > 1:
            # The kind of a suggestion chooses too few; its memories are the same.
            first = next(c for c in kind.columns if c.name in names and c.refers)
        values = {row[first.name] for row in batch}
        if first.refers:
            values = {keys[first.refers][value] for value in values}
        path = f"{first.name}__in" if first.refers else f"{first.path}__in"
        found = rows.records(
            kind, kind.model._default_manager.filter(**{path: values}), self._mask
        )
        return {kind.key(record, names): record for _, record in found}

    def _compare(
        self, kind: Kind, row: Row, found: Row, tally: Tally, *, other: bool
    ) -> bool:
        """Count a row that is here already; whether its content is another."""
        skipped = kind.passing | (
            {"id", "created_at", "updated_at"} if other else set()
        )
        written = {c.name: c.write(row[c.name], str) for c in kind.columns}
        if all(written[n] == found[n] for n in written if n not in skipped):
            tally.same += 1
            return False
        tally.differing += 1
        if len(tally.named) < NAMED:
            tally.named.append(str(row.get("id") or row[kind.identity[0]]))
        return True

    def _object(
        self, kind: Kind, row: Row, keys: Mapping[str, Mapping[str, int]]
    ) -> Any:
        values = {}
        for column in kind.columns:
            value = row[column.name]
            if column.late or "usage__" in column.path:
                continue
            if column.refers:
                values[f"{column.name}_id"] = value and keys[column.refers][value]
            else:
                values[column.path] = value
        made = kind.model(**values)
        derive = getattr(made, "derive", None)
        if derive is not None:
            derive()
        return made

    def _insert_memories(self, fresh: Sequence[Row], objects: Sequence[Memory]) -> None:
        self._hide_twins(fresh, objects)
        Memory.objects.bulk_create(objects)
        ids = dict(
            Memory.objects.filter(ulid__in=[m.ulid for m in objects]).values_list(
                "ulid", "pk"
            )
        )
        MemoryUsage.objects.bulk_create(
            MemoryUsage(
                memory_id=ids[row["id"]],
                importance=row["importance"],
                **{name: row[name] for name in _USAGE},
            )
            for row in fresh
            if row["weight"] is not None
        )

    def _hide_twins(self, fresh: Sequence[Row], objects: Sequence[Memory]) -> None:
        """A text that a live memory has is kept out of sight, behind that one."""
        live = [memory for memory in objects if memory.state == State.LIVE]
        hashes = {memory.summary_hash for memory in live}
        held = dict(
            Memory.objects.live()
            .filter(summary_hash__in=hashes)
            .values_list("summary_hash", "ulid")
        )
        by_id = {row["id"]: row for row in fresh}
        for memory in live:
            holder = held.setdefault(memory.summary_hash, memory.ulid)
            if holder != memory.ulid:
                memory.state = State.ARCHIVED
                by_id[memory.ulid]["superseded_by"] = holder
                self.loaded.tallies["memory"].hidden += 1

    def _note_late(self, kind: Kind, fresh: Sequence[Row]) -> None:
        for column in kind.references:
            if column.late:
                self._late += [
                    (row["id"], column.name, row[column.name])
                    for row in fresh
                    if row[column.name] is not None
                ]


def _key_successors(fresh: Sequence[Row]) -> None:
    """Earlier fields name a successor by its id; the table has its key."""
    befores = [row["before"] for row in fresh if row["before"]]
    named = {before[SUCCESSOR] for before in befores if before.get(SUCCESSOR)}
    keys = dict(Memory.objects.filter(ulid__in=named).values_list("ulid", "pk"))
    for before in befores:
        if SUCCESSOR in before:
            before[SUCCESSOR] = keys.get(before[SUCCESSOR])

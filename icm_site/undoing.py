"""Acts of the pages that no table remembers, to be taken back while the server runs.

Erasing has to stay erasing: what a person deletes is kept by this process alone, for a
click that comes soon, and never on a disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Model, QuerySet
from django.utils.translation import gettext

from icm_site.caller import Caller
from icm_site.errors import Conflict, NotFound
from icm_site.ulid import new_ulid

# Takes an act back; returns what is said of it, and what undoes that.
Work = Callable[[Caller], tuple[str, str]]
Row = dict[str, Any]
Key = tuple[type[Model], Any]
# Called before rows are put back, with those that stay, to keep what they say now.
Leaving = Callable[[Iterable[Key], Caller], None]

PREFIX = "act-"
# When a row was last touched is not what it says.
TOUCHED = "updated_at"
KEPT = 100


class Acts:
    """The last acts, each with what takes it back."""

    def __init__(self) -> None:
        self._works: OrderedDict[str, Work] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, work: Work) -> str:
        """Remember an act; returns the name by which it is taken back."""
        name = new_ulid()
        with self._lock:
            self._works[name] = work
            while len(self._works) > KEPT:
                self._works.popitem(last=False)
        return f"{PREFIX}{name}"

    def take_back(self, name: str, caller: Caller) -> tuple[str, str]:
        """Take an act back, once.

        Raises NotFound, and whatever the work raises; then it may be tried again.
        """
        work = self._works.get(name.removeprefix(PREFIX))
        if work is None:
            raise NotFound(gettext("This cannot be undone any more."))
        said = work(caller)
        with self._lock:
            self._works.pop(name.removeprefix(PREFIX), None)
        return said


ACTS = Acts()


@dataclass
class Watched:
    """What a block did to the rows; `undo` takes it back, empty where it did nothing.

    `before` and `after` have the columns that differ; a row that one of them lacks did
    not exist.
    """

    undo: str = ""
    before: dict[Key, Row] = field(default_factory=dict)
    after: dict[Key, Row] = field(default_factory=dict)
    leaving: Leaving | None = None


@contextmanager
def watching(
    rows: Callable[[], Iterable[QuerySet[Any]]],
    *,
    appended: Collection[type[Model]] = (),
    leaving: Leaving | None = None,
) -> Iterator[Watched]:
    """One transaction that can be taken back, as far as it concerns these rows.

    New rows of `appended` models are a history, which no undo takes away.
    """
    found = Watched(leaving=leaving)
    with transaction.atomic():
        before = _read(rows())
        yield found
        after = _read(rows())
        new = {k for k in after.keys() - before.keys() if k[0] in appended}
        _compare(found, before, {k: row for k, row in after.items() if k not in new})
    if found.before or found.after:
        found.undo = ACTS.keep(lambda caller: _undo(found, caller))


def _read(rows: Iterable[QuerySet[Any]]) -> dict[Key, Row]:
    return {
        (found.model, row[_key(found.model)]): row
        for found in rows
        for row in found.order_by().values()
    }


def _key(model: type[Model]) -> str:
    return str(model._meta.pk.attname)


def _compare(found: Watched, before: dict[Key, Row], after: dict[Key, Row]) -> None:
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        names = [n for n in (old or new or {}) if not (old and new) or old[n] != new[n]]
        for side, row in ((found.before, old), (found.after, new)):
            if row is not None:
                side[key] = {name: row[name] for name in names}


def _undo(done: Watched, caller: Caller) -> tuple[str, str]:
    """Put the rows back. Raises Conflict where they are not as the act left them."""
    try:
        with transaction.atomic():
            for key in done.before.keys() | done.after.keys():
                _refuse_changed(key, done.before.get(key), done.after.get(key))
            if done.leaving is not None:
                done.leaving(done.before.keys() & done.after.keys(), caller)
            _put_back(done)
            models = {model for model, _ in done.before | done.after}
            connection.check_constraints(table_names=sorted(_tables(models)))
    except IntegrityError:
        text = gettext("What is stored by now stands in the way of this undo.")
        raise Conflict(text) from None
    other = replace(done, before=done.after, after=done.before)
    return gettext("Undone."), ACTS.keep(lambda caller: _undo(other, caller))


def _tables(models: Iterable[type[Model]]) -> set[str]:
    """Tables of the models, and of those whose rows may lead to them."""
    return {
        table
        for model in models
        for table in (
            model._meta.db_table,
            *(row.related_model._meta.db_table for row in model._meta.related_objects),
        )
    }


def _refuse_changed(key: Key, before: Row | None, after: Row | None) -> None:
    model, pk = key
    row = model._base_manager.filter(pk=pk).values().first()
    as_left = row is None if after is None else row is not None
    if row and after:
        as_left = all(row[n] == value for n, value in after.items() if n != TOUCHED)
    if not as_left:
        raise Conflict(gettext("This was changed again since, so it is not undone."))


def _put_back(done: Watched) -> None:
    # Rows lead to each other; the database checks that at the end.
    for model, pk in done.after.keys() - done.before.keys():
        rows = model._base_manager.filter(pk=pk)
        rows._raw_delete(rows.db)
    for key in done.before.keys() & done.after.keys():
        key[0]._base_manager.filter(pk=key[1]).update(**done.before[key])
    for model, pk in done.before.keys() - done.after.keys():
        model._base_manager.bulk_create([model(**done.before[model, pk])])


def together(undos: Iterable[str], one: Callable[[str, Caller], Any]) -> str:
    """What takes several acts back, the last one first; `one` takes one back."""
    found = [undo for undo in undos if undo]
    if len(found) < 2:
        return "".join(found)

    def work(caller: Caller) -> tuple[str, str]:
        with transaction.atomic():
            back = [one(undo, caller) for undo in reversed(found)]
        return gettext("Undone."), together([undo for _, undo in back], one)

    return ACTS.keep(work)

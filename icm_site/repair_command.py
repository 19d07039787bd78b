"""`icm repair`: make indexes anew; save what can be read of a damaged file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from icm_site import conf, partial, rebuilding, startup
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput, NotFound, ReadOnly, Unavailable
from icm_site.resident import command as resident
from icm_site.sqlite import (
    backup,
    failures,
    identity,
    opening,
    planning,
    replacing,
    salvage,
    values,
)


def main(arguments: Sequence[str]) -> int:
    """Mend the database; returns 1 if something was lost."""
    parser = Parser(
        prog="icm repair",
        description="Make the indexes anew from the memories. If the file is damaged, "
        "save every row that can be read into a new one; the damaged one is kept.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done and saved"
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    config = conf.current()
    database = config.database_path.resolve()
    if not database.exists():
        raise NotFound(f"There is no database {database}.")
    if not database.is_file():
        raise InvalidInput(identity.NO_FILE.format(path=database))
    if config.read_only and not given.dry_run:
        raise ReadOnly("The database is open for reading alone.")
    state = identity.inspect(database)
    if state.kind != "not a database":
        identity.refuse(state, database)
    if not given.dry_run:
        resident.end(str(database))
    with _expected() as expected:
        return _repair(database, expected, dry_run=given.dry_run)


class Expected(NamedTuple):
    """A new database of this version, and what its columns may hold."""

    model: Path
    rules: values.Rules


@contextmanager
def _expected() -> Iterator[Expected]:
    startup.set_up_django()
    from icm_site import database, stand_ins

    with TemporaryDirectory() as folder:
        model = Path(folder, "new.sqlite3")
        with database.explained():
            database.make_at(model)
        yield Expected(model, stand_ins.rules())


def _repair(database: Path, expected: Expected, *, dry_run: bool) -> int:
    fault = fault_of(database, expected, deep=False)
    if (fault or not dry_run) and not os.access(database.parent, os.W_OK):
        raise ReadOnly(f"{database.parent} may not be written.")
    if fault is None and not dry_run:
        fault = _mend(database, expected)
    if fault is not None:
        print(f"{database} is damaged: {fault}")
        return _save(database, expected, dry_run=dry_run)
    done = "would be" if dry_run else "were"
    print(f"The indexes {done} made anew; nothing is wrong.")
    return 0


def fault_of(
    database: Path, expected: Expected | None = None, *, deep: bool
) -> str | None:
    """The first thing that is wrong with a file, None where nothing is.

    `deep` also compares the ordinary indexes with their tables.
    """
    check = "integrity_check" if deep else "quick_check"
    try:
        with closing(opening.reading(database)) as raw:
            (found,) = raw.execute(f"PRAGMA {check}(1)").fetchone()
            if found != "ok":
                return " ".join(str(found).split())
            if fault := values.first_fault(raw, expected.rules if expected else {}):
                return fault
        lost = planning.missing(database, expected.model) if expected else None
    except failures.DAMAGE as error:
        return failures.words(error)
    return lost and f"{lost} is lost"


def _mend(database: Path, expected: Expected) -> str | None:
    """Make the indexes of a file anew whose pages are whole; what is wrong then."""
    print(f"Backup: {backup.beside(database, datetime.now())}")
    _rebuild()
    return fault_of(database, expected, deep=True)


def _save(database: Path, expected: Expected, *, dry_run: bool) -> int:
    """Save what can be read of a damaged file into a new one that takes its place."""
    aside = replacing.unused(database, "damaged", now=datetime.now())
    with replacing.alone(database), _room(), partial.made(database) as fresh:
        done = salvage.salvage(
            database, fresh, rules=expected.rules, model=expected.model
        )
        if not dry_run:
            if fault := fault_of(fresh, expected, deep=True):
                raise Unavailable(f"the saved rows could not be written: {fault}")
            replacing.swap(database, fresh, aside)
    if not dry_run:
        print(f"The damaged file is kept: {aside}")
        if done.apart:
            apart = replacing.unused(
                database, "salvaged", now=datetime.now(), ending=".jsonl"
            )
            salvage.write_apart(done, apart)
            print(f"Rows that did not fit as they were: {apart}")
    print("\n".join(_report(done, dry_run=dry_run)), flush=True)
    if not dry_run:
        _rebuild()
    return 0 if done.whole else 1


@contextmanager
def _room() -> Iterator[None]:
    """A disk on which what is saved finds no room, as a sentence."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(
            f"what can be read needs room beside the database ({why}); nothing was "
            "changed"
        ) from error


def _rebuild() -> None:
    from icm_site import database

    with database.explained():
        rebuilding.rebuild(mend=True)


def _report(done: salvage.Salvaged, *, dry_run: bool) -> Iterator[str]:
    """A line for each table that has, or had, rows."""
    verb = "would be saved" if dry_run else "saved"
    for table in done.tables:
        parts = [f"{table.saved} {verb}"]
        if table.lost is None:
            parts.append("how many are lost cannot be told")
        elif table.lost:
            parts.append(f"at most {table.lost} lost")
        if table.apart:
            parts.append(f"{table.apart} read, but fitting nowhere")
        if table.replaced:
            parts.append(f"{table.replaced} with values that could not be read")
        if table.altered:
            parts.append(f"{table.altered} texts with broken characters")
        if len(parts) > 1 or table.saved:
            yield f"  {table.name}: {', '.join(parts)}"
    if done.cleared:
        yield f"  {done.cleared} references to lost rows were cleared"
    whole = "Every row was reached." if done.whole else "Not every row was reached."
    yield whole + " A change within the text of a row cannot be noticed."

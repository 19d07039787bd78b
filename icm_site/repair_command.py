"""`icm repair`: make indexes anew; save what can be read of a damaged file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from icm_site import conf, rebuilding
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput, NotFound, ReadOnly, Unavailable
from icm_site.resident import command as resident
from icm_site.sqlite import backup, failures, identity, replacing, salvage
from icm_site.sqlite.opening import to_read


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
    fault = fault_of(database, deep=False)
    if (fault or not given.dry_run) and not os.access(database.parent, os.W_OK):
        raise ReadOnly(f"{database.parent} may not be written.")
    if not given.dry_run:
        resident.end(str(database))
    if fault is None:
        return _mend(database, dry_run=given.dry_run)
    print(f"{database} is damaged: {fault}")
    return _save(database, dry_run=given.dry_run)


def fault_of(database: Path, *, deep: bool) -> str | None:
    """The first thing that is wrong with a file, None where nothing is.

    `deep` also compares the ordinary indexes with their tables.
    """
    check = "integrity_check" if deep else "quick_check"
    try:
        with closing(sqlite3.connect(to_read(database), uri=True)) as raw:
            (found,) = raw.execute(f"PRAGMA {check}(1)").fetchone()
    except failures.DAMAGE as error:
        return failures.words(error)
    return None if found == "ok" else " ".join(str(found).split())


def _mend(database: Path, *, dry_run: bool) -> int:
    """Make the indexes of a file anew whose pages are whole."""
    if dry_run:
        print("The pages are whole; the indexes would be made anew.")
        return 0
    copy = backup.backup(database, backup.default_target(database, datetime.now()))
    print(f"Backup: {copy}")
    rebuilding.rebuild(mend=True)
    fault = fault_of(database, deep=True)
    if fault is None:
        print("The indexes were made anew; nothing is wrong.")
        return 0
    print(f"{database} is damaged: {fault}")
    return _save(database, dry_run=False)


def _save(database: Path, *, dry_run: bool) -> int:
    """Save what can be read of a damaged file into a new one that takes its place."""
    fresh = database.with_name(f"{database.name}.partial")
    fresh.unlink(missing_ok=True)
    aside = replacing.unused(database, "damaged", now=datetime.now())
    with replacing.alone(database):
        try:
            done = salvage.salvage(database, fresh)
            if not dry_run:
                if fault := fault_of(fresh, deep=True):
                    raise Unavailable(f"the saved rows could not be written: {fault}")
                replacing.swap(database, fresh, aside)
        finally:
            for ending in ("", "-wal", "-shm"):
                Path(f"{fresh}{ending}").unlink(missing_ok=True)
    if not dry_run:
        print(f"The damaged file is kept: {aside}")
        if done.apart:
            apart = replacing.unused(
                database, "salvaged", now=datetime.now(), ending=".jsonl"
            )
            salvage.write_apart(done, apart)
            print(f"Rows that fit into no table: {apart}")
    print("\n".join(_report(done, dry_run=dry_run)), flush=True)
    if not dry_run:
        rebuilding.rebuild(mend=True)
    return 0 if done.whole else 1


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
        if table.altered:
            parts.append(f"{table.altered} texts with broken characters")
        if len(parts) > 1 or table.saved:
            yield f"  {table.name}: {', '.join(parts)}"
    if done.cleared:
        yield f"  {done.cleared} references to lost rows were cleared"
    whole = "Every row was reached." if done.whole else "Not every row was reached."
    yield whole + " A change within the text of a row cannot be noticed."

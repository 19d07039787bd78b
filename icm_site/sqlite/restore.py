"""A database as a copy has it; what it was before is kept beside it."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from icm_site import partial
from icm_site.errors import InvalidInput, NotFound, Unavailable
from icm_site.sqlite import backup, failures, identity, replacing


class Restored(NamedTuple):
    """Where the former content is (None: there was none), and how many memories."""

    aside: Path | None
    memories: int


def find(database: Path, name: str) -> Path:
    """The copy that is meant: a path, or `latest`. Raises NotFound."""
    if name != "latest":
        path = Path(name).absolute()
        if not path.is_file():
            raise NotFound(f"There is no file {path}.")
        if path.resolve() == database.resolve():
            raise InvalidInput(f"{path} is the database itself.")
        return path
    made = backup.copies(database)
    if not made:
        raise NotFound(f"There is no copy beside {database}.")
    return made[-1]


def memories_of(copy: Path) -> int:
    """Check a copy in full; the live memories in it.

    Raises what `identity.refuse` raises, Unavailable for a damaged one.
    """
    state = identity.refuse_foreign(copy)
    if state.kind != "ours":
        raise InvalidInput(f"{copy} is no copy of a database of ICM.")
    try:
        with closing(replacing.reading(copy)) as raw:
            (fault,) = raw.execute("PRAGMA integrity_check(1)").fetchone()
            if fault != "ok":
                raise Unavailable(f"{copy} is damaged ({fault}); try an older copy.")
            row = raw.execute("SELECT count(*) FROM memories WHERE state = 'live'")
            return int(row.fetchone()[0])
    except failures.DAMAGE as error:
        why = failures.words(error)
        raise Unavailable(
            f"{copy} cannot be read: {why}; try an older copy."
        ) from error


def restore(database: Path, copy: Path, *, now: datetime) -> Restored:
    """Make a database what the copy is; who has it open sees that at the next read.

    Raises what `memories_of` and `replacing.swap` raise.
    """
    count = memories_of(copy)
    with replacing.alone(database):
        if not database.exists():
            replacing.pages_into(copy, database)
            return Restored(None, count)
        aside = replacing.unused(database, "before", now=now)
        try:
            replacing.pages_into(database, aside)
            replacing.pages_into(copy, database)
        except failures.DAMAGE:
            # Its first page is gone, so that SQLite takes it for no database.
            aside.unlink(missing_ok=True)
            _put(database, copy, aside)
    return Restored(aside, count)


def _put(database: Path, copy: Path, aside: Path) -> None:
    try:
        with partial.made(database) as fresh:
            replacing.pages_into(copy, fresh)
            replacing.swap(database, fresh, aside)
    except failures.DAMAGE as error:
        why = failures.words(error)
        raise Unavailable(f"{database} could not be restored: {why}") from error

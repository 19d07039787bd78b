"""What an import did, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from icm_site.exchange.loading import Loaded, Tally


def said(done: Loaded, *, dry_run: bool, backup: Path | None) -> Iterator[str]:
    """A line for each type of row that the file has, and what follows from it."""
    for name, tally in done.tallies.items():
        if parts := list(_parts(name, tally)):
            yield f"{name}: {', '.join(parts)}"
    for name, tally in done.tallies.items():
        if tally.differing:
            more = " …" if tally.differing > len(tally.named) else ""
            yield (
                f"Differs, and stays as it is here ({name}): "
                f"{', '.join(tally.named)}{more}"
            )
    if dry_run:
        yield "Nothing was changed: this was a preview."
    elif not done.new:
        yield "Nothing new: all of it is here already."
    elif done.change:
        yield f"Undo of the memories: icm undo {done.change}"
    if backup:
        yield f"The database as it was before: {backup}"


def _parts(name: str, tally: Tally) -> Iterator[str]:
    if tally.new - tally.kept:
        yield f"{tally.new - tally.kept} new"
    if tally.hidden:
        yield f"{tally.hidden} of them behind a live memory with the same text"
    if tally.same:
        yield f"{tally.same} here already"
    if tally.differing:
        yield f"{tally.differing} with other content here"
    if tally.kept:
        history = name == "concept"
        where = "in the history of the concept" if history else "under ids of their own"
        yield f"{tally.kept} of these kept beside, {where}"
    if tally.left:
        yield f"{tally.left} left out, of rows that are here already"

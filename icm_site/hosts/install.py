"""Plan what `icm init` would change, and change it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from icm_site.errors import Unavailable
from icm_site.hosts import documents, edits, writing
from icm_site.hosts.edits import Item
from icm_site.hosts.errors import WrongShape
from icm_site.hosts.manifest import Manifest, Record, digest
from icm_site.hosts.texts import MARK

TRIES = 3
BAD = "not touched"


class Line(NamedTuple):
    """What was done, or would be, for one part."""

    item: Item
    state: str
    note: str = ""


class Change(NamedTuple):
    """A file before (None: there is none) and after, with the parts in it."""

    path: Path
    items: tuple[Item, ...]
    before: bytes | None
    after: bytes


class Plan(NamedTuple):
    """What each part comes to, and the files that change."""

    lines: tuple[Line, ...]
    changes: tuple[Change, ...]


def plan(items: Iterable[Item], known: Manifest, *, force: bool = False) -> Plan:
    """Work out all changes, without any; a file of a wrong shape is not changed."""
    lines: list[Line] = []
    changes: list[Change] = []
    for path, parts in _by_file(items).items():
        found, change = _plan_file(path, parts, known, force)
        lines += found
        changes += [change] if change else []
    return Plan(tuple(lines), tuple(changes))


def _by_file(items: Iterable[Item]) -> Mapping[Path, list[Item]]:
    files: dict[Path, list[Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return files


def _plan_file(
    path: Path, parts: Sequence[Item], known: Manifest, force: bool
) -> tuple[list[Line], Change | None]:
    try:
        before = writing.read(path)
        lines, after = _edited(parts, before, known.get(path), force)
    except (WrongShape, Unavailable) as error:
        return [Line(part, BAD, error.message) for part in parts], None
    if after == (before or b""):
        return lines, None
    return lines, Change(path, tuple(parts), before, after)


def _edited(
    parts: Sequence[Item], before: bytes | None, record: Record | None, force: bool
) -> tuple[list[Line], bytes]:
    mark, text = documents.decode(before or b"")
    lines: list[Line] = []
    done: dict[tuple[str, object], edits.Outcome] = {}
    for part in parts:
        # Several tools share one file of a skill: it is written once.
        same = (part.kind, part.value) if part.kind == "file" else (part.kind, part.key)
        outcome = done.get(same)
        if outcome is None:
            ours = part.kind == "file" and MARK in text and _untouched(before, record)
            outcome = edits.put(text, part, force=force or ours)
            text = outcome.text
            done[same] = outcome
        lines.append(Line(part, outcome.state, outcome.note))
    return lines, documents.encode(mark, text)


def _untouched(data: bytes | None, record: Record | None) -> bool:
    return record is not None and record.sha256_after == digest(data)


def apply(
    change: Change, known: Manifest, *, now: datetime, force: bool = False
) -> Manifest:
    """Make a change; the manifest that comes back is on disk already.

    If the tool wrote its file meanwhile, the edit is made anew. Raises WrongShape,
    Unavailable; the file is then as it was.
    """
    record = known.get(change.path)
    for _ in range(TRIES):
        if writing.read(change.path) == change.before:
            return _write(change, known, now)
        before = writing.read(change.path)
        _, after = _edited(change.items, before, record, force)
        change = change._replace(before=before, after=after)
    raise Unavailable(f"{change.path} is being written by another program")


def _write(change: Change, known: Manifest, now: datetime) -> Manifest:
    old = known.get(change.path)
    folders = writing.make_folders(change.path)
    record = _record(change, old)
    if change.before is not None and not _untouched(change.before, old):
        copy = back_up(change.path, change.before, now)
        record = dataclasses.replace(record, backups=(*record.backups, str(copy)))
    record = dataclasses.replace(
        record, folders=(*record.folders, *(str(folder) for folder in folders))
    )
    known = known.with_record(record)
    # First: a crash after the file was replaced must not leave it unlisted.
    known.save()
    writing.replace(change.path, change.after, mode=_new_mode())
    return known


def _record(change: Change, old: Record | None) -> Record:
    parts = {(item.tool, item.mode) for item in change.items}
    hashed = digest(change.before)
    if old is None or change.before is None or hashed == old.sha256_before:
        old = Record(
            path=str(change.path),
            sha256_before=hashed,
            bytes_before=len(change.before or b""),
            backups=old.backups if old else (),
            folders=old.folders if old else (),
        )
    elif hashed != old.sha256_after:
        old = dataclasses.replace(old, restorable=False)
    return dataclasses.replace(
        old,
        parts=tuple(sorted({*old.parts, *parts})),
        sha256_after=digest(change.after),
    )


def back_up(path: Path, data: bytes, now: datetime) -> Path:
    """Keep a content as `<file>.icm-bak-<time>` beside its file; raises Unavailable."""
    target = writing.real(path)
    stem = f"{target.name}.icm-bak-{now:%Y%m%dT%H%M%S}"
    copy = target.with_name(stem)
    number = 1
    while copy.exists():
        if copy.read_bytes() == data:
            return copy
        number += 1
        copy = target.with_name(f"{stem}-{number}")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    writing.replace(copy, data, mode=mode)
    return copy


def _new_mode() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask

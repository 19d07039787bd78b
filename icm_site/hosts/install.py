"""Plan what `icm init` would change, and change it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from icm_site.errors import Unavailable
from icm_site.hosts import documents, edits, program, writing
from icm_site.hosts.edits import Item
from icm_site.hosts.errors import WrongShape
from icm_site.hosts.manifest import Manifest, Record, digest
from icm_site.hosts.shapes import WHOLE
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
        whole = part.kind in WHOLE
        same = (part.kind, part.value) if whole else (part.kind, part.key)
        outcome = done.get(same)
        if outcome is None:
            ours = whole and MARK in text and _untouched(before, record)
            outcome = edits.put(text, part, force=force or ours)
            if _is_listed(part, record) and _is_dead(outcome.runs):
                outcome = edits.put(text, part, force=True)
            text = outcome.text
            done[same] = outcome
        lines.append(Line(part, outcome.state, outcome.note))
    return lines, documents.encode(mark, text)


def _is_listed(part: Item, record: Record | None) -> bool:
    return record is not None and (part.tool, part.mode) in record.parts


def _is_dead(runs: Sequence[Sequence[str]]) -> bool:
    """Whether none of some commands, given by their files, can run any more."""
    return bool(runs) and all(any(map(program.is_gone, files)) for files in runs)


def _untouched(data: bytes | None, record: Record | None) -> bool:
    return record is not None and record.sha256_after == digest(data)


def apply(
    changes: Sequence[Change], known: Manifest, *, now: datetime, force: bool = False
) -> tuple[Manifest, Mapping[Path, str]]:
    """Make the changes; returns the manifest, saved, and why files were not written.

    What will be written is listed before the first file is: a crash leaves whole
    files, old or new, and none of them unlisted. Raises Unavailable for the manifest.
    """
    failed: dict[Path, str] = {}
    if not changes:
        return known, failed
    before = known
    for change in changes:
        known = known.with_record(_record(change, known.get(change.path), now))
    known.save()
    for change in changes:
        try:
            known = _write(change, before.get(change.path), known, now, force)
        except (WrongShape, Unavailable) as error:
            failed[change.path] = error.message
            old = before.get(change.path)
            path = str(change.path)
            known = known.with_record(old) if old else known.without(path)
    if failed:
        known.save()
    return known, failed


def _write(
    change: Change, old: Record | None, known: Manifest, now: datetime, force: bool
) -> Manifest:
    """Write one file; where its tool wrote it meanwhile, the edit is made anew."""
    for _ in range(TRIES):
        current = writing.read(change.path)
        if current != change.before:
            _, after = _edited(change.items, current, old, force)
            change = change._replace(before=current, after=after)
            known = known.with_record(_record(change, old, now))
            known.save()
        writing.make_folders(change.path)
        if change.before is not None and not _untouched(change.before, old):
            back_up(change.path, change.before, now)
        if writing.read(change.path) == change.before:
            runs = any(item.kind == "script" for item in change.items)
            writing.replace(change.path, change.after, mode=_new_mode(runs=runs))
            return known
    raise Unavailable("it is being written by another program; try again")


def _record(change: Change, old: Record | None, now: datetime) -> Record:
    """What the manifest says of a file after a change, with what that will make."""
    parts = {(item.tool, item.mode) for item in change.items}
    hashed = digest(change.before)
    new = old
    if new is None or change.before is None or hashed == new.sha256_before:
        new = Record(
            path=str(change.path),
            sha256_before=hashed,
            bytes_before=len(change.before or b""),
            backups=old.backups if old else (),
            folders=old.folders if old else (),
        )
    elif hashed != new.sha256_after:
        new = dataclasses.replace(new, restorable=False)
    backups = list(new.backups)
    if change.before is not None and not _untouched(change.before, old):
        backups.append(str(_copy_of(change.path, change.before, now)))
    folders = [*new.folders, *map(str, writing.missing_folders(change.path))]
    return dataclasses.replace(
        new,
        parts=tuple(sorted({*new.parts, *parts})),
        sha256_after=digest(change.after),
        backups=tuple(dict.fromkeys(backups)),
        folders=tuple(dict.fromkeys(folders)),
    )


def back_up(path: Path, data: bytes, now: datetime) -> Path:
    """Keep a content as `<file>.icm-bak-<time>` beside its file; raises Unavailable."""
    target, copy = writing.real(path), _copy_of(path, data, now)
    if not copy.exists():
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        writing.replace(copy, data, mode=mode)
    return copy


def _copy_of(path: Path, data: bytes, now: datetime) -> Path:
    """The first name for a backup that is free, or holds this content already."""
    target = writing.real(path)
    stem = f"{target.name}.icm-bak-{now:%Y%m%dT%H%M%S}"
    copy, number = target.with_name(stem), 1
    while copy.exists() and copy.read_bytes() != data:
        number += 1
        copy = target.with_name(f"{stem}-{number}")
    return copy


def _new_mode(*, runs: bool) -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return (0o777 if runs else 0o666) & ~mask

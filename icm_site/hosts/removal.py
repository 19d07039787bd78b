"""Take out what `icm init` put in: whole files back, or our parts alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from icm_site.errors import IcmError, Unavailable
from icm_site.hosts import documents, edits, finding, install, writing
from icm_site.hosts.catalog import BY_NAME
from icm_site.hosts.edits import Item
from icm_site.hosts.errors import WrongShape
from icm_site.hosts.finding import Machine
from icm_site.hosts.manifest import Manifest, Record, digest
from icm_site.hosts.shapes import WHOLE, Setup

RESTORED, DELETED, REMOVED = "restored", "deleted", "our entries removed"
GONE, UNCHANGED = "is gone already", "as before"


class Step(NamedTuple):
    """What a file comes to; `after` None means that it is deleted."""

    path: Path
    state: str
    before: bytes | None
    after: bytes | None
    note: str = ""
    backups: tuple[Path, ...] = ()  # that hold nothing which the file does not


def uninstalling(known: Manifest, setup: Setup, machine: Machine) -> list[Step]:
    """A step for each file that is listed, or that holds a part of ours unlisted."""
    found: dict[Path, list[Item]] = {}
    for item in finding.everywhere(setup, machine):
        found.setdefault(item.path, []).append(item)
    steps = [
        _listed(record, found.pop(Path(record.path), []), setup, machine)
        for record in known.files.values()
    ]
    unlisted = [
        _edited(path, parts, None) for path, parts in found.items() if _may_hold(path)
    ]
    return [*steps, *(s for s in unlisted if s.state != UNCHANGED)]


def disabling(known: Manifest, setup: Setup, machine: Machine) -> list[Step]:
    """A step for each file with hooks of ours; all else stays in it."""
    found: dict[Path, list[Item]] = {}
    for item in finding.everywhere(setup, machine):
        found.setdefault(item.path, []).append(item)
    for record in known.files.values():
        found.setdefault(Path(record.path), _parts(record, setup, machine))
    steps = []
    for path, parts in found.items():
        hooks = [part for part in parts if part.mode == "hook"]
        if hooks and writing.is_file(path) and _may_hold(path):
            steps.append(_edited(path, hooks, known.get(path)))
    return [step for step in steps if step.state != UNCHANGED]


def _may_hold(path: Path) -> bool:
    """Whether a file that no list names can hold a part of ours: each has our name.

    Else a file that its tool cannot read either would be told as left with one.
    """
    try:
        return b"icm" in (writing.read(path) or b"").lower()
    except Unavailable:
        return False


def _listed(
    record: Record, parts: Sequence[Item], setup: Setup, machine: Machine
) -> Step:
    path = Path(record.path)
    copies = _copies(record)
    try:
        data = writing.read(path)
    except Unavailable as error:
        return Step(path, install.BAD, None, None, error.message)
    if data is None and not record.created:
        return Step(path, GONE, None, None, backups=() if copies else _all(record))
    if digest(data) == record.sha256_before:
        return Step(path, UNCHANGED, data, data, backups=_all(record))
    if record.restorable and digest(data) == record.sha256_after:
        if record.created:
            return Step(path, DELETED, data, None, backups=_all(record))
        if copies:
            before = copies[0].read_bytes()
            return Step(path, RESTORED, data, before, backups=_all(record))
    return _edited(path, parts or _parts(record, setup, machine), record)


def _all(record: Record) -> tuple[Path, ...]:
    return tuple(place for place in map(Path, record.backups) if writing.is_file(place))


def _copies(record: Record) -> list[Path]:
    """The backups that hold what stood there before our first write."""
    return [p for p in _all(record) if digest(p.read_bytes()) == record.sha256_before]


def _parts(record: Record, setup: Setup, machine: Machine) -> list[Item]:
    """The parts of a file that lies where the catalog does not look any more."""
    path = Path(record.path)
    return [
        finding.item(tool, target, setup, machine, path)
        for name, mode in record.parts
        if (tool := BY_NAME.get(name))
        for target in tool.targets
        if target.mode == mode and path.name in {Path(f).name for f in target.files}
    ]


def _edited(path: Path, parts: Iterable[Item], record: Record | None) -> Step:
    """Our parts taken out of a file, or the file deleted if nothing else is in it."""
    try:
        data = writing.read(path)
        mark, text = documents.decode(data or b"")
        original = _original(record)
        left, skeletons = text, {""}
        for part in parts:
            left = edits.take(left, part, original)
            skeletons.add(part.start.strip())
    except (WrongShape, Unavailable) as error:
        return Step(path, install.BAD, None, None, error.message)
    if left == text:
        return Step(path, UNCHANGED, data, data)
    bare = left.strip() in skeletons | {"{}"} or left.split() == ["{", "}"]
    whole = any(part.kind in WHOLE for part in parts)
    if bare and (whole or (record is not None and record.created)):
        return Step(path, DELETED, data, None)
    after = documents.encode(mark, left)
    same = record is not None and digest(after) == record.sha256_before
    kept = _all(record) if record else ()
    note = f"backup kept: {kept[0]}" if kept and not same else ""
    return Step(path, REMOVED, data, after, note, kept if same else ())


def _original(record: Record | None) -> str:
    if record is None:
        return ""
    for place in _copies(record):
        try:
            return documents.decode(place.read_bytes())[1]
        except WrongShape:
            continue
    return ""


def carry_out(steps: Sequence[Step]) -> list[Step]:
    """Do it; a step that fails comes back as not touched."""
    return [_carried_out(step) for step in steps]


def _carried_out(step: Step) -> Step:
    if step.state in (install.BAD, GONE):
        return step
    try:
        if writing.read(step.path) != step.before:
            raise Unavailable("it is being written by another program; try again")
        if step.after is None:
            writing.real(step.path).unlink(missing_ok=True)
        elif step.after != step.before:
            writing.replace(step.path, step.after)
        for copy in step.backups:
            copy.unlink(missing_ok=True)
    except OSError as error:
        return step._replace(state=install.BAD, note=str(error.strerror))
    except IcmError as error:
        return step._replace(state=install.BAD, note=error.message)
    return step


def forget(known: Manifest, steps: Iterable[Step]) -> tuple[Manifest, list[str]]:
    """The manifest without what was taken out, and the folders that this emptied.

    Folders that init made go once they are empty. Raises Unavailable.
    """
    folders: set[str] = set()
    for step in steps:
        record = known.get(step.path)
        if record is not None and step.state != install.BAD:
            folders.update(record.folders)
            known = known.without(record.path)
    known.save()
    removed = []
    for folder in sorted(folders, key=len, reverse=True):
        try:
            Path(folder).rmdir()
        except OSError:  # not empty, or gone
            continue
        removed.append(folder)
    return known, removed


def keep_copies(steps: Iterable[Step], now: datetime) -> list[Step]:
    """Back up what other people's files held before hooks go; raises Unavailable."""
    kept = []
    for step in steps:
        if step.state == REMOVED and step.before is not None:
            copy = install.back_up(step.path, step.before, now)
            step = step._replace(note=f"backup: {copy}", backups=())
        kept.append(step)
    return kept


def note_disabled(known: Manifest, steps: Iterable[Step]) -> Manifest:
    """The manifest after hooks went: files that stay are still restorable."""
    for step in steps:
        record = known.get(step.path)
        if record is None or step.state == install.BAD:
            continue
        if step.after is None:
            known = known.without(record.path)
            continue
        ours = digest(step.before) == record.sha256_after
        known = known.with_record(
            dataclasses.replace(
                record,
                parts=tuple(part for part in record.parts if part[1] != "hook"),
                sha256_after=digest(step.after),
                restorable=record.restorable and ours,
            )
        )
    known.save()
    return known


def states(steps: Iterable[Step]) -> Mapping[str, int]:
    """How many files came to what."""
    counted: dict[str, int] = {}
    for step in steps:
        counted[step.state] = counted.get(step.state, 0) + 1
    return counted

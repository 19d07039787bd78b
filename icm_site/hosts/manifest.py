"""What `icm init` wrote: a list of files with their hashes, kept in the data folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from icm_site import paths
from icm_site.errors import Unavailable
from icm_site.hosts import writing

NAME = "install-manifest.json"
VERSION = 1


@dataclass(frozen=True)
class Record:
    """A file that was written. Hashes are SHA-256 in hex, "" where there was no file.

    `restorable`: nobody else wrote it between our writes, so that `backup` is what
    stood there before the first.
    """

    path: str
    parts: tuple[tuple[str, str], ...] = ()  # (tool, mode)
    sha256_before: str = ""
    bytes_before: int = 0
    sha256_after: str = ""
    backups: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # that were made for it, outermost first
    restorable: bool = True

    @property
    def created(self) -> bool:
        """Whether there was no such file."""
        return not self.sha256_before


@dataclass(frozen=True)
class Manifest:
    """All records, by path."""

    place: Path
    files: Mapping[str, Record] = field(default_factory=dict)

    def get(self, path: Path) -> Record | None:
        """The record of a file."""
        return self.files.get(str(path))

    def with_record(self, record: Record) -> Manifest:
        """A manifest with this record in the place of an older one."""
        return replace(self, files={**self.files, record.path: record})

    def without(self, path: str) -> Manifest:
        """A manifest without a file."""
        left = {name: r for name, r in self.files.items() if name != path}
        return replace(self, files=left)

    def save(self) -> None:
        """Write it, or remove it once it lists nothing; raises Unavailable."""
        if not self.files:
            self.place.unlink(missing_ok=True)
            return
        paths.make_private_dir(self.place.parent)
        body = {
            "schema_version": VERSION,
            "files": [asdict(record) for record in self.files.values()],
        }
        text = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
        writing.replace(self.place, text.encode("utf-8", "surrogateescape"))


def digest(data: bytes | None) -> str:
    """SHA-256 of a content, "" for none."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def load(folder: Path) -> Manifest:
    """The manifest of a data folder, empty without one; raises Unavailable."""
    place = folder / NAME
    try:
        body = json.loads(place.read_text("utf-8", "surrogateescape"))
        records = [_record(entry) for entry in body["files"]]
    except FileNotFoundError:
        return Manifest(place)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise Unavailable(
            f"{place} cannot be read; move it away, and entries are then found "
            "by their content alone"
        ) from None
    return Manifest(place, {record.path: record for record in records})


def _record(entry: Mapping[str, Any]) -> Record:
    return Record(
        path=str(entry["path"]),
        parts=tuple((str(tool), str(mode)) for tool, mode in entry["parts"]),
        sha256_before=str(entry["sha256_before"]),
        bytes_before=int(entry["bytes_before"]),
        sha256_after=str(entry["sha256_after"]),
        backups=tuple(str(name) for name in entry["backups"]),
        folders=tuple(str(name) for name in entry["folders"]),
        restorable=bool(entry["restorable"]),
    )

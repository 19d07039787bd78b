"""Reads an export line by line and checks all of it before anything changes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from icm_site.errors import InvalidInput
from icm_site.exchange.exporting import FORMAT, VERSION
from icm_site.exchange.kinds import BY_NAME, KINDS, Kind
from icm_site.exchange.rows import batches

# A memory with its excerpt, keywords and metadata is far below.
LINE_BYTES = 16 * 1024 * 1024
_PLACES = {kind.name: place for place, kind in enumerate(KINDS)}
# On disk where it grows: what a file may hold is not bounded by memory.
_SCHEMA = """
CREATE TABLE seen(type, key, PRIMARY KEY(type, key)) WITHOUT ROWID;
CREATE TABLE named(type, key, line, PRIMARY KEY(type, key)) WITHOUT ROWID;
"""
_UNKNOWN = """
SELECT type, key, line FROM named
WHERE NOT EXISTS (
    SELECT 1 FROM seen WHERE seen.type = named.type AND seen.key = named.key)
ORDER BY line
"""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A file that may be imported: its size in rows, and the digest of its bytes."""

    counts: Mapping[str, int]
    digest: str


@dataclass
class Reader:
    """One pass over a file; `digest` is of what was read so far."""

    stream: IO[bytes]
    line: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    _hash: Any = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        return str(self._hash.hexdigest())

    def rows(self) -> Iterator[tuple[Kind, dict[str, Any]]]:
        """Each row with its values as the database takes them. Raises InvalidInput."""
        self.counts = _header(next(self._objects(), None))
        last = 0
        for raw in self._objects():
            try:
                kind, row = _row(raw)
            except InvalidInput as error:
                raise self.wrong(error.message) from None
            if _PLACES[kind.name] < last:
                raise self.wrong(f"a {kind.name} stands behind what comes after it")
            last = _PLACES[kind.name]
            yield kind, row

    def wrong(self, why: str) -> InvalidInput:
        return InvalidInput(f"line {self.line}: {why}; nothing was imported")

    def _objects(self) -> Iterator[Any]:
        while raw := self.stream.readline(LINE_BYTES + 1):
            self.line += 1
            self._hash.update(raw)
            if len(raw) > LINE_BYTES:
                raise self.wrong(f"longer than {LINE_BYTES >> 20} MiB")
            if not raw.strip():
                continue
            yield self._parsed(raw)

    def _parsed(self, raw: bytes) -> Any:
        try:
            value = json.loads(raw.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise self.wrong("not UTF-8") from None
        except (ValueError, RecursionError):
            raise self.wrong("not JSON, or cut off") from None
        if not isinstance(value, dict):
            raise self.wrong("no JSON object")
        return value


def check(stream: IO[bytes]) -> Checked:
    """Look at each line, each id and each reference, and the counts of the header.

    Raises InvalidInput.
    """
    reader = Reader(stream)
    counted = dict.fromkeys(BY_NAME, 0)
    # An empty name: a private file of SQLite's own that goes with the connection.
    with closing(sqlite3.connect("")) as index:
        index.executescript(_SCHEMA)
        for kind, row in reader.rows():
            counted[kind.name] += 1
            _register(index, reader, kind, row)
        _references(index)
    for name, promised in reader.counts.items():
        if counted.get(name, 0) != promised:
            raise InvalidInput(
                f"the file is not whole: {counted.get(name, 0)} of {promised} rows of "
                f"type {name}; nothing was imported"
            )
    return Checked(counts=counted, digest=reader.digest)


def _header(head: Any) -> Mapping[str, int]:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InvalidInput(f"the file is no export of icm: no {FORMAT} header")
    version, counts = head.get("version"), head.get("counts")
    if type(version) is not int or version > VERSION:
        raise InvalidInput(
            f"the export has format version {str(version)[:20]}, this program reads up "
            f"to {VERSION}: update icm"
        )
    if not isinstance(counts, dict) or not all(
        type(n) is int and n >= 0 for n in counts.values()
    ):
        raise InvalidInput("the header of the export has no counts")
    unknown = [name for name in counts if name not in BY_NAME]
    if unknown:
        raise InvalidInput(f"the export has rows of unknown type {unknown[0][:40]!r}")
    return counts


def _row(raw: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
    kind = BY_NAME.get(str(raw.get("type")))
    if kind is None:
        raise InvalidInput(f"unknown type {str(raw.get('type'))[:40]!r}")
    unknown = raw.keys() - kind.by_name.keys() - {"type"}
    if unknown:
        raise InvalidInput(f"{kind.name}: unknown field {min(unknown)[:40]!r}")
    try:
        return kind, {c.name: c.read(raw.get(c.name)) for c in kind.columns}
    except InvalidInput as error:
        raise InvalidInput(f"{kind.name}: {error.message}") from None


def _register(
    index: sqlite3.Connection, reader: Reader, kind: Kind, row: Mapping[str, Any]
) -> None:
    for names in (kind.identity, kind.unique):
        if not names:
            continue
        # Both stand in one column; the names tell them apart.
        mark = kind.name if names == ("id",) else f"{kind.name}:{','.join(names)}"
        key = row["id"] if names == ("id",) else json.dumps(kind.key(row, names))
        try:
            index.execute("INSERT INTO seen VALUES (?, ?)", (mark, key))
        except sqlite3.IntegrityError:
            raise reader.wrong(f"the same {kind.name} stands there twice") from None
    for column in kind.references:
        if row[column.name] is not None:
            index.execute(
                "INSERT OR IGNORE INTO named VALUES (?, ?, ?)",
                (column.refers, row[column.name], reader.line),
            )
    if row.get("source", 0) == row.get("target", 1):
        raise reader.wrong(f"a {kind.name} from a row to itself")


def _references(index: sqlite3.Connection) -> None:
    """What is not in the file must be in the database."""
    for batch in batches(index.execute(_UNKNOWN)):
        for name in {name for name, _, _ in batch}:
            ids = {key for kind, key, _ in batch if kind == name}
            model = BY_NAME[name].model._default_manager
            known = set(model.filter(ulid__in=ids).values_list("ulid", flat=True))
            for kind, key, line in batch:
                if kind == name and key not in known:
                    raise InvalidInput(
                        f"line {line}: it names the {name} {key}, which is neither in "
                        "the file nor here; nothing was imported"
                    )


def opened(path: Path) -> IO[bytes]:
    """The file, for reading. Raises InvalidInput where it is no regular file."""
    try:
        if not path.exists():
            raise InvalidInput(f"no such file: {path}")
        if not path.is_file():
            raise InvalidInput(f"no regular file: {path}")
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error

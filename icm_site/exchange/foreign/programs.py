"""The programs whose memory can be brought in: told apart by the file's shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from icm_site.errors import InvalidInput
from icm_site.exchange.exporting import FORMAT
from icm_site.exchange.foreign import rules, rust_icm, server_memory
from icm_site.exchange.foreign.staging import Notes, Row

OWN = "icm"
NAMES = (rust_icm.PROGRAM, server_memory.PROGRAM, rules.PROGRAM)
HEAD_BYTES = 1 << 16


def detect(path: Path) -> str:
    """The program that a file is of; `icm` for an export. Raises InvalidInput."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    if head.startswith(rust_icm.MAGIC):
        if rust_icm.matches(path):
            return rust_icm.PROGRAM
        raise InvalidInput(f"{path} is a database of a program that is not known")
    if head.startswith(b"PK\x03\x04"):
        raise InvalidInput(f"{path} is a zip archive: unpack it first")
    if rules.matches(path):
        return rules.PROGRAM
    if FORMAT.encode() not in head[:200] and server_memory.matches(head):
        return server_memory.PROGRAM
    return OWN


def rows(program: str, path: Path, notes: Notes, *, project: str) -> Iterator[Row]:
    """The rows of a file of that program. Raises InvalidInput."""
    if program == rust_icm.PROGRAM:
        yield from rust_icm.rows(path, notes)
    elif program == server_memory.PROGRAM:
        yield from server_memory.rows(path, notes)
    else:
        yield from rules.rows(path, notes, project=project)

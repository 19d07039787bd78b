"""The programs whose memory can be brought in: told apart by the file's shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from icm_site.errors import InvalidInput
from icm_site.exchange.columns import Mask
from icm_site.exchange.exporting import FORMAT
from icm_site.exchange.foreign import (
    basic_memory,
    chatgpt,
    claude_chats,
    claude_code,
    claude_mem,
    database,
    mem0,
    rule_files,
    rules,
    rust_icm,
    server_memory,
)
from icm_site.exchange.foreign.staging import Notes, Row

OWN = "icm"
NAMES = (
    *(rust_icm.PROGRAM, server_memory.PROGRAM, basic_memory.PROGRAM),
    *(claude_mem.PROGRAM, mem0.PROGRAM, claude_chats.PROGRAM, chatgpt.PROGRAM),
    *(claude_code.PROGRAM, rules.PROGRAM),
)
HEAD_BYTES = 1 << 16
# Of a folder, so many files at most.
MOST_FILES = 20_000


def detect(path: Path) -> str:
    """The program that a file or folder is of; `icm` for an export.

    Raises InvalidInput.
    """
    if path.is_dir():
        return _of_folder(path)
    head = _head(path)
    if head.startswith(database.MAGIC):
        return _of_database(path)
    if head.startswith(b"PK\x03\x04"):
        raise InvalidInput(f"{path} is a zip archive: unpack it first")
    if rule_files.matches(path):
        return rules.PROGRAM
    if FORMAT.encode() in head[:200]:
        return OWN
    for program in (server_memory, claude_chats, chatgpt, claude_code, mem0):
        if program.matches(head):
            return str(program.PROGRAM)
    return basic_memory.PROGRAM if basic_memory.matches(head) else OWN


def rows(
    program: str,
    path: Path,
    notes: Notes,
    *,
    project: str,
    chosen: str = "",
    mask: Mask = str,
) -> Iterator[Row]:
    """The rows of a file, or folder, of that program. Raises InvalidInput.

    `project` is where what has none belongs, `chosen` the one that a person named.
    """
    if path.is_dir() and program not in (basic_memory.PROGRAM, claude_code.PROGRAM):
        raise InvalidInput(f"{path} is a folder; name the file of {program}")
    if program == rust_icm.PROGRAM:
        yield from rust_icm.rows(path, notes)
    elif program == server_memory.PROGRAM:
        yield from server_memory.rows(path, notes)
    elif program == claude_mem.PROGRAM:
        yield from claude_mem.rows(path, notes)
    elif program == mem0.PROGRAM:
        yield from mem0.rows(path, notes, project=chosen)
    elif program == claude_chats.PROGRAM:
        yield from claude_chats.rows(path, notes, project=chosen, mask=mask)
    elif program == chatgpt.PROGRAM:
        yield from chatgpt.rows(path, notes, project=chosen, mask=mask)
    elif program == claude_code.PROGRAM:
        files = _files(path, claude_code.ENDING)
        yield from claude_code.rows(files, notes, project=chosen, mask=mask)
    elif program == basic_memory.PROGRAM:
        root = path if path.is_dir() else path.parent
        files = _files(path, basic_memory.ENDING)
        yield from basic_memory.rows(files, root, notes, project=chosen)
    else:
        yield from rules.rows(path, notes, project=project)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


def _of_database(path: Path) -> str:
    with database.opened(path) as raw:
        if rust_icm.matches(raw):
            return rust_icm.PROGRAM
        if claude_mem.matches(raw):
            return claude_mem.PROGRAM
        if mem0.matches_database(raw):
            return mem0.PROGRAM
    raise InvalidInput(f"{path} is a database of a program that is not known")


def _of_folder(path: Path) -> str:
    for program in (claude_code, basic_memory):
        found = _files(path, program.ENDING)
        if any(program.matches(_head(each)) for each in found[:20]):
            return str(program.PROGRAM)
    raise InvalidInput(
        f"{path} is a folder with neither transcripts of Claude Code nor notes of "
        "basic-memory"
    )


def _files(path: Path, ending: str) -> list[Path]:
    """The file itself, or those of a folder with that ending, hidden ones left out."""
    if not path.is_dir():
        return [path]
    found = sorted(
        each
        for each in path.rglob(f"*{ending}")
        if each.is_file()
        and not any(part.startswith(".") for part in each.relative_to(path).parts)
    )
    if len(found) > MOST_FILES:
        raise InvalidInput(f"{path} has more than {MOST_FILES} files; name one below")
    return found

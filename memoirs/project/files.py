"""The files of a project, nearest first; links and build products are left out."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

MOST_FILES = 5_000
READ_BYTES = 400_000
SKIPPED = frozenset(
    (
        *("node_modules", "__pycache__", "site-packages", "bower_components"),
        *("venv", "env", "dist", "build", "target", "out", "vendor", "third_party"),
        *("coverage", "htmlcov", "migrations"),
    )
)


def walk(root: Path) -> list[PurePosixPath]:
    """Paths of ordinary files below `root`, relative to it; at most 5 000.

    Hidden folders and those of SKIPPED are not entered, symbolic links not followed.
    """
    found: list[PurePosixPath] = []
    waiting = [PurePosixPath()]
    while waiting and len(found) < MOST_FILES:
        folder = waiting.pop(0)
        for entry in _entries(root / folder):
            if entry.is_symlink():
                continue
            if entry.is_file():
                found.append(folder / entry.name)
            elif entry.is_dir() and _entered(entry.name):
                waiting.append(folder / entry.name)
    return found[:MOST_FILES]


def read(root: Path, path: PurePosixPath) -> str:
    """The beginning of a file as text; nothing where it cannot be read."""
    try:
        with (root / path).open("rb") as file:
            return file.read(READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _entered(name: str) -> bool:
    return not name.startswith(".") and name not in SKIPPED

"""Whether this process still fits what lies on disk: program, database, socket."""

from __future__ import annotations

import os
import sys
from pathlib import Path

Identity = tuple[int, int, int]

PACKAGES = ("icm_site", "memories", "memoirs", "feedback")


class Watch:
    """Facts of the start, compared with those of now."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._file = _identity(database)
        self._package = Path(__file__).parent.parent / "__init__.py"
        self._program = _version(self._package)
        self._modules: dict[str, Identity | None] = {}
        self.socket: Path | None = None
        self.all_changed()

    def changed(self) -> str:
        """Why this process is to leave, told from two files; "" if it is not."""
        if _identity(self._database) != self._file:
            return "the database was replaced or removed"
        if _version(self._package) != self._program:
            return "the program was replaced or removed"
        return ""

    def all_changed(self) -> str:
        """The same, told also from each module of ours and from the socket."""
        if self.socket is not None and not self.socket.exists():
            return "the socket was removed"
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if name.partition(".")[0] not in PACKAGES or not file:
                continue
            now = _version(Path(file))
            if self._modules.setdefault(file, now) != now:
                return f"{name} was replaced or removed"
        return self.changed()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _version(path: Path) -> Identity | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size

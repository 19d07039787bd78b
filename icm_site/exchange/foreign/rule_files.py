"""Files of rules that agents read: which there are, and what in them is a person's own.

Standard library only: `icm init` asks before any database is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FILE_BYTES = 1024 * 1024
NAMES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "gemini.md", ".cursorrules",
     ".windsurfrules", ".clinerules", "copilot-instructions.md"}
)  # fmt: skip
# Where they lie in a repository, for those that are looked for.
FOLDERS = (".", ".github", ".claude")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$")
_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# What `icm init` wrote itself is in the program, and need not be remembered.
_OURS = re.compile(r"<!-- ?icm:start.*?icm:end ?-->", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"<!-- written by icm init -->")


def matches(path: Path) -> bool:
    """Whether a file has the name of one that agents read."""
    return path.name.lower() in NAMES or path.suffix == ".mdc"


def found(root: Path) -> list[Path]:
    """The files of rules in a repository, each once, whatever links lead to it."""
    files: dict[Path, Path] = {}
    for folder in (*(root / name for name in FOLDERS), root / ".cursor" / "rules"):
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            continue
        for path in entries:
            if matches(path) and path.is_file():
                files.setdefault(path.resolve(), path)
    return list(files.values())


def parts(text: str) -> list[str]:
    """The sections of a file that a person wrote, each with its headings."""
    if _MARK.search(text):
        return []
    own = _OURS.sub("", _FRONT.sub("", text.replace("\r\n", "\n")))
    return [f"{head}\n{body}" if head else body for head, body in sections(own)]


def has_head(text: str) -> bool:
    """Whether a file begins with when it applies."""
    return _FRONT.match(text) is not None


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Heading with those above it, and text, of each section that has some."""
    above: dict[int, str] = {}
    lines: list[str] = []
    fenced = False
    for line in [*text.split("\n"), "# "]:
        fenced ^= _FENCE.match(line) is not None
        found = None if fenced else _HEADING.match(line)
        if found is None and line != "# ":
            lines.append(line)
            continue
        if body := "\n".join(lines).strip():
            yield " > ".join(above.values()), body
        lines.clear()
        if found is not None:
            level = len(line) - len(line.lstrip("#"))
            above = {n: each for n, each in above.items() if n < level}
            above[level] = found[1].strip()

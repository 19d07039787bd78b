"""CLAUDE.md, AGENTS.md and rules: Markdown, a memory for each section."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import staging
from icm_site.exchange.foreign.staging import Notes, Row

PROGRAM = "rules"
FILE_BYTES = 1024 * 1024
NAMES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "gemini.md", ".cursorrules",
     ".windsurfrules", ".clinerules", "copilot-instructions.md"}
)  # fmt: skip
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$")
_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
# What `icm init` wrote itself is in the program, and need not be remembered.
_OURS = re.compile(r"<!-- ?icm:start.*?icm:end ?-->", re.DOTALL | re.IGNORECASE)


def matches(path: Path) -> bool:
    """Whether a file has the name of one that agents read."""
    return path.name.lower() in NAMES or path.suffix == ".mdc"


def rows(path: Path, notes: Notes, *, project: str) -> Iterator[Row]:
    """A memory for each section with text, under `rules-<project>`.

    Raises InvalidInput.
    """
    try:
        if path.stat().st_size > FILE_BYTES:
            raise InvalidInput(f"larger than {FILE_BYTES >> 20} MiB: {path}")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"not UTF-8: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    text = text.replace("\r\n", "\n")
    if _FRONT.match(text):
        notes.add("the head of a rules file (when it applies) was left out")
    for heading, body in sections(_OURS.sub("", _FRONT.sub("", text))):
        whole = f"{heading}\n{body}" if heading else body
        key = hashlib.sha256(f"{project}\0{whole}".encode()).hexdigest()
        made = staging.memory(
            program=PROGRAM,
            key=key,
            topic=staging.topic("rules", project),
            text=whole,
            notes=notes,
            source={"file": path.name},
        )
        if made:
            yield made


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

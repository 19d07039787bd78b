"""CLAUDE.md, AGENTS.md and rules: Markdown, a memory for each section."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from icm_site.errors import InvalidInput
from icm_site.exchange.foreign import rule_files, staging
from icm_site.exchange.foreign.staging import Notes, Row

PROGRAM = "rules"


def rows(path: Path, notes: Notes, *, project: str) -> Iterator[Row]:
    """A memory for each section with text, under `rules-<project>`.

    Raises InvalidInput.
    """
    try:
        if path.stat().st_size > rule_files.FILE_BYTES:
            raise InvalidInput(f"larger than {rule_files.FILE_BYTES >> 20} MiB: {path}")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"not UTF-8: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    if rule_files.has_head(text.replace("\r\n", "\n")):
        notes.add("the head of a rules file (when it applies) was left out")
    for whole in rule_files.parts(text):
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

"""Transcripts of Claude Code: one session a file, or a folder of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.columns import Mask
from icm_site.exchange.foreign import conversations
from icm_site.exchange.foreign.staging import Notes, Row
from memories import projects, transcripts

PROGRAM = "claude-code"
ENDING = ".jsonl"


def matches(head: bytes) -> bool:
    """Whether a file begins as one of that program does."""
    return any("sessionId" in record for record in _records(head))


def rows(files: list[Path], notes: Notes, *, project: str, mask: Mask) -> Iterator[Row]:
    """The facts of each session. Raises InvalidInput.

    Without `project` a session is of the project of the folder that it worked in.
    """
    for path in files:
        try:
            text = transcripts.read_text(path)
        except InvalidInput as error:
            if len(files) == 1:
                raise
            notes.add(f"a transcript was left out: {error.message}")
            continue
        head = list(_records(text[:65536].encode("utf-8", "replace")))
        if not any("sessionId" in record for record in head):
            raise InvalidInput(f"{path} is no transcript of Claude Code")
        yield from conversations.facts(
            transcripts.turns(text),
            program=PROGRAM,
            thread=_first(head, "sessionId") or path.stem,
            title=path.name,
            at=_first(head, "timestamp"),
            project=project or _project(_first(head, "cwd")),
            notes=notes,
            mask=mask,
        )


def _records(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _first(records: list[dict[str, Any]], name: str) -> str:
    found = (record[name] for record in records if isinstance(record.get(name), str))
    # No half characters and no NUL: a folder of the file system is looked up by it.
    return next(found, "").encode("utf-8", "replace").decode().replace("\0", "")


def _project(cwd: str) -> str:
    return (projects.project_name(cwd, env=os.environ) or "") if cwd else ""

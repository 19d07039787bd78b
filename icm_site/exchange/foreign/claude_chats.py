"""`conversations.json` of an export of claude.ai."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.columns import Mask
from icm_site.exchange.foreign import conversations, json_file
from icm_site.exchange.foreign.staging import Notes, Row
from memories.transcripts import Role, Turn

PROGRAM = "claude"
_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def matches(head: bytes) -> bool:
    """Whether a file begins as one of that program does."""
    return head.lstrip()[:1] in (b"[", b"{") and b'"chat_messages"' in head


def rows(path: Path, notes: Notes, *, project: str, mask: Mask) -> Iterator[Row]:
    """The facts of all conversations, one after the other. Raises InvalidInput."""
    for number, each in enumerate(json_file.entries(path), 1):
        messages = each.get("chat_messages") if isinstance(each, dict) else None
        if not isinstance(messages, list):
            raise InvalidInput(
                f"entry {number} of {path} is no conversation of claude.ai"
            )
        yield from conversations.facts(
            list(_turns(messages, notes)),
            program=PROGRAM,
            thread=str(each.get("uuid") or number),
            title=str(each.get("name") or ""),
            at=each.get("updated_at") or each.get("created_at"),
            project=project,
            notes=notes,
            mask=mask,
        )


def _turns(messages: list[Any], notes: Notes) -> Iterator[Turn]:
    for message in messages:
        role = (
            _ROLES.get(str(message.get("sender")))
            if isinstance(message, dict)
            else None
        )
        if role is None:
            notes.add("a message of neither side was left out")
            continue
        if message.get("attachments") or message.get("files"):
            notes.add("a message had attachments, which were left out")
        yield Turn(role, _text(message), str(message.get("created_at") or ""))


def _text(message: dict[str, Any]) -> str:
    """What was said; older exports have it in one text, newer ones in blocks."""
    blocks = message.get("content")
    found = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return "\n".join(found) or str(message.get("text") or "")

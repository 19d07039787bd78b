"""`conversations.json` of an export of ChatGPT: trees of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from icm_site.errors import InvalidInput
from icm_site.exchange.columns import Mask
from icm_site.exchange.foreign import conversations, json_file
from icm_site.exchange.foreign.staging import Notes, Row
from memories.transcripts import Role, Turn

PROGRAM = "chatgpt"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
# Other kinds are code that was run, what a page said, and what the model thought.
_SPOKEN = ("text", "multimodal_text")
_OUTPUT = ("execution_output",)


def matches(head: bytes) -> bool:
    """Whether a file begins as one of that program does."""
    return head.lstrip()[:1] in (b"[", b"{") and (
        b'"mapping"' in head and b'"children"' in head
    )


def rows(path: Path, notes: Notes, *, project: str, mask: Mask) -> Iterator[Row]:
    """The facts of all conversations, one after the other. Raises InvalidInput."""
    for number, each in enumerate(json_file.entries(path), 1):
        nodes = each.get("mapping") if isinstance(each, dict) else None
        if not isinstance(nodes, dict):
            raise InvalidInput(
                f"entry {number} of {path} is no conversation of ChatGPT"
            )
        yield from conversations.facts(
            list(_turns(each, nodes, notes)),
            program=PROGRAM,
            thread=str(each.get("conversation_id") or each.get("id") or number),
            title=str(each.get("title") or ""),
            at=each.get("update_time") or each.get("create_time"),
            project=project,
            notes=notes,
            mask=mask,
        )


def _turns(
    conversation: Mapping[str, Any], nodes: Mapping[str, Any], notes: Notes
) -> Iterator[Turn]:
    """What was said on the branch that the person sees, from its start."""
    branch = _branch(conversation.get("current_node"), nodes)
    if len(branch) < len(nodes):
        notes.add("a conversation had other branches, which were left out")
    for node in branch:
        message = node.get("message")
        if isinstance(message, dict) and (turn := _turn(message)):
            yield turn


def _branch(last: Any, nodes: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the last; without a last one all in their order."""
    found: dict[str, Mapping[str, Any]] = {}
    while isinstance(last, str) and last not in found:
        node = nodes.get(last)
        if not isinstance(node, dict):
            break
        found[last] = node
        last = node.get("parent")
    if found:
        return list(found.values())[::-1]
    return [node for node in nodes.values() if isinstance(node, dict)]


def _turn(message: Mapping[str, Any]) -> Turn | None:
    author, content, about = (
        each if isinstance(each, dict) else {}
        for each in (message.get(name) for name in ("author", "content", "metadata"))
    )
    role, kind = _ROLES.get(str(author.get("role"))), content.get("content_type")
    if role is None or about.get("is_visually_hidden_from_conversation"):
        return None
    # What goes to a tool is said to nobody.
    if message.get("recipient", "all") != "all":
        return None
    if kind in _OUTPUT:
        text = str(content.get("text") or "")
    elif kind in _SPOKEN:
        parts = content.get("parts")
        text = "\n".join(map(_part, parts if isinstance(parts, list) else ()))
    else:
        return None
    return Turn(role, text, str(message.get("create_time") or ""))


def _part(part: Any) -> str:
    """A text; of a picture or a sound only what was said in it."""
    if isinstance(part, dict):
        part = part.get("text")
    return part if isinstance(part, str) else ""

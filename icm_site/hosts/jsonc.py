"""Edits of JSON as text: comments, commas, indentation and line ends stay.

Pure functions from text to text. Trailing commas and comments are read whether or not
the tool allows them; what is added is plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from icm_site.hosts.errors import WrongShape

Path = Sequence[str]
_BLANK = re.compile(r"(?:[ \t\r\n\f\v]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_DEPTH = 200


class Node(NamedTuple):
    """A value with its place in the text: `text[start:end]`."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()

    def find(self, name: str) -> Member | None:
        """The member of this name; the last one, as JSON's readers have it."""
        return next((m for m in reversed(self.members) if m.name == name), None)


class Member(NamedTuple):
    """A member of an object, or an item of an array (without a name)."""

    name: str
    start: int
    node: Node
    comma: int  # where the comma behind it stands, -1 without one


def parse(text: str) -> Node:
    """The root of a text; a blank one is an empty object. Raises WrongShape."""
    at = _skip(text, 0)
    if at == len(text):
        return Node(at, at, {})
    root = _value(text, at, 0)
    if (rest := _skip(text, root.end)) != len(text):
        raise _fault(text, rest)
    return root


def read(text: str) -> Any:
    """What a text says; raises WrongShape."""
    return parse(text).value


def put(text: str, path: Path, value: Any) -> str:
    """Set the member at `path`; objects on the way are made, everything else stays.

    Raises WrongShape where something on the way is no object.
    """
    root = parse(text)
    if root.start == root.end:
        return _written(text, _nested(path, value))
    node = root
    for depth, name in enumerate(path):
        if isinstance(node.value, list) and name.isdecimal():
            node = node.members[int(name)].node
            continue
        _demand(node, dict, path[:depth])
        member = node.find(name)
        if member is None:
            inner = _nested(path[depth + 1 :], value)
            return _insert(text, root, node, inner, name)
        node = member.node
    shown = _shown(text, root, value, _indent_at(text, node.start), _inline(text, root))
    return text[: node.start] + shown + text[node.end :]


def append(text: str, path: Path, value: Any) -> str:
    """Add an item to the array at `path`, which is made if it is missing."""
    root = parse(text)
    node = _walk(root, path)
    if node is None:
        return put(text, path, [value])
    _demand(node, list, path)
    return _insert(text, root, node, value, None)


def take(text: str, path: Path) -> str:
    """Remove the member at `path`, if there is one."""
    root = parse(text)
    node = _walk(root, path[:-1])
    if node is None or not isinstance(node.value, dict):
        return text
    # Every one of the name: the last alone would uncover the one before.
    found = [i for i, m in enumerate(node.members) if m.name == path[-1]]
    for index in reversed(found):
        text = _cut(text, _again(text, path[:-1]), index)
    return text


def take_item(text: str, path: Path, index: int) -> str:
    """Remove an item of the array at `path`."""
    return _cut(text, _again(text, path), index)


def walk(text: str, path: Path) -> Any:
    """The value at `path`, None where there is none; raises WrongShape on the way."""
    node = _walk(parse(text), path)
    return None if node is None else node.value


def _walk(node: Node, path: Path) -> Node | None:
    for depth, name in enumerate(path):
        if isinstance(node.value, list) and name.isdecimal():
            node = node.members[int(name)].node
            continue
        _demand(node, dict, path[:depth])
        member = node.find(name)
        if member is None:
            return None
        node = member.node
    return node


def _again(text: str, path: Path) -> Node:
    node = _walk(parse(text), path)
    assert node is not None
    return node


def _demand(node: Node, kind: type, path: Path) -> None:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "a list"
        where = f"the key {'.'.join(path)!r}" if path else "the whole file"
        raise WrongShape(f"{where} is not {wanted}")


def _nested(path: Path, value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


# Reading


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEPTH:
        raise WrongShape("it is nested too deeply")
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _array(text, at, depth)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError:
        raise _fault(text, at) from None
    return Node(at, end, value)


def _object(text: str, start: int, depth: int) -> Node:
    def member(at: int) -> tuple[str, Node]:
        key = _value(text, at, depth + 1)
        colon = _skip(text, key.end)
        if not isinstance(key.value, str) or not text.startswith(":", colon):
            raise _fault(text, at)
        return key.value, _value(text, _skip(text, colon + 1), depth + 1)

    members, end = _members(text, start, "}", member)
    return Node(start, end, {m.name: m.node.value for m in members}, members)


def _array(text: str, start: int, depth: int) -> Node:
    members, end = _members(
        text, start, "]", lambda at: ("", _value(text, at, depth + 1))
    )
    return Node(start, end, [m.node.value for m in members], members)


def _members(
    text: str, start: int, close: str, one: Callable[[int], tuple[str, Node]]
) -> tuple[tuple[Member, ...], int]:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while not text.startswith(close, at):
        if members and members[-1].comma < 0:
            raise _fault(text, at)
        name, node = one(at)
        after = _skip(text, node.end)
        comma = after if text.startswith(",", after) else -1
        members.append(Member(name, at, node, comma))
        at = after if comma < 0 else _skip(text, comma + 1)
    return tuple(members), at + 1


def _fault(text: str, at: int) -> WrongShape:
    line = text.count("\n", 0, at) + 1
    return WrongShape(f"it is not JSON (line {line})")


# Writing


def newline(text: str) -> str:
    """The line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def _written(text: str, value: Any) -> str:
    """A whole text for one that was blank, behind the comments that it may have."""
    end = newline(text)
    lead = text.rstrip()
    shown = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", end)
    return (lead + end if lead else "") + shown + end


def _insert(text: str, root: Node, node: Node, value: Any, name: str | None) -> str:
    """Add a member (or an item, without a name) at the end of a container."""
    inline = _inline(text, root)
    key = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    close, end = node.end - 1, newline(text)
    if not node.members:
        outer = _indent_at(text, node.start)
        inner = outer + _unit(text, root)
        shown = key + _shown(text, root, value, inner, inline)
        filling = text[node.start + 1 : close].rstrip()
        if inline and not filling:
            return text[: node.start + 1] + shown + text[close:]
        body = f"{filling}{end}{inner}{shown}{end}{outer}"
        return text[: node.start + 1] + body + text[close:]
    last = node.members[-1]
    indent = _own_line(text, node.members[0].start)
    alone = indent is not None or "\n" in text[last.node.end : close]
    if indent is None:
        indent = _indent_at(text, node.start) + _unit(text, root) if alone else ""
    shown = key + _shown(text, root, value, indent, inline or not alone)
    at = len(text[:close].rstrip())
    piece = (end + indent if alone else " ") + shown + ("," if last.comma >= 0 else "")
    text = text[:at] + piece + text[at:]
    if last.comma >= 0:
        return text
    return text[: last.node.end] + "," + text[last.node.end :]


def _cut(text: str, node: Node, index: int) -> str:
    """Remove a member with its comma and the blanks before it."""
    member = node.members[index]
    wanted = [m.node.value for i, m in enumerate(node.members) if i != index]
    if len(node.members) == 1:
        inner = text[node.start + 1 : member.start] + text[_past(member) : node.end - 1]
        if not inner.strip():
            return text[: node.start + 1] + text[node.end - 1 :]
    for begin in (len(text[: member.start].rstrip()), member.start):
        shorter = _without(text, node, index, begin)
        try:
            left = _value(shorter, node.start, 0)
        except WrongShape:  # a line comment now reaches over what follows
            continue
        if [m.node.value for m in left.members] == wanted:
            return shorter
    raise WrongShape("an entry could not be taken out")


def _without(text: str, node: Node, index: int, begin: int) -> str:
    member = node.members[index]
    text = text[:begin] + text[_past(member) :]
    last = index == len(node.members) - 1
    if last and index and member.comma < 0:
        comma = node.members[index - 1].comma
        text = text[:comma] + text[comma + 1 :]
    return text


def _past(member: Member) -> int:
    return member.comma + 1 if member.comma >= 0 else member.node.end


def _shown(text: str, root: Node, value: Any, indent: str, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, indent=_unit(text, root), ensure_ascii=False)
    return shown.replace("\n", newline(text) + indent)


def _inline(text: str, root: Node) -> bool:
    """Whether the text is one line of JSON, and not an empty object to be filled."""
    return bool(root.members) and "\n" not in text[root.start : root.end]


def _unit(text: str, root: Node) -> str:
    """One step of indentation, as the first member of the text has it."""
    first = root.members[0].start if root.members else root.start
    return _own_line(text, first) or "  "


def _own_line(text: str, at: int) -> str | None:
    """The blanks before a place, None where something else is on its line."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return lead if "\n" in text[:at] and not lead.strip(" \t") else None


def _indent_at(text: str, at: int) -> str:
    """The blanks at the start of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]

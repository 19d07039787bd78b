"""Edits of YAML as text: an item of a top-level list, every other byte stays.

PyYAML only tells where things stand; nothing is written by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from icm_site.hosts.errors import WrongShape
from icm_site.hosts.jsonc import newline

Fits = Callable[[Any], bool]


def read(text: str) -> Any:
    """What a text says; raises WrongShape."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise WrongShape(f"it is not YAML{line}") from None


def items(text: str, key: str, *, single: bool = False) -> list[Any]:
    """The items of the list below a top-level key; raises WrongShape.

    With `single` one text may stand in the place of a list.
    """
    data = read(text)
    if data is None:
        return []
    if not isinstance(data, dict):
        raise WrongShape("the whole file is not a mapping")
    value = data.get(key)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    if single and isinstance(value, str):
        return [value]
    raise WrongShape(f"the key {key!r} is not a list")


def append(text: str, key: str, item: Mapping[str, Any] | str) -> str:
    """Add an item to the list below `key`, which is made if it is missing.

    A text may be added to a single one, which becomes a list. Raises WrongShape.
    """
    before = items(text, key, single=isinstance(item, str))
    data = read(text) or {}
    wanted = {**data, key: [*before, dict(item) if isinstance(item, Mapping) else item]}
    value = _node(text, key)
    for candidate in _candidates(text, key, value, item):
        if _says(candidate, wanted):
            return candidate
    raise WrongShape(f"the key {key!r} is written in a form that cannot be added to")


def take(text: str, key: str, fits: Fits) -> str:
    """Remove the items of the list below `key` that fit; an emptied key goes too."""
    while True:
        value = _node(text, key)
        if value is None:
            return text
        data = read(text)
        listed = items(text, key, single=True)
        found = [i for i, item in enumerate(listed) if fits(item)]
        if not found:
            return text
        left = [item for i, item in enumerate(listed) if i != found[0]]
        text = _shorter(text, key, value, found[0], {**data, key: left})


def _shorter(
    text: str, key: str, value: Any, index: int, wanted: dict[str, Any]
) -> str:
    nodes = value[1].value if isinstance(value[1], yaml.SequenceNode) else [value[1]]
    one = len(nodes) == 1
    if one:
        wanted = {name: kept for name, kept in wanted.items() if name != key}
        start, end = value[0].start_mark.index, _end(text, value[1])
        candidates = [_lines_cut(text, start, end)]
    else:
        candidates = [_item_cut(text, nodes, index), _flow_cut(text, nodes, index)]
    for candidate in candidates:
        if _says(candidate, wanted) or (not wanted and not candidate.strip()):
            return candidate
    raise WrongShape(f"an entry of the key {key!r} could not be taken out")


def _says(text: str, wanted: Any) -> bool:
    try:
        return bool((yaml.safe_load(text) or {}) == wanted)
    except (yaml.YAMLError, ValueError):
        return False


def _node(text: str, key: str) -> tuple[Any, Any] | None:
    """The nodes of a top-level key and of its value."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        read(text)
        raise
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        raise WrongShape("the whole file is not a mapping")
    return next((pair for pair in root.value if pair[0].value == key), None)


def _candidates(text: str, key: str, value: Any, item: Any) -> list[str]:
    end = newline(text)
    if value is None:
        body = f"{key}:\n" + _block(item, "  ")
        lead = "" if not text or text.endswith("\n") else "\n"
        return [text + (lead + body).replace("\n", end)]
    name, node = value
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        at = _end(text, node)
        first = node.value[0].start_mark.index
        line = text.rfind("\n", 0, first) + 1
        dash = " " * (text.rfind("-", 0, first) - line)
        lead = "" if text[:at].endswith("\n") else "\n"
        return [text[:at] + (lead + _block(item, dash)).replace("\n", end) + text[at:]]
    if isinstance(node, yaml.SequenceNode):
        close = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return [text[:close].rstrip(" ,") + comma + _flow(item) + text[close:]]
    if node.tag == "tag:yaml.org,2002:null":
        at = text.find(":", name.end_mark.index) + 1
        block = end + _block(item, "  ").rstrip("\n").replace("\n", end)
        return [text[:at] + block + text[at:]]
    old = text[node.start_mark.index : node.end_mark.index]
    flow = f"[{old}, {_flow(item)}]"
    return [text[: node.start_mark.index] + flow + text[node.end_mark.index :]]


def _block(item: Any, indent: str) -> str:
    """An item of a list in block style, with a line end behind it."""
    if not isinstance(item, Mapping):
        return f"{indent}- {_flow(item)}\n"
    lines = [f"{name}: {_flow(value)}" for name, value in item.items()]
    return f"{indent}- " + f"\n{indent}  ".join(lines) + "\n"


def _flow(value: Any) -> str:
    # JSON is YAML.
    return json.dumps(value, ensure_ascii=False)


def _end(text: str, node: Any) -> int:
    """Behind the line on which a value ends; PyYAML's marks lie behind blanks too."""
    last = node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        last = last.value[-1]
        last = last[1] if isinstance(last, tuple) else last
    at = last.end_mark.index
    if isinstance(last, yaml.ScalarNode) and last.style in ("|", ">"):
        return int(at)
    after = text.find("\n", at)
    return len(text) if after < 0 else after + 1


def _lines_cut(text: str, start: int, end: int) -> str:
    return text[: text.rfind("\n", 0, start) + 1] + text[end:]


def _item_cut(text: str, nodes: list[Any], index: int) -> str:
    """Without an item in block style: its lines from the dash on."""
    node = nodes[index]
    dash = text.rfind("-", 0, node.start_mark.index)
    return _lines_cut(text, dash, _end(text, node))


def _flow_cut(text: str, nodes: list[Any], index: int) -> str:
    """Without an item of `[a, b]`."""
    if index:
        start, end = nodes[index - 1].end_mark.index, nodes[index].end_mark.index
    else:
        start, end = nodes[0].start_mark.index, nodes[1].start_mark.index
    return text[:start] + text[end:]

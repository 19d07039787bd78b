"""Edits of TOML as text: a table is added or removed, every other byte stays."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icm_site.hosts.errors import WrongShape
from icm_site.hosts.jsonc import newline

Path = Sequence[str]
_HEADER = re.compile(r"^[ \t]*\[(?!\[)[ \t]*(.+?)[ \t]*\][ \t]*(?:#.*)?$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read(text: str) -> dict[str, Any]:
    """What a text says; raises WrongShape."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongShape(f"it is not TOML ({error})") from None


def walk(text: str, path: Path) -> Any:
    """The value at `path`, None where there is none; raises WrongShape on the way."""
    value: Any = read(text)
    for depth, name in enumerate(path):
        if not isinstance(value, dict):
            raise WrongShape(f"the key {'.'.join(path[:depth])!r} is not a table")
        if name not in value:
            return None
        value = value[name]
    return value


def put(text: str, path: Path, table: Mapping[str, Any]) -> str:
    """Add the table at `path`, of two names, in the first form that fits the text.

    An earlier table of this name is taken out first. Raises WrongShape where no form
    keeps all that was there.
    """
    walk(text, path)
    without = take(text, path)
    table = {name: value for name, value in table.items() if value != {}}
    wanted = read(without)
    wanted.setdefault(path[0], {})[path[1]] = table
    for candidate in (_appended(without, path, table), _inside(without, path, table)):
        if candidate is not None and _says(candidate, wanted):
            return candidate
    raise WrongShape(
        f"the key {path[0]!r} is written in a form that cannot be added to"
    )


def take(text: str, path: Path) -> str:
    """Remove the table at `path` and the tables in it."""
    if walk(text, path) is None:
        return text
    wanted = read(text)
    del wanted[path[0]][path[1]]
    emptied = {
        name: value for name, value in wanted.items() if name != path[0] or value
    }
    for candidate in (*_without_sections(text, path), _without_inline(text, path)):
        if _says(candidate, wanted) or _says(candidate, emptied):
            return candidate
    raise WrongShape(f"the table {'.'.join(path)!r} is written in a form of its own")


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except (ValueError, RecursionError):
        return False


def _appended(text: str, path: Path, table: Mapping[str, Any]) -> str:
    end = newline(text)
    lines = [f"[{'.'.join(path)}]", *_lines(table), ""]
    for name, inner in table.items():
        if isinstance(inner, dict):
            lines += [f"[{'.'.join(path)}.{name}]", *_lines(inner), ""]
    lead = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + (lead + "\n".join(lines)).replace("\n", end)


def _inside(text: str, path: Path, table: Mapping[str, Any]) -> str | None:
    """Into an inline table: `mcp_servers = { … }`."""
    found = re.search(rf"^[ \t]*{re.escape(path[0])}[ \t]*=[ \t]*\{{", text, re.M)
    if found is None:
        return None
    rest = text[found.end() :]
    comma = "" if rest.lstrip().startswith("}") else ","
    entry = f" {path[1]} = {{ {', '.join(_lines(table))} }}{comma}"
    return text[: found.end()] + entry + rest


def _lines(table: Mapping[str, Any]) -> list[str]:
    # Strings, numbers and lists of them are written in TOML as in JSON.
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in table.items()
        if not isinstance(value, dict)
    ]


def _without_sections(text: str, path: Path) -> Iterator[str]:
    """Without the sections of a table; what looks like one in a text may not be one."""
    lines = text.splitlines(keepends=True)
    sections = list(_sections(lines, path))
    for first in range(len(sections)):
        drop: set[int] = set()
        for start, end in sections[first:]:
            drop.update(range(start, end))
            if start and not lines[start - 1].strip():
                drop.add(start - 1)
        yield "".join(line for at, line in enumerate(lines) if at not in drop)


def _sections(lines: list[str], path: Path) -> Iterator[tuple[int, int]]:
    """First line and end of each section that is `path` or below it.

    What follows its last pair, comments and blanks, belongs to what comes next.
    """
    heads = [(at, _names(line)) for at, line in enumerate(lines)]
    heads = [(at, names) for at, names in heads if names is not None]
    for index, (at, names) in enumerate(heads):
        if names is None or names[: len(path)] != list(path):
            continue
        end = heads[index + 1][0] if index + 1 < len(heads) else len(lines)
        while end > at + 1 and _silent(lines[end - 1]):
            end -= 1
        yield at, end


def _silent(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _names(line: str) -> list[str] | None:
    """The names in a table's header, None for another line."""
    if line.lstrip().startswith("[["):
        return []
    found = _HEADER.match(line.rstrip("\r\n"))
    if found is None:
        return None
    try:
        value: Any = tomllib.loads(f"[{found[1]}]")
    except (ValueError, RecursionError):
        return None
    names = []
    while value:
        ((name, value),) = value.items()
        names.append(name)
    return names


def _without_inline(text: str, path: Path) -> str:
    """Out of an inline table, in the form in which `put` writes it."""
    name = re.escape(path[1])
    pattern = (
        rf"(^[ \t]*{re.escape(path[0])}[ \t]*=[ \t]*\{{.*?) {name} = \{{[^}}]*\}},?"
    )
    return re.sub(pattern, r"\1", text, count=1, flags=re.M)

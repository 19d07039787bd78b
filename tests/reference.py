"""The parts of the documentation that are derived from the code.

`python -m tests.reference` writes them anew between their markers in docs/.
"""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import django
from pydantic.fields import FieldInfo

from icm_site import command_line
from icm_site.conf_keys import KEYS, Key, bounds
from icm_site.operation import Command, Operation, Tool

# What stands for an absent argument, by the name of the function that fills it in.
FILLED = {
    "project": "the project you work in",
    "remembered_topic": "the project you work in, else `general`",
    "surface": "`cli`",
    "host": "the client's name",
}

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write() -> list[Path]:
    """Bring every derived part up to date; returns the pages that changed."""
    changed = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text("utf-8")
        if text != (fresh := refreshed(text)):
            page.write_text(fresh, "utf-8")
            changed.append(page)
    return changed


def refreshed(page: str) -> str:
    """A page with its derived parts as they should be."""
    for name, part in PARTS.items():
        start, end = f"<!-- {name}: python -m tests.reference -->", f"<!-- /{name} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if pattern.search(page):
            body = f"{start}\n\n{part()}\n\n{end}".replace("\\", "\\\\")
            page = pattern.sub(body, page)
    return page


def commands() -> str:
    """A section for each command that is an operation."""
    from icm_site.registry import COMMANDS

    return "\n\n".join(
        _command(words, operation, command)
        for words, (operation, command) in sorted(COMMANDS.items())
    )


def _command(words: tuple[str, ...], operation: Operation, command: Command) -> str:
    rows = [
        (
            _flags(name, command),
            command_line.switch(info)
            if info.default is True
            else _meaning(info, name, command.ranges, command.fill),
        )
        for name, info in operation.params.model_fields.items()
        if name not in command.hidden
    ]
    if len(command.formats) > 1:
        names = ", ".join(f"`{name}`" for name in command.formats)
        rows.append(("`-f`, `--format`", f"{names}; the first is the default"))
    parts = [f"### `icm {' '.join(words)}`", command.about or operation.description]
    return "\n\n".join([*parts, *([_table("Argument", rows)] if rows else [])])


def _flags(name: str, command: Command) -> str:
    flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
    return ", ".join(f"`{flag}`" for flag in flags) or f"`{name.upper()}`"


def tools() -> str:
    """A section for each MCP tool."""
    from icm_site.registry import TOOLS

    return "\n\n".join(_tool(*entry) for entry in TOOLS.values())


def _tool(operation: Operation, tool: Tool) -> str:
    rows = [
        (f"`{name}`", _meaning(info, name, tool.ranges, tool.fill, tool.required))
        for name, info in operation.params.model_fields.items()
        if name not in tool.hidden
    ]
    if len(tool.formats) > 1:
        names = ", ".join(f"`{name}`" for name in tool.formats)
        rows.append(("`format`", f"{names}; the first is the default"))
    traits = {
        "lean": tool.lean,
        "reads only": tool.reads,
        "counts as a store": tool.stores,
        "hides": tool.destroys,
        "listed only with a model": tool.needs_embedder,
    }
    shown = ", ".join(name for name, holds in traits.items() if holds)
    parts = [f"### `{tool.name}`", operation.description]
    if shown:
        parts.append(f"({shown})")
    return "\n\n".join([*parts, *([_table("Argument", rows)] if rows else [])])


def operations() -> str:
    """One row an operation: its name, and how each surface calls it."""
    from icm_site.registry import OPERATIONS

    lines = ["| Operation | Command line | MCP | HTTP |", "| --- | --- | --- | --- |"]
    for name, entry in OPERATIONS.items():
        shown = ", ".join(f"`icm {' '.join(c.words)}`" for c in entry.commands)
        tool = f"`{entry.tool.name}`" if entry.tool else ""
        http = "yes" if entry.http else ""
        lines.append(f"| `{name}` | {shown} | {tool} | {http} |")
    return "\n".join(lines)


def settings() -> str:
    """One row a key of the configuration file."""
    lines = ["| Key | Default | Variable | Meaning |", "| --- | --- | --- | --- |"]
    lines += [_setting(entry) for entry in KEYS.values()]
    return "\n".join(lines)


def _setting(entry: Key) -> str:
    default = "none" if entry.default is None else f"`{_toml(entry.default)}`"
    variable = f"`{entry.env}`" if entry.env else ""
    if entry.inverted:
        variable += " (turns it off)"
    notes = [entry.text]
    if entry.choices:
        notes.append("One of " + ", ".join(f"`{name}`" for name in entry.choices) + ".")
    if (limits := _limits(entry)) is not None:
        notes.append(limits)
    if entry.place == "repository":
        notes.append("Only in a trusted repository's file.")
    if entry.place == "both":
        notes.append("Also in a trusted repository's file.")
    return f"| `{entry.name}` | {default} | {variable} | {' '.join(notes)} |"


def _limits(entry: Key) -> str | None:
    return None if entry.low is None else f"{bounds(entry).capitalize()}."


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(value if isinstance(value, str | int | float | list) else {})


def _meaning(
    info: FieldInfo,
    name: str,
    ranges: Any,
    fill: Any,
    required: Iterable[str] = (),
) -> str:
    """What an argument means, what it may be, and what stands for an absent one."""
    text = info.description or ""
    if choices := _choices(info.annotation):
        text += ": " + ", ".join(f"`{choice}`" for choice in choices)
    if name in ranges:
        text += " ({} to {})".format(*ranges[name])
    if name in fill:
        text += f"; default: {_filled(fill[name])}"
    elif info.is_required() or name in required:
        text += " **(required)**"
    elif isinstance(info.default, str | int | float) and info.default not in (
        "",
        False,
    ):
        text += f"; default: `{info.default}`"
    return text.replace("|", "\\|").replace("<", "\\<")


def _filled(function: Callable[..., object]) -> str:
    return FILLED[function.__name__.lstrip("_")]


def _choices(annotation: Any) -> Sequence[str]:
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            if found := _choices(part):
                return found
    return []


def _table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {head} | Meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {text} |" for name, text in rows)])


def tools_of_others() -> str:
    """A section for each AI tool: how it is found, and the files that are written."""
    from icm_site.hosts.catalog import TOOLS as HOSTS

    return "\n\n".join(_host(tool) for tool in HOSTS)


def _host(tool: Any) -> str:
    from icm_site.hosts.texts import SKILLS

    programs = [f"the program `{name}`" for name in tool.programs]
    folders = [f"`{_place(folder)}`" for folder in tool.folders]
    found = f"Found by {', '.join([*programs, *folders])}."
    lines = ["| Mode | File | What |", "| --- | --- | --- |"]
    for target in tool.targets:
        files = " or ".join(f"`{_place(file)}`" for file in reversed(target.files))
        for name in SKILLS:
            files = files.replace(f"{name}/SKILL", "NAME/SKILL")
        lines.append(f"| {target.mode} | {files} | {_what(target)} |")
    lines = list(dict.fromkeys(lines))
    moved = dict.fromkeys(
        variable
        for target in tool.targets
        for file in target.files
        for variable, _ in _root(file).moved
    )
    parts = [f"### {tool.title}", found, "\n".join(lines)]
    if instead := tool.instead_of_hooks():
        parts.append(f"Hooks: {instead}.")
    if moved:
        parts.append("Moved by " + ", ".join(f"`{name}`" for name in moved) + ".")
    return "\n\n".join(parts)


def _root(template: str) -> Any:
    from icm_site.hosts.places import ROOTS

    return ROOTS.get(template[1:].partition("}")[0], ROOTS["icm"])


def _place(template: str) -> str:
    """A place on Linux, as people write it."""
    name, _, rest = template[1:].partition("}")
    own = {"project": ".", "icm": "~/.config/icm-memory"}
    base = own.get(name) or _root(template).linux.replace("$CONFIG", "~/.config")
    return f"{base}{rest}"


def _what(target: Any) -> str:
    from icm_site.hosts.program import Program
    from icm_site.hosts.shapes import Setup

    setup = Setup(Program("icm", "python", "hook_client.py"), "linux")
    if target.kind == "hooks":
        names = ", ".join(f"`{hook.event}`" for hook in target.make(setup))
        return f"hooks: {names}"
    kinds = {
        "json": f"key `{target.key[0]}`" if target.key else "",
        "toml": f"table `[{'.'.join(target.key)}]`",
        "yaml-item": "an item of `mcpServers`",
        "yaml-read": "an item of `read`",
        "block": "instructions, as a block",
        "file": "a file of its own",
        "script": "a file of its own, which the tool runs",
    }
    notes = [kinds[target.kind]]
    if target.folder and not target.fallback:
        notes.append("if that folder is there")
    if target.fallback:
        notes.append("only where the newer one is not there")
    if target.project:
        notes.append("only with `--per-project`")
    return "; ".join(notes)


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "hosts": tools_of_others,
    "operations": operations,
    "settings": settings,
    "tools": tools,
}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    for page in write():
        print(f"updated {page.name}")

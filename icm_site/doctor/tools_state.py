"""What `icm init` writes, tool by tool: whether it is there, and runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from icm_site.doctor import round_trips, trials
from icm_site.doctor.findings import Finding, note, ok, wrong
from icm_site.doctor.trials import Bench, Hook
from icm_site.errors import IcmError
from icm_site.hooks.contracts import HOSTS
from icm_site.hosts import (
    documents,
    edits,
    finding,
    install,
    jsonc,
    program,
    toml_text,
    writing,
    yaml_text,
)
from icm_site.hosts.catalog import TOOLS
from icm_site.hosts.edits import ALREADY, CONFIGURED, OTHER, RENEWED, STALE, Item
from icm_site.hosts.errors import WrongShape
from icm_site.hosts.finding import Machine
from icm_site.hosts.install import BAD, Line
from icm_site.hosts.manifest import Manifest
from icm_site.hosts.shapes import MODES, Setup, Tool

INIT, FORCE = "icm init", "icm init --force"


class Installed(NamedTuple):
    """What a tool runs, as its files have it: the server, hooks, and their programs."""

    server: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    programs: tuple[str, ...] = ()


def examine(known: Manifest, setup: Setup, machine: Machine) -> Iterator[Finding]:
    """Findings on every tool that is here, or that was set up."""
    listed = {name for record in known.files.values() for name, _ in record.parts}
    with tempfile.TemporaryDirectory(prefix="icm-doctor-") as folder:
        bench = Bench(Path(folder))
        for tool in TOOLS:
            if finding.is_here(tool, machine) or tool.name in listed:
                yield from _tool(tool, known, setup, machine, bench)


def _tool(
    tool: Tool, known: Manifest, setup: Setup, machine: Machine, bench: Bench
) -> Iterator[Finding]:
    parts = [
        part
        for part in finding.items(tool, setup, machine, MODES)
        if isinstance(part, Item)
    ]
    lines = install.plan(parts, known).lines
    if all(line.state == CONFIGURED for line in lines) and not _was_set_up(
        lines, known
    ):
        yield note(tool.title, "is here and not set up", INIT)
        return
    missing: dict[str, int] = {}
    for line in lines:
        yield from _line(tool, line, known, machine, missing)
    for mode in missing:
        yield note(tool.title, f"{mode} is not set up", f"{INIT} --mode {mode}")
    if instead := tool.instead_of_hooks():
        yield ok(tool.title, f"hook: {instead}")
    remedy = FORCE if any(line.state == STALE for line in lines) else INIT
    yield from _running(tool, installed(parts), machine, bench, setup, remedy)


def _was_set_up(lines: Sequence[Line], known: Manifest) -> bool:
    return any(_listed(line, known) for line in lines)


def _listed(line: Line, known: Manifest) -> bool:
    record = known.get(line.item.path)
    return record is not None and (line.item.tool, line.item.mode) in record.parts


def _line(
    tool: Tool, line: Line, known: Manifest, machine: Machine, missing: dict[str, int]
) -> Iterator[Finding]:
    mode, shown = line.item.mode, machine.shown(line.item.path)
    if line.state == ALREADY:
        yield ok(tool.title, f"{mode}: {shown}")
    elif line.state == BAD:
        yield wrong(
            tool.title, f"{mode}: {shown}: {line.note}", f"mend it, then {INIT}"
        )
    elif line.state == STALE:
        text = line.note.partition(";")[0]
        yield wrong(tool.title, f"{mode}: {shown}: {text}", FORCE)
    elif line.state == RENEWED:
        text = f"{mode}: {shown}: not as this version writes it"
        yield note(tool.title, text, INIT)
    elif line.state == OTHER:
        text = line.note.partition(";")[0]
        yield note(tool.title, f"{mode}: {shown}: {text}", FORCE)
    elif _listed(line, known):
        yield wrong(tool.title, f"{mode}: {shown}: our entry is missing", INIT)
    else:
        missing[mode] = missing.get(mode, 0) + 1


def installed(parts: Sequence[Item]) -> Installed:
    """What the files of a tool run at the moment."""
    server: tuple[str, ...] = ()
    hooks: list[Hook] = []
    programs: list[str] = []
    for part in parts:
        try:
            _, text = documents.decode(writing.read(part.path) or b"")
            if part.mode == "mcp":
                server = server or _server(text, part)
            elif part.mode == "hook":
                found, run = _hooks(text, part)
                hooks += found
                programs += run
        except (WrongShape, IcmError):
            continue
    return Installed(server, tuple(hooks), tuple(programs))


def _server(text: str, part: Item) -> tuple[str, ...]:
    entry: Any
    if part.kind == "toml":
        entry = toml_text.walk(text, part.key)
    elif part.kind == "yaml-item":
        named = [i for i in yaml_text.items(text, part.key[0]) if isinstance(i, dict)]
        entry = next((i for i in named if i.get("name") == "icm"), None)
    else:
        entry = jsonc.walk(text, part.key)
    if not isinstance(entry, dict):
        return ()
    command, arguments = entry.get("command"), entry.get("args")
    if not program.is_server(command, arguments):
        return ()
    words = [command] if isinstance(command, str) else program.list_of_texts(command)
    return (*words, *program.list_of_texts(arguments))


def _hooks(text: str, part: Item) -> tuple[list[Hook], list[str]]:
    """The hooks in a file, and the programs that they run."""
    if part.kind == "script":
        if not text:
            return [], []
        one = trials.of_script(part.path.stem, part.path, windows=os.name == "nt")
        return ([one] if one else []), program.files_of(text)
    if part.kind == "file":
        return _plugin(text)
    events = jsonc.walk(text, part.key)
    found = [
        (event, command)
        for event, entries in (events.items() if isinstance(events, dict) else ())
        for entry in (entries if isinstance(entries, list) else ())
        for command in edits.commands(entry)
    ]
    hooks = [
        trials.hook(event, trials.shell(command, windows=os.name == "nt"))
        for event, command in found
        if _for_this_system(command)
    ]
    programs = [path for _, command in found for path in program.files_of(command)]
    return [one for one in hooks if one], programs


def _plugin(text: str) -> tuple[list[Hook], list[str]]:
    places = re.findall(r"^const (?:PYTHON|HOOK) = (\".*\")$", text, re.M)
    host = re.search(r"\"--tool\", \"(\w+)\"", text)
    if len(places) != 2 or not host or host[1] not in HOSTS:
        return [], []
    python, file = map(json.loads, places)
    return trials.plugin(host[1], python, file), [python, file]


def _running(
    tool: Tool,
    what: Installed,
    machine: Machine,
    bench: Bench,
    setup: Setup,
    remedy: str,
) -> Iterator[Finding]:
    """Whether the programs are there, and answer."""
    gone = [path for path in _programs(what) if not _is_there(path, machine)]
    for path in dict.fromkeys(gone):
        yield wrong(tool.title, f"runs {path}, which is not there", remedy)
    if gone:
        return
    if what.server:
        yield from round_trips.mcp(tool.title, what.server)
    yield from trials.examine(
        tool.title, what.hooks, bench, icm=trials.word(setup.program.icm)
    )


def _programs(what: Installed) -> list[str]:
    return [*what.server[:1], *what.programs]


def _is_there(path: str, machine: Machine) -> bool:
    if "/" in path or "\\" in path:
        # Also False where nobody may look, and for what is no path.
        return os.path.exists(path)  # noqa: PTH110
    return shutil.which(path, path=machine.env.get("PATH", "")) is not None


def _for_this_system(command: str) -> bool:
    """Copilot's entries hold a command for PowerShell beside the one for sh."""
    windows = command.startswith(("if ((Test-Path", "cmd "))
    return windows == (os.name == "nt")

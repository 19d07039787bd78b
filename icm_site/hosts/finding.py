"""Which tools are on this machine, and which files of theirs are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from icm_site import git
from icm_site.hosts import places, writing
from icm_site.hosts.catalog import TOOLS
from icm_site.hosts.edits import Item
from icm_site.hosts.shapes import Setup, Target, Tool


class Machine(NamedTuple):
    """Whose tools are meant: the variables, the system, the working folder."""

    env: Mapping[str, str]
    system: str
    cwd: Path

    def path(self, template: str) -> Path:
        """The path of a template; raises Unavailable without a home."""
        if template.startswith("{project}"):
            return self.project() / template.removeprefix("{project}/")
        return places.resolve(template, env=self.env, system=self.system)

    def project(self) -> Path:
        """The repository around the working folder, else the folder itself."""
        found = git.find(self.cwd)
        return found.root if found else self.cwd

    def home(self) -> Path:
        """The home folder."""
        return self.path("{home}")

    def shown(self, path: Path) -> str:
        """A path as it is shown, with `~` for the home folder."""
        home = self.home()
        return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


class Skipped(NamedTuple):
    """A file that is not written, and why."""

    mode: str
    why: str


def is_here(tool: Tool, machine: Machine) -> bool:
    """Whether a tool is here: its program on PATH, or a folder of its own."""
    if any(writing.is_there(machine.path(folder)) for folder in tool.folders):
        return True
    return bool(
        tool.programs
        and places.on_path(tool.programs, env=machine.env, system=machine.system)
    )


def here(machine: Machine) -> list[Tool]:
    """The tools on this machine."""
    return [tool for tool in TOOLS if is_here(tool, machine)]


def items(
    tool: Tool, setup: Setup, machine: Machine, modes: Iterable[str]
) -> Iterator[Item | Skipped]:
    """The parts of a tool in these modes, one per file, or why a file has none."""
    for mode in modes:
        rows = [t for t in tool.targets if t.mode == mode]
        project = [t for t in rows if t.project]
        user = [t for t in rows if not t.project]
        applying = _applying(tool, user, machine)
        chosen = [*applying, *(project if setup.project else ())]
        if user and not applying:
            shown = machine.shown(machine.path(user[0].folder))
            yield Skipped(mode, f"{shown} is not there")
        elif project and not chosen:
            yield Skipped(mode, "project files only; see --per-project")
        for target in chosen:
            if target.unless and _replaces(target, machine):
                shown = machine.shown(machine.path(target.unless))
                yield Skipped(mode, f"{shown} is in use; see the documentation")
            else:
                yield item(tool, target, setup, machine)


def _applying(tool: Tool, rows: list[Target], machine: Machine) -> list[Target]:
    chosen: list[Target] = []
    for target in rows:
        if target.fallback and chosen:
            continue
        if not target.folder or writing.is_there(machine.path(target.folder)):
            chosen.append(target)
    # A tool of which nothing is there yet gets what its present version reads.
    folders = {target.folder for target in tool.targets if target.folder}
    if not chosen and not any(writing.is_there(machine.path(f)) for f in folders):
        return rows[:1]
    return chosen


def _replaces(target: Target, machine: Machine) -> bool:
    older = writing.is_there(machine.path(target.unless))
    return older and not writing.is_there(_file(target, machine))


def item(
    tool: Tool, target: Target, setup: Setup, machine: Machine, path: Path | None = None
) -> Item:
    """One part of ours; `path` where it is not the one that the catalog means."""
    value = target.make(setup)
    if target.kind == "yaml-read":
        value = str(machine.path(value))
    return Item(
        tool=tool.name,
        mode=target.mode,
        kind=target.kind,
        path=path or _file(target, machine),
        value=value,
        key=target.key,
        start=target.start,
    )


def _file(target: Target, machine: Machine) -> Path:
    places_of = files(target, machine)
    for place in places_of:
        if writing.is_file(place) and place.stat().st_size:
            return place
    return places_of[-1]


def files(target: Target, machine: Machine) -> list[Path]:
    """The paths that a target may have."""
    ending = ".ps1" if (target.kind, machine.system) == ("script", "win32") else ""
    return [machine.path(f"{file}{ending}") for file in target.files]


def everywhere(setup: Setup, machine: Machine) -> Iterator[Item]:
    """Every part that any version may have left in a file that is there."""
    for tool in TOOLS:
        for target in tool.targets:
            for path in files(target, machine):
                if writing.is_file(path):
                    yield item(tool, target, setup, machine, path)

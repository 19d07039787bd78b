"""`icm init`: set ICM up in the AI tools of this machine."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from icm_site import conf, paths
from icm_site.arguments import Parser
from icm_site.hosts import finding, install, manifest, program, rules_offer
from icm_site.hosts.catalog import BY_NAME, TOOLS
from icm_site.hosts.edits import CONFIGURED, RENEWED, Item
from icm_site.hosts.finding import Machine, Skipped
from icm_site.hosts.install import BAD, Change, Line
from icm_site.hosts.shapes import MODES, Setup

CHOICES: Mapping[str, tuple[str, ...]] = {
    "all": MODES,
    "standard": ("cli", "skill", "hook"),
    **{mode: (mode,) for mode in MODES},
}
_MEANING = """\
what to set up: mcp, the server as tools of the agent; cli, instructions in the file of
rules; skill, the skills recall, remember, correct and forget; hook, commands that the
tool runs by itself; standard, the last three; all (default)"""
TITLE_WIDTH, STATE_WIDTH = 16, 18


def main(arguments: Sequence[str]) -> int:
    """Set up what is found; returns 1 if a file could not be set up."""
    parser = _parser()
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    env = os.environ
    machine = Machine(env, sys.platform, Path.cwd())
    setup = Setup(
        program.running(env),
        sys.platform,
        codex_post=given.codex_post,
        project=given.per_project,
        env=env,
    )
    known = manifest.load(paths.data_dir(env))
    found: list[Item | Skipped] = []
    tools = TOOLS if given.force else finding.here(machine)
    for tool in tools:
        found += finding.items(tool, setup, machine, CHOICES[given.mode])
    planned = install.plan(
        [part for part in found if isinstance(part, Item)], known, force=given.force
    )
    lines = list(planned.lines)
    if given.dry_run:
        print("\n".join(_diffs(planned.changes, machine)))
    else:
        lines = _applied(planned, known, given.force)
    _report(lines, machine, CHOICES[given.mode], setup)
    if not given.dry_run:
        _close(lines, machine, setup)
        rules_offer.offer(machine)
    return 1 if any(line.state == BAD for line in lines) else 0


def _parser() -> Parser:
    parser = Parser(
        prog="icm init",
        description="Set ICM up in the AI tools of this machine.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--mode", choices=[*CHOICES], default="all", help=_MEANING)
    add("--dry-run", action="store_true", help="show the changes, and make none")
    add(
        *("-f", "--force"),
        action="store_true",
        help="renew entries of another installation or by others, and set up tools "
        "that were not found",
    )
    add(
        "--per-project",
        action="store_true",
        help="write the files of the project in the working folder too",
    )
    add(
        "--without-codex-post-hook",
        dest="codex_post",
        action="store_false",
        help="leave out Codex's hook after each tool call",
    )
    add(
        "--with-codex-post-hook",
        dest="codex_post",
        action="store_true",
        default=True,
        help="install that hook (default)",
    )
    return parser


def _applied(
    planned: install.Plan, known: manifest.Manifest, force: bool
) -> list[Line]:
    _, failed = install.apply(
        planned.changes, known, now=datetime.now(UTC), force=force
    )
    return [
        line._replace(state=BAD, note=failed[line.item.path])
        if line.item.path in failed
        else line
        for line in planned.lines
    ]


def _diffs(changes: Iterable[Change], machine: Machine) -> Iterable[str]:
    for change in changes:
        name = machine.shown(change.path)
        before, after = (
            (data or b"").decode("utf-8-sig").splitlines()
            for data in (change.before, change.after)
        )
        old = name if change.before is not None else "(no file)"
        yield from difflib.unified_diff(before, after, old, name, lineterm="", n=2)
        yield ""


def _report(
    lines: Sequence[Line], machine: Machine, modes: Sequence[str], setup: Setup
) -> None:
    for mode in modes:
        for tool in TOOLS:
            parts = [
                line
                for line in lines
                if (line.item.mode, line.item.tool) == (mode, tool.name)
            ]
            for line in parts:
                print(_row(mode, tool.title, line.state, _detail(line, machine)))
            if parts:
                continue
            instead = tool.instead_of_hooks() if mode == "hook" else ""
            if instead and finding.is_here(tool, machine):
                print(_row(mode, tool.title, "none", f"({instead})"))
            elif any(target.mode == mode for target in tool.targets):
                print(
                    _row(
                        mode,
                        tool.title,
                        "skipped",
                        _why(tool.name, mode, machine, setup),
                    )
                )


def _why(name: str, mode: str, machine: Machine, setup: Setup) -> str:
    tool = BY_NAME[name]
    if not finding.is_here(tool, machine):
        return "(not detected)"
    parts = finding.items(tool, setup, machine, [mode])
    return next((f"({part.why})" for part in parts if isinstance(part, Skipped)), "")


def _row(mode: str, title: str, state: str, detail: str) -> str:
    row = f"[{mode}]".ljust(8) + f"{title:{TITLE_WIDTH}} {state:{STATE_WIDTH}} {detail}"
    return row.rstrip()


def _detail(line: Line, machine: Machine) -> str:
    shown = machine.shown(line.item.path)
    return f"{shown}: {line.note}" if line.note else shown


def _close(lines: Sequence[Line], machine: Machine, setup: Setup) -> None:
    changed = {line.item.tool for line in lines if line.state in (CONFIGURED, RENEWED)}
    print()
    print(f"Program:  {setup.program.icm}")
    print("\n".join(_database(machine.env)))
    place = paths.data_dir(machine.env) / manifest.NAME
    if place.exists():
        print(f"Manifest: {place} (icm uninstall restores every file)")
    for tool in TOOLS:
        if tool.name in changed and tool.advice:
            print(f"{tool.title}: {tool.advice}.")
    if not lines:
        print("No AI tool was found; --force sets up all of them.")


def _database(env: Mapping[str, str]) -> Iterable[str]:
    """The database in use here, and the one of tools that are not told of it."""
    here = conf.current()
    yield f"Database: {here.database_path}"
    named = {"flag": "--db", "environment": "ICM_DB"}.get(here.database.origin)
    usual = conf.load({k: v for k, v in env.items() if k != "ICM_DB"}).database_path
    if named and usual != here.database_path:
        yield f"          by {named}, which a tool may not see: it then uses {usual};"
        yield f"          store.path in {here.file} names one for all"

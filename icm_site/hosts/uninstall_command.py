"""`icm uninstall` and `icm hook disable`: what `icm init` set up is taken out."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from icm_site import conf, paths
from icm_site.arguments import Parser
from icm_site.hosts import manifest, own_data, program, removal
from icm_site.hosts.finding import Machine
from icm_site.hosts.install import BAD
from icm_site.hosts.removal import Step
from icm_site.hosts.shapes import Setup

# The exit code where a part of ours is left; argparse has 2.
LEFT = 3


def main(arguments: Sequence[str]) -> int:
    """Take everything out; returns 3 if a file was left with a part of ours."""
    parser = Parser(
        prog="icm uninstall",
        description="Take out of the AI tools what icm init put in. Files that nobody "
        "changed since are restored byte for byte; from others our entries go.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        *("--dry-run", "--audit"),
        action="store_true",
        help="say what would be done, and do nothing",
    )
    add(
        "--check",
        action="store_true",
        help="as --dry-run, with exit code 1 if there is something to take out",
    )
    add(
        "--purge-data",
        action="store_true",
        help="list the database, its backups and the models; with --yes erase them",
    )
    add("-y", "--yes", action="store_true", help="confirm --purge-data")
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    env = os.environ
    machine, setup, known = _here(env)
    steps = removal.uninstalling(known, setup, machine)
    folders: list[str] = []
    looks_only = given.dry_run or given.check
    if not looks_only:
        steps = removal.carry_out(steps)
        _, folders = removal.forget(known, steps)
    _report(steps, machine, looks_only)
    for folder in folders:
        print(f"{'folder removed':22} {machine.shown(Path(folder))}")
    if not steps:
        print("Nothing of ICM is set up in any AI tool.")
    if looks_only:
        return 1 if given.check and steps else 0
    database = conf.current().database_path
    _stop_resident(str(database))
    if given.purge_data:
        _purge(database, env, confirmed=given.yes)
    else:
        print(f"Memories stay in {database}; --purge-data erases them.")
    return LEFT if any(step.state == BAD for step in steps) else 0


def disable_hooks(arguments: Sequence[str]) -> int:
    """Take out hook entries alone; returns 3 if a file was left with one."""
    parser = Parser(
        prog="icm hook disable",
        description="Take the hooks of ICM out of the AI tools; MCP entries, "
        "instructions and memories stay. icm init --mode hook brings them back.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and do nothing"
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    machine, setup, known = _here(os.environ)
    steps = removal.disabling(known, setup, machine)
    if not given.dry_run:
        steps = removal.carry_out(removal.keep_copies(steps, datetime.now(UTC)))
        removal.note_disabled(known, steps)
    _report(steps, machine, given.dry_run)
    if not steps:
        print("No hook of ICM is set up in any AI tool.")
    return LEFT if any(step.state == BAD for step in steps) else 0


def _here(env: Mapping[str, str]) -> tuple[Machine, Setup, manifest.Manifest]:
    machine = Machine(env, sys.platform, Path.cwd())
    setup = Setup(program.running(env), sys.platform)
    return machine, setup, manifest.load(paths.data_dir(env))


def _report(steps: Sequence[Step], machine: Machine, dry_run: bool) -> None:
    for step in steps:
        note = f": {step.note}" if step.note else ""
        state = f"would be: {step.state}" if dry_run else step.state
        print(f"{state:22} {machine.shown(step.path)}{note}")


def _stop_resident(database: str) -> None:
    from icm_site.resident import claim, command

    if claim.is_locked(database):
        command.main(["stop"])


def _purge(database: Path, env: Mapping[str, str], *, confirmed: bool) -> None:
    found = own_data.files(database, env, system=sys.platform)
    for path in found:
        print(f"  {path}")
    if not confirmed:
        print(f"Add --yes to erase these {len(found)} files for good.")
        return
    failed = list(own_data.erase(found))
    for path, why in failed:
        print(f"{BAD:22} {path}: {why}")
    print(f"Erased {len(found) - len(failed)} files.")
    for folder in own_data.drop_empty_folders(env, system=sys.platform):
        print(f"Left, since it holds files of yours: {folder}")

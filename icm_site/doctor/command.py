"""`icm doctor`: look at everything, and say what mends it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from icm_site import conf, paths
from icm_site.arguments import Parser
from icm_site.doctor import database_state, disks, surroundings, tools_state
from icm_site.doctor.findings import Finding, wrong
from icm_site.errors import IcmError
from icm_site.hosts import manifest, program
from icm_site.hosts.finding import Machine
from icm_site.hosts.shapes import Setup

SIGNS = {"ok": "✓", "note": "-", "wrong": "✗"}


def main(arguments: Sequence[str]) -> int:
    """Print findings; returns 1 if something is wrong."""
    parser = Parser(
        prog="icm doctor",
        description="Look at the database, its surroundings and every AI tool that is "
        "set up, and name the command that mends what is wrong.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--json", action="store_true", help="print the findings as JSON")
    add(
        "--rebuild-indexes",
        action="store_true",
        help="make the text and vector indexes anew from the memories, first",
    )
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if given.rebuild_indexes:
        _rebuild()
    found = list(_findings())
    bad = sum(finding.level == "wrong" for finding in found)
    if given.json:
        rows = [finding._asdict() for finding in found]
        print(
            json.dumps({"ok": not bad, "findings": rows}, indent=2, ensure_ascii=False)
        )
    else:
        print("\n".join(map(_shown, found)))
        print(f"\n{bad} {'thing is' if bad == 1 else 'things are'} wrong." if bad
              else "\nNothing is wrong.")  # fmt: skip
    return 1 if bad else 0


def _shown(finding: Finding) -> str:
    remedy = f" → {finding.remedy}" if finding.remedy else ""
    text = f"{finding.text}{remedy}"
    return f"{SIGNS[finding.level]} {finding.subject:16} {text}"


def _findings() -> Iterator[Finding]:
    env, system = os.environ, sys.platform
    try:
        config = conf.current()
    except IcmError as error:
        yield wrong("config", error.message)
        return
    database = config.database_path
    yield from surroundings.configuration(config)
    yield from database_state.examine(database)
    yield from disks.examine(database)
    yield from surroundings.private_folders(env, system)
    yield from surroundings.model(database)
    yield from surroundings.extension()
    yield from surroundings.resident(database, env)
    yield from surroundings.pauses(database)
    yield from surroundings.another_program(env, system)
    try:
        known = manifest.load(paths.data_dir(env, system=system))
    except IcmError as error:
        yield wrong("manifest", error.message)
        return
    machine = Machine(env, system, Path.cwd())
    yield from tools_state.examine(known, Setup(program.running(env), system), machine)


def _rebuild() -> None:
    """Raises what opening the database raises."""
    from icm_site import rebuilding

    rebuilding.rebuild()
    print("The indexes were made anew.", file=sys.stderr)

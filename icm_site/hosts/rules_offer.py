"""Files of rules where `icm init` is run: their import, if the person wants it."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from icm_site import conf
from icm_site.errors import IcmError
from icm_site.exchange.foreign import rule_files
from icm_site.hosts.finding import Machine
from icm_site.sqlite.address import uri
from icm_site.text import summary_hash
from memories import projects

HELD = """
SELECT count(*) FROM memories
WHERE summary_hash IN (SELECT value FROM json_each(?))
"""
YES = ("y", "yes", "j", "ja", "o", "oui", "s", "si", "sí")


def offer(machine: Machine) -> None:
    """Say which files could be remembered; on a terminal ask, and do it after a yes."""
    root = machine.project()
    if root == machine.home():
        return
    new = {
        path: count for path in rule_files.found(root) if (count := _new(path, machine))
    }
    if not new:
        return
    print(
        "\nRules that agents read here, and that could be remembered for all of them:"
    )
    for path, count in new.items():
        print(f"  icm import --from rules {_shown(path)}   ({count} sections)")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    try:
        answer = input("Import them now? The files stay as they are. [y/N] ")
    except (EOFError, KeyboardInterrupt):
        print()
        return
    if answer.strip().lower() in YES:
        _import(list(new))


def _shown(path: Path) -> str:
    import shlex

    place = os.path.relpath(path)
    return shlex.quote(place) if os.name == "posix" else f'"{place}"'


def _new(path: Path, machine: Machine) -> int:
    """How many sections of a file are not in the memory, or were never."""
    try:
        if path.stat().st_size > rule_files.FILE_BYTES:
            return 0
        parts = rule_files.parts(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return 0
    project = projects.project_name(str(machine.cwd), env=machine.env) or ""
    topic = f"rules-{project}" if project else "rules"
    hashes = {summary_hash(topic, part) for part in parts}
    return len(hashes) - _held(hashes)


def _held(hashes: set[str]) -> int:
    import json

    try:
        database = conf.current().database_path
        with closing(sqlite3.connect(uri(database, "mode=ro"), uri=True)) as raw:
            return int(raw.execute(HELD, (json.dumps(sorted(hashes)),)).fetchone()[0])
    except (IcmError, sqlite3.Error):
        return 0  # there is none yet


def _import(paths: list[Path]) -> None:
    from icm_site.exchange import import_command

    for path in paths:
        print(f"{_shown(path)}:")
        try:
            import_command.main([str(path), "--from", "rules"])
        except IcmError as error:
            print(f"  {error.message}", file=sys.stderr)

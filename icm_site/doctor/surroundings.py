"""Configuration, model, extension, resident, pause, and data of another program."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from icm_site import conf, folders, paths
from icm_site.doctor.findings import Finding, note, ok, wrong
from icm_site.errors import IcmError
from icm_site.sqlite import failures, vec
from icm_site.sqlite.opening import to_read

# The folder of the Rust program of the same name, below the roots of each system.
OTHER = {"win32": "icm/icm/data", "darwin": "dev.icm.icm"}


def configuration(config: conf.Config) -> Iterator[Finding]:
    """Unknown keys; that it could be read at all is known by then."""
    for unknown in config.unknown:
        hint = f", did you mean {unknown.meant!r}?" if unknown.meant else ""
        yield note("config", f"{unknown.file}: unknown key {unknown.name!r}{hint}")
    state = "" if config.loaded else " (not there; defaults are in force)"
    yield ok("config", f"{config.file}{state}")


def model(database: Path) -> Iterator[Finding]:
    """Whether the configured model can be loaded, and is that of the vectors."""
    from memories import embedder

    name = embedder.configured()
    if not name:
        yield note("model", "embeddings are switched off: search is by words alone")
        return
    state = embedder.status(name)
    if state.reason:
        remedy = "icm embeddings download" if "/" in name else ""
        yield wrong("model", f"{name}: {state.reason}", remedy)
    else:
        yield ok("model", f"{name} can be loaded")
    stored = recorded(database, "embedding_model")
    if stored and stored != name and not embedder.configured_as_auto():
        text = f"the vectors are of {stored}, the configuration names {name}"
        yield wrong("model", text, "icm embed --migrate")


def recorded(database: Path, key: str) -> str:
    """A value of the database's own notes, "" without one or without a database."""
    try:
        connection = sqlite3.connect(to_read(database), uri=True, timeout=1)
        with closing(connection):
            row = connection.execute(
                "SELECT value FROM icm_metadata WHERE key = ?", (key,)
            ).fetchone()
    except failures.DAMAGE:
        return ""
    return str(row[0]) if row else ""


def extension() -> Iterator[Finding]:
    """How vec0 is loaded."""
    way = vec.way()
    if way == "none":
        text = "sqlite-vec is not to be had: vectors are searched in memory"
        yield note("extension", text, "pip install sqlite-vec")
    else:
        yield ok("extension", f"sqlite-vec ({way})")


def resident(database: Path, env: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the warm process runs, or has failed to start."""
    from icm_site.resident import claim, place

    if not place.wanted(env):
        yield note("resident", "switched off by ICM_RESIDENT=0")
        return
    address = place.read(str(database))
    if claim.is_locked(str(database)):
        yield ok("resident", "runs")
    elif address is not None and address.state == place.FAILED:
        log = paths.cache_dir(env) / "resident.log"
        ago = max(0, int(time.time() - address.since)) // 60
        text = f"failed to start {ago} min ago ({address.tries} tries); see {log}"
        yield wrong("resident", text, "icm resident run")
    else:
        yield ok("resident", "does not run; the next command starts it")


def another_program(env: Mapping[str, str], system: str) -> Iterator[Finding]:
    """Data of the Rust program, which is never written."""
    root = Path(folders.data(env, system)).parent
    place = root / OTHER.get(system, "dev.icm.icm")
    if place.is_dir():
        yield note("other data", f"{place} is the Rust program's; it is left as it is")


def pauses(database: Path) -> Iterator[Finding]:
    """What a person told to rest."""
    from memories import pause

    try:
        connection = sqlite3.connect(to_read(database), uri=True, timeout=1)
        with closing(connection):
            resting = pause.paused(connection)
    except failures.DAMAGE:
        return
    for project, end in resting.items():
        where = f"in project {project}" if project else "everywhere"
        until = f" until {time.strftime('%F %R', time.localtime(end))}" if end else ""
        more = f" --project {project}" if project else ""
        yield note("pause", f"hooks rest {where}{until}", f"icm resume{more}")


def private_folders(env: Mapping[str, str], system: str) -> Iterator[Finding]:
    """Whether our data folder is closed to others."""
    try:
        folder = paths.data_dir(env, system=system)
        mode = folder.stat().st_mode & 0o777
    except (IcmError, OSError):
        return
    if os.name == "posix" and mode & 0o077:
        text = f"{folder} is open to others (mode {mode:o})"
        yield wrong("data folder", text, f"chmod 700 '{folder}'")

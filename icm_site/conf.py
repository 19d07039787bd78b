"""ICM's own configuration: TOML files and the environment, read once."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from icm_site import paths
from icm_site.conf_keys import (
    KEYS,
    SECTIONS,
    Backup,
    Embeddings,
    Extraction,
    Feedback,
    History,
    Hooks,
    Key,
    Log,
    Mcp,
    Memory,
    Place,
    Project,
    Projects,
    Recall,
    Redaction,
    Resident,
    Store,
    Wakeup,
    Web,
    checked,
)
from icm_site.errors import InvalidInput, Unavailable

FILE_LIMIT = 1 << 20
Origin = Literal["default", "file", "repository", "environment", "flag"]


class Unknown(NamedTuple):
    """A key of a file that means nothing to us, and the key that was perhaps meant."""

    file: Path
    name: str
    meant: str | None


class Value(NamedTuple):
    """One key with the value in force and where that came from."""

    key: Key
    value: Any
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration in force.

    `file` is the user's, whether it exists (`loaded`) or not; None without a home.
    """

    embeddings: Embeddings
    store: Store
    backup: Backup
    memory: Memory
    recall: Recall
    wakeup: Wakeup
    hooks: Hooks
    extraction: Extraction
    feedback: Feedback
    history: History
    mcp: Mcp
    resident: Resident
    web: Web
    redaction: Redaction
    projects: Projects
    project: Project
    log: Log
    file: Path | None
    loaded: bool
    repository_file: Path | None
    database: paths.DatabasePath
    origins: Mapping[str, Origin]
    unknown: tuple[Unknown, ...]

    @property
    def database_path(self) -> Path:
        """The database in use."""
        return self.database.path

    @property
    def read_only(self) -> bool:
        """Whether the database is to be opened for reading alone."""
        return self.store.read_only

    @property
    def log_level(self) -> str:
        """The level by the name that `logging` knows."""
        return {"warn": "WARNING"}.get(self.log.level, self.log.level.upper())

    def values(self) -> Iterator[Value]:
        """Give each key with its value and origin, in the order of declaration."""
        for entry in KEYS.values():
            section, _, name = entry.name.partition(".")
            value = getattr(getattr(self, section), name)
            yield Value(entry, value, self.origins[entry.name])


_in_force: Config | None = None
_of_request: ContextVar[Config | None] = ContextVar("config", default=None)


def current() -> Config:
    """Return the configuration of this request, else of this process (read once)."""
    if (own := _of_request.get()) is not None:
        return own
    if _in_force is None:
        use(load())
    assert _in_force is not None
    return _in_force


def use(config: Config | None) -> None:
    """Make `config` the one of this process; None reads it anew at the next call."""
    global _in_force
    _in_force = config


@contextmanager
def within(config: Config) -> Iterator[None]:
    """Within this block `config` is in force, for this thread or task alone."""
    token = _of_request.set(config)
    try:
        yield
    finally:
        _of_request.reset(token)


def load(
    env: Mapping[str, str] = os.environ,
    cwd: str | os.PathLike[str] = ".",
    *,
    flags: Mapping[str, Any] = MappingProxyType({}),
    files: bool = True,
    system: str = sys.platform,
) -> Config:
    """Read the configuration: defaults < repository < user's file < variables < flags.

    `flags` maps key names to values; `files=False` leaves the files out, for a caller
    that must go on with a broken one. Raises InvalidInput with file and line or key.
    """
    file = _user_file(env, system)
    root = paths.trusted_repository(cwd, env=env, system=system)
    repository_file = root and root / paths.REPOSITORY_FOLDER / "config.toml"
    user = _read(file) if files else None
    repository = _read(repository_file) if files else None
    layers = (
        _from_file(repository, repository_file, "repository"),
        _from_file(user, file, "user"),
        _from_environment(env),
        {name: Value(KEYS[name], value, "flag") for name, value in flags.items()},
    )
    found = {
        name: Value(entry, entry.default, "default") for name, entry in KEYS.items()
    }
    for layer in layers:
        found |= layer
    if root is not None:
        found |= _of_folder(found["project.folders"].value, root, cwd)
    return Config(
        **_sections(found),
        file=file,
        loaded=user is not None,
        repository_file=repository_file if repository is not None else None,
        database=paths.database_path(
            env=env,
            cwd=cwd,
            flag=flags.get("store.path"),
            config_store=_store(layers[1]),
            repository_store=_store(layers[0]),
            system=system,
        ),
        origins=MappingProxyType({name: value.origin for name, value in found.items()}),
        unknown=(
            *_unknown(user, file, "user"),
            *_unknown(repository, repository_file, "repository"),
        ),
    )


def repository_values(file: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a repository's file would set, and its keys that mean nothing there.

    Raises InvalidInput with file and line or key.
    """
    table = _read(file)
    values = _from_file(table, file, "repository")
    unknown = tuple(entry.name for entry in _unknown(table, file, "repository"))
    return {name: value.value for name, value in values.items()}, unknown


def is_on(text: str | None) -> bool:
    """Tell whether a switch variable is set: not empty and not `0`."""
    return text not in (None, "", "0")


def _user_file(env: Mapping[str, str], system: str) -> Path | None:
    try:
        return paths.config_file(env, system=system)
    except Unavailable:
        # No home. A database named by flag or variable can still be used.
        return None


def _read(file: Path | None) -> dict[str, Any] | None:
    try:
        data = _bytes(file) if file else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(
            f"Config file {file} cannot be read: {error.strerror}."
        ) from error
    if data is None:
        return None
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"Config file {file}: line {line} is not UTF-8.") from error
    except ValueError as error:  # also of a number with thousands of digits
        last = data.rstrip().count(b"\n") + 1
        text = str(error).replace("at end of document", f"at line {last}, at its end")
        raise InvalidInput(f"Config file {file}: {text}.") from error
    except RecursionError:
        raise InvalidInput(f"Config file {file} is nested too deep.") from None


def _bytes(file: Path) -> bytes:
    # Not a regular file alone: a shell makes a pipe of `<(…)`.
    with file.open("rb") as opened:
        data = opened.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        raise InvalidInput(f"Config file {file} is over {FILE_LIMIT >> 20} MiB.")
    return data


def _dotted(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for section, content in table.items():
        if not isinstance(content, dict):
            yield section, content
            continue
        for name, value in content.items():
            yield f"{section}.{name}", value


def _known(name: str, place: Place) -> bool:
    return name in KEYS and KEYS[name].place in (place, "both")


def _from_file(
    table: Mapping[str, Any] | None,
    file: Path | None,
    place: Literal["user", "repository"],
) -> dict[str, Value]:
    origin: Origin = "file" if place == "user" else "repository"
    return {
        name: Value(
            KEYS[name], checked(KEYS[name], value, f"Config file {file}"), origin
        )
        for name, value in _dotted(table or {})
        if _known(name, place)
    }


def _unknown(
    table: Mapping[str, Any] | None, file: Path | None, place: Place
) -> Iterator[Unknown]:
    names = [name for name, entry in KEYS.items() if entry.place in (place, "both")]
    for name, _ in _dotted(table or {}):
        if file is None or _known(name, place):
            continue
        import difflib  # only for a file with a mistake in it

        near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
        yield Unknown(file, name, near[0] if near else None)


def _from_environment(env: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for entry in KEYS.values():
        text = env.get(entry.env or "", "")
        if entry.kind is bool and is_on(text):
            found[entry.name] = Value(entry, not entry.inverted, "environment")
        elif entry.kind is not bool and text:
            value = checked(entry, text, f"Variable {entry.env}")
            found[entry.name] = Value(entry, value, "environment")
    return found


def _sections(found: Mapping[str, Value]) -> dict[str, Any]:
    return {
        section: kind(
            **{
                entry.name: found[f"{section}.{entry.name}"].value
                for entry in fields(kind)
            }
        )
        for section, kind in SECTIONS.items()
    }


def _of_folder(
    folders: Mapping[str, str],
    root: Path,
    cwd: str | os.PathLike[str],
) -> dict[str, Value]:
    """The project's name where the folder is one of those that have a name.

    The deepest folder counts. Raises InvalidInput for one outside the repository.
    """
    if not folders:
        return {}
    top = paths.tree_of(cwd) or root
    place = Path(os.path.realpath(cwd))
    named = {paths.inside_repository(top, key): name for key, name in folders.items()}
    around = [folder for folder in named if place.is_relative_to(folder)]
    if not around:
        return {}
    deepest = max(around, key=lambda folder: len(folder.parts))
    return {"project.name": Value(KEYS["project.name"], named[deepest], "repository")}


def _store(layer: Mapping[str, Value]) -> str | None:
    return layer["store.path"].value if "store.path" in layer else None

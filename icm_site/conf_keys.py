"""The keys of the configuration: the one table that everything else is derived from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, get_origin

from icm_site.errors import InvalidInput

# The file a key may stand in: the user's, the one of a trusted repository, or both.
Place = Literal["user", "repository", "both"]
NO_ALIASES: Mapping[str, str] = MappingProxyType({})


def key(
    default: Any,
    text: str,
    *,
    env: str | None = None,
    inverted: bool = False,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    below: float | None = None,
    place: Place = "user",
) -> Any:
    """Declare one key: its default, one sentence of help, and what it may be.

    `env` names its variable; with `inverted` that switch turns the key off. `low` is
    the least number, `below` the first that is too large.
    """
    facts = {
        "default": default,
        "text": text,
        "env": env,
        "inverted": inverted,
        "choices": choices,
        "low": low,
        "below": below,
        "place": place,
    }
    if isinstance(default, Mapping):
        return field(default_factory=lambda: default, metadata=facts)
    return field(default=default, metadata=facts)


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """Vectors for search by meaning."""

    model: str = key("auto", "Model of new vectors; auto is the packaged one.")
    enabled: bool = key(
        True,
        "Search by meaning as well as by words.",
        env="ICM_NO_EMBEDDINGS",
        inverted=True,
    )


@dataclass(frozen=True, kw_only=True)
class Store:
    """The database file."""

    path: str | None = key(
        None,
        "The database file, if not the usual one.",
        env="ICM_DB",
        place="both",
    )
    read_only: bool = key(
        False, "Open the database for reading alone.", env="ICM_READONLY"
    )


@dataclass(frozen=True, kw_only=True)
class Backup:
    """Copies of the database that are made by themselves."""

    every: float = key(
        1,
        "Days after which a changed database is copied beside itself; 0: never.",
        low=0.0,
        below=1e6,
    )
    keep: int = key(
        5, "How many of these copies are kept; 0: all.", low=0, below=1_000_000
    )


@dataclass(frozen=True, kw_only=True)
class Memory:
    """New memories and how they fade."""

    default_importance: str = key(
        "medium",
        "Importance of a memory that is stored without one.",
        choices=("critical", "high", "medium", "low"),
    )
    decay_rate: float = key(
        0.95, "What a day leaves of a memory's weight.", low=0.0, below=1.0
    )
    prune_threshold: float = key(
        0.1, "Weight below which `icm prune` hides a memory.", low=0.0, below=1.0
    )


@dataclass(frozen=True, kw_only=True)
class Recall:
    """What hooks put before a prompt, and beside a failure."""

    enabled: bool = key(True, "Let the prompt hook bring memories by itself.")
    limit: int = key(5, "The most memories that a prompt brings.", low=1, below=51)
    max_tokens: int = key(
        500, "Tokens of what a prompt or a failure brings.", low=0, below=2001
    )


@dataclass(frozen=True, kw_only=True)
class Wakeup:
    """What hooks bring at the start of a session."""

    max_tokens: int = key(
        500, "Tokens of what the start of a session brings.", low=0, below=2001
    )
    include_preferences: bool = key(True, "Bring the person's preferences with it.")


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Hooks in agents' programs."""

    session_tokens: int = key(
        2000, "Tokens that hooks bring in one session.", low=0, below=1_000_000
    )
    keep_days: int = key(
        90, "Days that runs of hooks are kept; 0: for ever.", low=0, below=1_000_000
    )


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """Facts found in what is said and done."""

    enabled: bool = key(True, "Let hooks extract facts without being asked.")
    min_score: float = key(
        2.0, "Points from which a sentence is a fact.", low=0.0, below=100.0
    )
    max_facts: int = key(
        20, "The most facts that are taken from one text.", low=1, below=1000
    )
    extract_every: int = key(
        3,
        "Tool calls after which hooks read the output of one.",
        low=1,
        below=1000,
    )
    store_raw: bool = key(
        True, "Let hooks keep the end of a text in which they find no fact."
    )


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What is done with reports of mistakes."""

    affects_recall: bool = key(
        True, "Rank memories by what feedback said of them, within bounds."
    )


@dataclass(frozen=True, kw_only=True)
class History:
    """What is kept of earlier texts."""

    keep_days: float | None = key(
        None,
        "Days after which earlier texts and hidden memories are erased; none: never.",
        low=0.0,
        below=1e6,
    )


@dataclass(frozen=True, kw_only=True)
class Mcp:
    """The MCP server."""

    compact: bool = key(False, "Answer tools with the shortest text.")
    instructions: str | None = key(
        None, "Text added to the instructions that clients receive."
    )


@dataclass(frozen=True, kw_only=True)
class Web:
    """The HTTP interfaces of `icm web`."""

    open_read: bool = key(
        False, "Let programs of this machine read over HTTP without a token."
    )
    requests_per_minute: int = key(
        1200,
        "Requests that one token or login may make in a minute; 0: no limit.",
        low=0,
        below=1_000_000,
    )


@dataclass(frozen=True, kw_only=True)
class Resident:
    """The warm process that answers hooks, commands and MCP clients."""

    enabled: bool = key(True, "Keep a process ready that answers at once.")
    idle_minutes: float = key(
        30,
        "Minutes without a request after which it ends; 0: never.",
        low=0.0,
        below=1e6,
    )
    transport: str = key(
        "auto",
        "How clients reach it; auto is a Unix socket where there are any.",
        env="ICM_RESIDENT_TRANSPORT",
        choices=("auto", "unix", "tcp"),
    )


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """Secrets that are masked before a text is stored."""

    allow: tuple[str, ...] = key((), "Patterns of texts that are never masked.")
    extra: tuple[str, ...] = key((), "Further patterns of texts that are masked.")


@dataclass(frozen=True, kw_only=True)
class Projects:
    """Names of projects."""

    aliases: Mapping[str, str] = key(NO_ALIASES, "Other names of a project: old = new.")


@dataclass(frozen=True, kw_only=True)
class Project:
    """The project of one repository."""

    name: str | None = key(
        None, "Name of this repository's project.", place="repository"
    )
    folders: Mapping[str, str] = key(
        NO_ALIASES,
        "Projects of a repository by folder: folder = name.",
        place="repository",
    )


@dataclass(frozen=True, kw_only=True)
class Log:
    """Messages on stderr."""

    level: str = key(
        "warn",
        "The least serious message that is shown.",
        env="ICM_LOG",
        choices=("debug", "info", "warn", "error"),
    )


@dataclass(frozen=True)
class Key:
    """One key of the configuration, as declared above."""

    name: str
    kind: Any
    default: Any
    text: str
    env: str | None
    inverted: bool
    choices: tuple[str, ...]
    low: float | None
    below: float | None
    place: Place


SECTIONS: Mapping[str, type[Any]] = {
    "embeddings": Embeddings,
    "store": Store,
    "backup": Backup,
    "memory": Memory,
    "recall": Recall,
    "wakeup": Wakeup,
    "hooks": Hooks,
    "extraction": Extraction,
    "feedback": Feedback,
    "history": History,
    "mcp": Mcp,
    "resident": Resident,
    "web": Web,
    "redaction": Redaction,
    "projects": Projects,
    "project": Project,
    "log": Log,
}
KEYS: Mapping[str, Key] = {
    f"{section}.{entry.name}": Key(
        name=f"{section}.{entry.name}",
        kind=entry.type,
        **entry.metadata,
    )
    for section, kind in SECTIONS.items()
    for entry in fields(kind)
}


def checked(entry: Key, value: Any, where: str) -> Any:
    """Return the value as the key keeps it; raises InvalidInput."""
    try:
        return _coerced(entry, value)
    except ValueError as error:
        raise InvalidInput(
            f"{where}: {entry.name} must be {error}, not {_shown(value)}."
        ) from error


def _shown(value: Any) -> str:
    # Python writes out no number of more than some thousand digits.
    large = isinstance(value, int) and value.bit_length() > 64
    return "one that large" if large else repr(value)


def _coerced(entry: Key, value: Any) -> Any:
    if entry.kind is bool:
        return _expect(isinstance(value, bool), value, "true or false")
    if entry.low is not None:
        return _number(entry, value)
    if get_origin(entry.kind) is tuple:
        return _patterns(value)
    if get_origin(entry.kind) is not None and isinstance(entry.default, Mapping):
        return _names(value)
    _expect(isinstance(value, str), value, "a text")
    if not entry.choices:
        return value
    wanted = "one of " + ", ".join(entry.choices)
    return _expect(value.lower() in entry.choices, value.lower(), wanted)


def _expect(right: bool, value: Any, wanted: str) -> Any:
    if not right:
        raise ValueError(wanted)
    return value


def _number(entry: Key, value: Any) -> Any:
    """The number as it is written: what counts has no fraction to show."""
    wanted = f"a {bounds(entry)}"
    _expect(isinstance(value, int | float) and not isinstance(value, bool), 0, wanted)
    assert entry.low is not None and entry.below is not None
    _expect(entry.low <= value < entry.below, value, wanted)
    if entry.kind is not int:
        return value
    return int(_expect(value == int(value), value, wanted))


def bounds(entry: Key) -> str:
    """What a number may be, in words."""
    assert entry.low is not None and entry.below is not None
    if entry.kind is int:
        return f"whole number from {entry.low:.0f} to {entry.below - 1:.0f}"
    return f"number from {entry.low:.10g} to below {entry.below:.10g}"


def _patterns(value: Any) -> tuple[str, ...]:
    wanted = "a list of regular expressions"
    right = isinstance(value, list) and all(isinstance(item, str) for item in value)
    try:
        for pattern in _expect(right, value, wanted):
            re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{wanted} ({error.pattern!r}: {error.msg})") from error
    return tuple(value)


def _names(value: Any) -> Mapping[str, str]:
    right = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return MappingProxyType(_expect(right, value, "a table of names"))

"""What a client asks, as the resident sees it, and whether it may serve that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from icm_site import __version__, conf
from icm_site.conf import Config
from icm_site.conf_keys import KEYS
from icm_site.errors import IcmError
from icm_site.resident import client, wire

# They hold for the whole process; a client for whom one is different serves itself.
PROCESS_VARIABLES = (
    *("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
    *("APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP", "TZ"),
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request: `kind` is command, hook, mcp, status or stop."""

    protocol: int
    version: str
    root: str
    kind: str
    cwd: str
    columns: int
    out_is_terminal: bool
    err_is_terminal: bool
    flags: Mapping[str, str | bool]
    arguments: list[str]
    env: Mapping[str, str]
    body: bytes


class NewerClient(Exception):
    """The client is of a newer version than this process, which therefore leaves."""


class Declined(Exception):
    """The client is to do it itself; the reason is for the log."""


def parse(payload: bytes) -> Request:
    """Read a request. Raises Declined, NewerClient for one of another version."""
    parts = wire.unpack(payload)
    protocol, version = int(parts[0]), wire.decode(parts[1])
    _same_version(protocol, version)
    *head, flags, arguments, env, body = parts
    _, _, root, kind, cwd, terminal = map(wire.decode, head)
    columns, _, ends = terminal.partition(":")
    return Request(
        protocol=protocol,
        version=version,
        root=root,
        kind=kind,
        cwd=cwd,
        columns=int(columns or 80),
        out_is_terminal="o" in ends,
        err_is_terminal="e" in ends,
        flags={name: _flag(name, value) for name, value in _pairs(flags).items()},
        arguments=[wire.decode(part) for part in wire.unpack(arguments)],
        env=_pairs(env),
        body=body,
    )


def _pairs(packed: bytes) -> dict[str, str]:
    texts = (wire.decode(part).partition("=") for part in wire.unpack(packed))
    return {name: value for name, _, value in texts}


def _flag(name: str, value: str) -> str | bool:
    return value == "1" if KEYS[name].kind is bool else value


def _same_version(protocol: int, version: str) -> None:
    theirs, ours = (protocol, _number(version)), (wire.PROTOCOL, _number(__version__))
    if theirs > ours:
        raise NewerClient(f"{version} asks {__version__}")
    if theirs < ours:
        raise Declined(f"an older client ({version})")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def configured(request: Request, process: Config) -> Config:
    """The configuration of a request. Raises Declined where this process is not right.

    `process` is the configuration that this process was started with.
    """
    if request.root != client.ROOT:
        raise Declined("another installation")
    for name in PROCESS_VARIABLES:
        if request.env.get(name) != os.environ.get(name):
            raise Declined(f"{name} is different")
    try:
        config = conf.load(request.env, request.cwd, flags=request.flags)
    except IcmError as error:  # the client will say it itself
        raise Declined(error.message) from error
    if not config.resident.enabled:
        raise Declined("switched off")
    if config.read_only != process.read_only or config.log_level != process.log_level:
        raise Declined("read_only or log level is different")
    if not _same_file(config.database_path, process.database_path):
        raise Declined("another database")
    return config


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one == other or one.samefile(other)
    except OSError:
        return False

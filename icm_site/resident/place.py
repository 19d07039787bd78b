"""Where a database's resident is to be found: the address file beside the database."""

from __future__ import annotations

import os
import time

from icm_site import folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Flags = Mapping[str, str | bool]

ADDRESS_SUFFIX = ".resident"
LOCK_SUFFIX = ".resident.lock"
SWITCH = "ICM_RESIDENT"

# States of an address file; the fields after them are in `Address`.
READY, STARTING, FAILED = "ready", "starting", "failed"

# A start that takes longer than this has failed without a word.
START_SECONDS = 20.0
# After a failed start the next try waits twice as long each time, up to ten minutes.
RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 600.0


def wanted(env: Mapping[str, str]) -> bool:
    """Whether the variable lets a resident be used: anything but 0."""
    return env.get(SWITCH, "") != "0"


def database(env: Mapping[str, str], cwd: str, flags: Flags) -> str:
    """The database whose resident is to be asked; "" where none is to be.

    Without the configuration being read, if its files cannot matter.
    """
    named = flags.get("store.path") or env.get("ICM_DB", "")
    if _config_matters(env) or (not named and _repository_matters(env, cwd)):
        return _from_configuration(env, cwd, flags)
    if not isinstance(named, str) or "\0" in named or named.startswith("~"):
        return _from_configuration(env, cwd, flags)
    if named:
        return os.path.abspath(os.path.join(cwd, named))
    folder = folders.data(env)
    return folder and os.path.join(folder, folders.DATABASE)


def is_plain(env: Mapping[str, str], cwd: str) -> bool:
    """Whether there is no configuration but that of the variables."""
    file = _config_file(env)
    return not os.path.exists(file) and not _repository_matters(env, cwd)


def _config_file(env: Mapping[str, str]) -> str:
    return env.get("ICM_CONFIG", "") or _below(folders.config(env), "config.toml")


def _config_matters(env: Mapping[str, str]) -> bool:
    """Whether the user's file may name another database, or speaks of the resident."""
    try:
        with open(_config_file(env), "rb") as stream:
            text = stream.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return b"store" in text or b"resident" in text or b"\\" in text


def _repository_matters(env: Mapping[str, str], cwd: str) -> bool:
    """Whether a folder above may hold settings or a database that a person trusted.

    Those of a linked tree may lie in the main one.
    """
    if not os.path.exists(_below(folders.data(env), folders.TRUST_LIST)):
        return False
    folder = os.path.realpath(cwd)
    while True:
        if os.path.isdir(os.path.join(folder, folders.REPOSITORY_FOLDER)):
            return True
        if os.path.isfile(os.path.join(folder, ".git")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _below(folder: str, name: str) -> str:
    return folder and os.path.join(folder, name)


def _from_configuration(env: Mapping[str, str], cwd: str, flags: Flags) -> str:
    from icm_site import conf
    from icm_site.errors import IcmError

    try:
        config = conf.load(env, cwd, flags=flags)
    except IcmError:  # whoever does the work will say so
        return ""
    return str(config.database_path) if config.resident.enabled else ""


class Address:
    """What an address file says.

    `way` is unix or tcp, `where` the socket's path or the port; `since` and `tries`
    belong to a start.
    """

    __slots__ = ("pid", "since", "state", "token", "tries", "way", "where")

    def __init__(
        self,
        state: str,
        *,
        pid: int = 0,
        way: str = "",
        where: str = "",
        token: str = "",
        since: float = 0.0,
        tries: int = 0,
    ) -> None:
        self.state, self.pid, self.way, self.where = state, pid, way, where
        self.token, self.since, self.tries = token, since, tries

    def text(self) -> str:
        """The content of the file."""
        fields = (self.state, self.pid, self.way, self.where, self.token)
        return "\n".join(map(str, (*fields, self.since, self.tries))) + "\n"


def read(database: str) -> Address | None:
    """What the database's address file says; None where there is none to trust."""
    try:
        with open(database + ADDRESS_SUFFIX, encoding="utf-8") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            lines = file.read().split("\n")
        state, pid, way, where, token, since, tries = lines[:7]
        return Address(
            state,
            pid=int(pid),
            way=way,
            where=where,
            token=token,
            since=float(since),
            tries=int(tries),
        )
    except (OSError, ValueError):
        return None


def may_start(known: Address | None) -> bool:
    """Whether a client that found no resident should start one now."""
    if known is None or known.state == READY:
        return True
    age = time.time() - known.since
    if known.state == STARTING:
        return not 0 <= age < START_SECONDS
    wait = min(RETRY_SECONDS * 2.0 ** min(known.tries, 16), MAX_RETRY_SECONDS)
    return not 0 <= age < wait

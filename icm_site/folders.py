"""Where our folders lie on each system, as plain texts: for clients that start fast.

Nothing is imported that a bare interpreter has not loaded; `paths` gives the same as
Path objects, with an error where there is no home.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "icm-memory"
DATABASE = "icm.sqlite3"
REPOSITORY_FOLDER = ".icm"
TRUST_LIST = "trusted.json"


def home(env: Mapping[str, str], system: str = sys.platform) -> str:
    """The home folder, from the user database when HOME is missing; "" for none."""
    named = env.get("USERPROFILE" if system == "win32" else "HOME", "")
    if os.path.isabs(named):
        return named
    return "" if system == "win32" else _home_of_user()


def data(env: Mapping[str, str], system: str = sys.platform) -> str:
    """The folder of the database; "" without a home."""
    if system == "win32":
        return _root(env, "LOCALAPPDATA", "AppData/Local", system)
    if system == "darwin":
        return _below(home(env, system), "Library/Application Support")
    return _root(env, "XDG_DATA_HOME", ".local/share", system)


def config(env: Mapping[str, str], system: str = sys.platform) -> str:
    """The folder of `config.toml`; "" without a home."""
    if system == "win32":
        return _root(env, "APPDATA", "AppData/Roaming", system)
    if system == "darwin":
        return data(env, system)
    return _root(env, "XDG_CONFIG_HOME", ".config", system)


def cache(env: Mapping[str, str], system: str = sys.platform) -> str:
    """The folder of what can be made again; "" without a home."""
    if system == "win32":
        folder = data(env, system)
        return folder and os.path.join(folder, "cache")
    if system == "darwin":
        return _below(home(env, system), "Library/Caches")
    return _root(env, "XDG_CACHE_HOME", ".cache", system)


def runtime(env: Mapping[str, str], system: str = sys.platform) -> str:
    """A short folder for sockets: the session's own, else one per user."""
    if system == "win32":
        folder = data(env, system)
        return folder and os.path.join(folder, "run")
    session = env.get("XDG_RUNTIME_DIR", "")
    if system != "darwin" and os.path.isabs(session) and os.access(session, os.W_OK):
        return os.path.join(session, FOLDER)
    # macOS gives each user a temporary folder; elsewhere the name tells users apart.
    named = env.get("TMPDIR", "")
    return per_user(named if os.path.isabs(named) else "/tmp")


def per_user(shared: str) -> str:
    """The folder of this user below one that others may write to."""
    return os.path.join(shared, f"{FOLDER}-{os.getuid()}")


def _root(env: Mapping[str, str], name: str, below_home: str, system: str) -> str:
    # A relative value is to be ignored (XDG Base Directory Specification).
    named = env.get(name, "")
    if os.path.isabs(named):
        return os.path.join(named, FOLDER)
    return _below(home(env, system), below_home)


def _below(home_folder: str, place: str) -> str:
    return home_folder and os.path.join(home_folder, place, FOLDER)


def _home_of_user() -> str:
    import pwd

    try:
        named = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""
    return named if os.path.isabs(named) else ""

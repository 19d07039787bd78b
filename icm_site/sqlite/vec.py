"""Makes the vec0 extension available to connections, in the first way that works."""

import importlib.util
import sqlite3
import sys
from functools import cache
from pathlib import Path
from typing import Any, Literal

Way = Literal["native", "ctypes", "none"]
_SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}


@cache
def extension_path() -> str | None:
    """Return the extension without its suffix, or None if it is not installed.

    The package is not imported: that takes numpy with it, 170 ms.
    """
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(Path(spec.submodule_search_locations[0]) / "vec0")


@cache
def way() -> Way:
    """Return how vec0 gets into each connection; tried once, on a throw-away one."""
    if extension_path() is None:
        return "none"
    if hasattr(sqlite3.Connection, "enable_load_extension") and _works(native=True):
        return "native"
    # Two threads may both come here; SQLite registers the same entry once.
    return "ctypes" if _register() else "none"


def load(connection: Any) -> None:
    """Give an open connection vec0, if there is a way to."""
    if way() == "native":
        _load_native(connection)


def _load_native(connection: Any) -> None:
    connection.enable_load_extension(True)
    connection.load_extension(extension_path())
    connection.enable_load_extension(False)


def _works(*, native: bool) -> bool:
    try:
        connection = sqlite3.connect(":memory:")
    except sqlite3.Error:
        return False
    try:
        if native:
            _load_native(connection)
        return bool(connection.execute("SELECT vec_version()").fetchone())
    except (sqlite3.Error, AttributeError):
        return False
    finally:
        connection.close()


def _register() -> bool:
    """Have SQLite itself start vec0 in each connection opened from now on.

    For a Python that was built without extension loading; it reaches the library that
    Python's own module is linked to (sqlite.org/c3ref/auto_extension.html).
    """
    try:
        import _sqlite3
        import ctypes

        library = ctypes.CDLL(_sqlite3.__file__)
        suffix = _SUFFIXES.get(sys.platform, ".so")
        entry = ctypes.CDLL(f"{extension_path()}{suffix}").sqlite3_vec_init
        register, cancel = (
            library.sqlite3_auto_extension,
            library.sqlite3_cancel_auto_extension,
        )
    except (ImportError, OSError, AttributeError):
        return False
    if register(entry) == 0 and _works(native=False):
        return True
    # A failing entry would fail every connection of this process.
    cancel(entry)
    return False

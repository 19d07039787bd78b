"""The address by which SQLite opens a file."""

import os
import stat


def uri(path: str | os.PathLike[str], mode: str) -> str:
    """Return the `file:` address of a path (sqlite.org/uri.html 3.1).

    `mode` is what follows the question mark, such as `mode=ro`. Raises
    sqlite3.OperationalError for a pipe, at which SQLite would wait for ever.
    """
    text = os.path.abspath(path)  # noqa: PTH100 (a link keeps its name)
    if _is_pipe(text):
        raise _cannot_open()
    if os.name == "nt":
        text = "/" + text.replace("\\", "/").lstrip("/")
    for char in "%?#":
        text = text.replace(char, f"%{ord(char):02x}")
    return f"file://{text}?{mode}"


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 (on hooks' path)
    except (OSError, ValueError):
        return False


def _cannot_open() -> Exception:
    import _sqlite3

    error: Exception = _sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = _sqlite3.SQLITE_CANTOPEN  # type: ignore[attr-defined]
    return error

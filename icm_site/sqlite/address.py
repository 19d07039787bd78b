"""The address by which SQLite opens a file."""

import os


def uri(path: str | os.PathLike[str], mode: str) -> str:
    """Return the `file:` address of a path (sqlite.org/uri.html 3.1).

    `mode` is what follows the question mark, such as `mode=ro`.
    """
    text = os.path.abspath(path)  # noqa: PTH100 (a link keeps its name)
    if os.name == "nt":
        text = "/" + text.replace("\\", "/").lstrip("/")
    for char in "%?#":
        text = text.replace(char, f"%{ord(char):02x}")
    return f"file://{text}?{mode}"

"""JSON for clients that start fast: the C scanner without the package around it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Rules:
    """What the scanner asks of a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}


def _scan(text: str) -> tuple[Any, int]:
    # `json` imports `re`, which takes longer than a bridge's whole start.
    from _json import make_scanner

    found: tuple[Any, int] = make_scanner(_Rules)(text, 0)  # type: ignore[arg-type]
    return found


def loads(data: bytes) -> Any:
    """The value of a JSON text. Raises ValueError, RecursionError."""
    text = data.decode("utf-8", "replace").strip(" \t\r\n")
    try:
        value, end = _scan(text)
    except ImportError:
        import json

        return json.loads(text)
    except StopIteration:
        raise ValueError("no JSON value") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def quoted(text: str) -> str:
    """A text as a JSON string."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        import json

        return json.dumps(text)
    found: str = encode_basestring_ascii(text)
    return found

"""A file as text and back: encoding and byte order mark are kept."""

from __future__ import annotations

from icm_site.hosts.errors import WrongShape

_MARK = "\ufeff"


def decode(data: bytes) -> tuple[str, str]:
    """The byte order mark ("" without one) and the text; raises WrongShape."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise WrongShape("it is not UTF-8") from None
    if "\0" in text:
        raise WrongShape("it contains NUL characters")
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)


def encode(mark: str, text: str) -> bytes:
    """The bytes of a text with its mark; raises WrongShape."""
    try:
        return (mark + text).encode("utf-8")
    except UnicodeEncodeError:
        raise WrongShape("the path of this program is not UTF-8") from None

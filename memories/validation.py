"""What a memory may contain (limits in UTF-8 bytes), the same on every write path."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from icm_site.errors import InvalidInput
from memories.models import Importance

TOPIC_BYTES = 255
TEXT_BYTES = 65_536
KEYWORDS = 50
KEYWORD_BYTES = 255


# Blanks, line ends and what has no form of its own, such as a zero-width space.
UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Zs"}
BREAKING = {"Cc", "Zl", "Zp"}


def topic(value: str) -> str:
    """The topic without outer blanks. Raises InvalidInput."""
    value = one_line("topic", value)
    if not is_seen(value):
        raise InvalidInput("topic must not be empty")
    return _limited("topic", value, TOPIC_BYTES)


def one_line(name: str, value: str) -> str:
    """A value without outer blanks, if it is one line of text. Raises InvalidInput."""
    value = _encodable(name, value).strip()
    # What can be printed breaks nothing, and that is told at once.
    if not value.isprintable() and any(
        unicodedata.category(char) in BREAKING for char in value
    ):
        raise InvalidInput(f"{name} must be one line without NUL, tab or the like")
    return value


def is_seen(value: str) -> bool:
    """Whether a text has a character that can be seen."""
    return any(unicodedata.category(char) not in UNSEEN for char in value)


def summary(value: str, *, name: str = "content") -> str:
    """The text of a memory as given. Raises InvalidInput."""
    _encodable(name, value)
    if not is_seen(value):
        raise InvalidInput(f"{name} must not be empty")
    return _limited(name, _without_nul(name, value), TEXT_BYTES)


def raw_excerpt(value: str | None) -> str | None:
    """The verbatim excerpt, None if there is none. Raises InvalidInput."""
    if not value:
        return None
    _encodable("raw excerpt", value)
    return _limited("raw excerpt", _without_nul("raw excerpt", value), TEXT_BYTES)


def keywords(values: Iterable[str]) -> list[str]:
    """Keywords trimmed, empty and repeated ones dropped. Raises InvalidInput."""
    trimmed = (_encodable("keyword", value).strip() for value in values)
    unique = list(dict.fromkeys(word for word in trimmed if is_seen(word)))
    if len(unique) > KEYWORDS:
        raise InvalidInput(f"at most {KEYWORDS} keywords are kept, {len(unique)} given")
    for word in unique:
        _limited("keyword", _without_nul("keyword", word), KEYWORD_BYTES)
    return unique


def importance(value: str) -> Importance:
    """The importance by its name, without regard to case. Raises InvalidInput."""
    try:
        return Importance(value.strip().lower())
    except ValueError:
        names = ", ".join(Importance.values)
        raise InvalidInput(
            f"unknown importance {value!r}: use one of {names}"
        ) from None


def _encodable(name: str, value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} is not valid Unicode text") from None
    return value


def _without_nul(name: str, value: str) -> str:
    if "\0" in value:
        raise InvalidInput(f"{name} must not contain NUL characters")
    return value


def _limited(name: str, value: str, limit: int) -> str:
    size = len(value.encode("utf-8"))
    if size > limit:
        raise InvalidInput(f"{name} is too long: {size} bytes given, {limit} allowed")
    return value

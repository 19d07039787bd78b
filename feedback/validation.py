"""What a record may contain (limits in characters), the same on every write path."""

from __future__ import annotations

from icm_site.errors import InvalidInput
from memories import validation
from memories.cleaner import Cleaner

TEXT_CHARS = 20_000
SOURCE_CHARS = 255


def topic(value: str, clean: Cleaner) -> str:
    """The topic, as memories have it. Raises InvalidInput."""
    return validation.topic(clean(validation.topic(value)))


def text(name: str, value: str, clean: Cleaner, *, blank: bool = False) -> str:
    """One of the texts as given, secrets masked. Raises InvalidInput."""
    if not validation.is_seen(value):
        if blank:
            return ""
        raise InvalidInput(f"{name} must not be empty")
    # The size first: a text that will be refused is not worth the masking.
    _checked(name, value, TEXT_CHARS)
    return _checked(name, clean(value), TEXT_CHARS)


def source(value: str, clean: Cleaner) -> str:
    """Where a record comes from, in one line. Raises InvalidInput."""
    value = _checked("source", validation.one_line("source", value), SOURCE_CHARS)
    return _checked("source", clean(value), SOURCE_CHARS)


def _checked(name: str, value: str, limit: int) -> str:
    if "\0" in value:
        raise InvalidInput(f"{name} must not contain NUL characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} is not valid Unicode text") from None
    if len(value) > limit:
        raise InvalidInput(
            f"{name} is too long: {len(value)} characters given, {limit} allowed"
        )
    return value

"""Masks secrets in the texts of one write, and remembers what was found."""

from __future__ import annotations

from icm_site import conf
from memories import outgoing
from memories.redact import redact


class Cleaner:
    """Called with a text, gives it without its secrets, by the configured patterns."""

    def __init__(self, *, allow_secret: bool = False, reading: bool = False) -> None:
        self._allow = allow_secret
        self._reading = reading
        self._found: dict[str, None] = {}

    def __call__(self, text: str) -> str:
        if self._allow:
            if not self._reading:
                outgoing.let_through([text])
            return text
        settings = conf.current().redaction
        result = redact(text, extra=settings.extra, allow=settings.allow)
        self._found |= dict.fromkeys(result.found)
        return result.text

    @property
    def found(self) -> tuple[str, ...]:
        """The kinds of secrets that were masked so far, each once."""
        return tuple(self._found)

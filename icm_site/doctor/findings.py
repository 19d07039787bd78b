"""What an examination comes to."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["ok", "note", "wrong"]


class Finding(NamedTuple):
    """One line: what was looked at, what it is like, and what mends it."""

    level: Level
    subject: str
    text: str
    remedy: str = ""


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding("ok", subject, text)


def note(subject: str, text: str, remedy: str = "") -> Finding:
    """Worth knowing; nothing is broken."""
    return Finding("note", subject, text, remedy)


def wrong(subject: str, text: str, remedy: str = "") -> Finding:
    """Something does not work, or may lose data."""
    return Finding("wrong", subject, text, remedy)

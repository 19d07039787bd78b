"""The marks around what ICM puts into a prompt, and how to take it out of a text.

The side that injects and the side that reads transcripts use the same constants, so
that nothing which came out of the memory is stored as if it were new.
"""

from __future__ import annotations

import re

from icm_site import later

OPEN, CLOSE = "<icm-notes>", "</icm-notes>"
INTRODUCTION = "ICM, the memory shared by the AI tools on this machine,"
WAKE_UP = "# ICM Wake-up"
SNAPSHOT = "# ICM Context Snapshot"
NUDGE = "[ICM: "


def _mark(mark: str) -> str:
    """A mark as a pattern: one host escapes angle brackets (Gemini CLI's hooks)."""
    name = re.escape(mark.strip("<>"))
    return rf"(?:<|&lt;){name}(?:>|&gt;)"


_FENCED = later.pattern(rf"{_mark(OPEN)}.*?(?:{_mark(CLOSE)}|\Z)", re.DOTALL | re.I)
_INTRODUCED = later.pattern(rf"{re.escape(INTRODUCTION)}.*")
# A pack printed without fence: its header and the bullets, sections and blanks below.
_PACK = later.pattern(
    rf"^(?:# )?(?:{re.escape(WAKE_UP[2:])}|{re.escape(SNAPSHOT[2:])})\b.*\n?"
    r"(?:(?:[ \t]*|[-*>] .*|#{2,6} .*|\[[^\]\n]+\])(?:\n|\Z))*",
    re.MULTILINE,
)
_NUDGE = later.pattern(rf"{re.escape(NUDGE)}[^\]\n]*\]?")
# What `icm recall` and the tools print: a header that counts rows, rows below it.
_ROWS = later.pattern(r"^memories\[\d+\]\{[^}\n]*\}:\n?(?:^[ \t]+.*\n?)*", re.MULTILINE)
_PARTS = (_FENCED, _INTRODUCED, _PACK, _ROWS, _NUDGE)


def without_injected(text: str) -> str:
    """The text without recalled notes, packs, rows of a recall and nudges.

    Notes whose end is missing reach to the end of the text.
    """
    if "icm" not in text.lower() and "memories[" not in text:
        return text
    for pattern in _PARTS:
        text = pattern.sub("\n", text)
    return text


# Spaces and dashes that Unicode has, full-width forms and angle quotes included.
_FORGED = later.pattern(r"[<＜‹](?=\s*[/／]?\s*icm[-_‐-―\s]*notes)", re.IGNORECASE)


def unforged(text: str) -> str:
    """A text, its lines as they are, in which nothing looks like a mark of the fence.

    For answers to an agent: they end up in transcripts, where a forged mark would hide
    from capture what follows it.
    """
    return _FORGED.sub("&lt;", text)


def told(line: str, origin: str) -> str:
    """A line with who stored it; what the person stored has no such word.

    It stands behind the text, whose own end can imitate it but not take it away.
    """
    return f"{line} ({origin})" if origin not in ("", "user") else line


def harmless(text: str) -> str:
    """A stored text as one line that can neither end its fence nor act on a screen."""
    visible = "".join(c if c.isprintable() else " " for c in text)
    return _FORGED.sub("&lt;", " ".join(visible.split()))

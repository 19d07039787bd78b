"""A block of ours in a Markdown file between two comments that name it."""

from __future__ import annotations

import re

from icm_site.hosts.jsonc import newline

START, END = "<!-- icm:start -->", "<!-- icm:end -->"
_BLOCK = re.compile(rf"{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)
_WITH_BLANKS = re.compile(
    rf"(?P<before>(?:\r?\n)*){re.escape(START)}.*?{re.escape(END)}(?P<after>(?:\r?\n)?)",
    re.DOTALL,
)


def find(text: str) -> str | None:
    """The block in a text, with LF line ends; None without one."""
    found = _BLOCK.search(text)
    return found[0].replace("\r\n", "\n") if found else None


def framed(body: str) -> str:
    """A body between the two comments."""
    return f"{START}\n{body.strip()}\n{END}"


def put(text: str, body: str) -> str:
    """Replace the block, or add it behind the text after one blank line."""
    end = newline(text)
    block = framed(body).replace("\n", end)
    if _BLOCK.search(text):
        return _BLOCK.sub(lambda _: block, text, count=1)
    if not text:
        return block + end
    lead = end if text.endswith("\n") else end + end
    return text + lead + block + end


def take(text: str) -> str:
    """Remove the block and the blank line before it."""
    while found := _WITH_BLANKS.search(text):
        before = re.sub(r"\r?\n\Z", "", found["before"])
        if not found["after"] or not text[found.end() :]:
            # It was the end of the text: the line end that stood there stays.
            text = text[: found.start()] + before + text[found.end() :]
        else:
            text = text[: found.start()] + before + found["after"] + text[found.end() :]
    return text

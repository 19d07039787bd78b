"""`icm hook prompt`: what bears on what a person has asked."""

from __future__ import annotations

import re

from icm_site.hooks.notes import block
from icm_site.hooks.run import Reply, Run

# A prompt of usual size is the question as it is. What is longer mostly holds something
# pasted, and what is wanted stands before or after it.
WHOLE_CHARS, PART_CHARS = 1_500, 700


def questions(text: str) -> list[str]:
    """What a prompt asks: all of it, or its beginning and its end, each by itself."""
    if len(text) <= WHOLE_CHARS or len(text := text.strip()) <= WHOLE_CHARS:
        return [text]
    head, tail = text[: PART_CHARS + 1], text[-PART_CHARS - 1 :]
    # Not in the middle of a word, as far as the language has spaces.
    return [
        _paragraph(head, 0) or head.rsplit(None, 1)[0],
        _paragraph(tail, -1) or tail.split(None, 1)[-1],
    ]


def _paragraph(text: str, place: int) -> str:
    """The first (0) or last (-1) paragraph or line of a text, "" if none is whole."""
    for end in (r"\n\s*\n", r"\n"):
        parts = re.split(end, text)
        if len(parts) > 1 and len(parts[place].split()) > 2:
            return parts[place].strip()
    return ""


def answer(run: Run) -> Reply:
    """The memories that bear on the prompt and were not shown in this session."""
    text = run.payload.prompt
    if not text.strip():
        return Reply(note="no prompt")
    settings = run.memory.settings
    if not settings.recall_enabled:
        return Reply(note="recall.enabled is false")
    left = run.memory.tokens_left(run.payload.session)
    found = run.memory.find_any(
        questions(text), limit=settings.limit, session=run.payload.session
    )
    if not found:
        return Reply(note="nothing relevant")
    made = block(
        found, run.memory.project, max_tokens=min(settings.prompt_tokens, left)
    )
    return Reply(made, note="" if made.text else "the session's budget is spent")

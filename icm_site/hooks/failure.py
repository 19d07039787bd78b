"""`icm hook post`: after a tool; only a failure is answered, with what solved it."""

from __future__ import annotations

import re

from icm_site import later
from icm_site.hooks.notes import block
from icm_site.hooks.run import Reply, Run

TOPIC = "errors-resolved"
# A failure says much that is no cause: each telling line is asked by itself.
LINES, LINE_CHARS, LIMIT = 6, 300, 3
READ_CHARS = 16_000
_TELLING = later.pattern(
    r"error|exception|fail|fatal|panic|denied|refused|cannot|can't|could not|not found"
    r"|no such|undefined|unresolved|missing|invalid|timed? ?out|unable|conflict",
    re.IGNORECASE,
)
_OF_THE_SHELL = later.pattern(r"exit code:? -?\d+\Z", re.IGNORECASE)


def answer(run: Run) -> Reply:
    """The solved errors that resemble the failure; nothing for a tool that worked."""
    text = run.payload.error
    if not text or run.payload.fields.get("is_interrupt") is True:
        return Reply()
    settings, session = run.memory.settings, run.payload.session
    lines = telling(text)
    found = run.memory.find_any(lines, limit=LIMIT, session=session, topic=TOPIC)
    left = min(settings.prompt_tokens, run.memory.tokens_left(session))
    made = block(found, run.memory.project, max_tokens=left)
    return Reply(made, note="" if made.text else "no such error is known")


def telling(text: str) -> list[str]:
    """The lines of a failure that say what went wrong, the first and the last ones."""
    cut = (
        text
        if len(text) <= READ_CHARS
        else text[: READ_CHARS // 2] + (text[-READ_CHARS // 2 :])
    )
    lines = [line.strip()[:LINE_CHARS] for line in cut.splitlines() if line.strip()]
    lines = [line for line in lines if not _OF_THE_SHELL.match(line)]
    found = [line for line in lines if _TELLING.search(line)] or lines
    if len(found) > LINES:
        found = found[: LINES // 2] + found[-LINES // 2 :]
    return list(dict.fromkeys(found))

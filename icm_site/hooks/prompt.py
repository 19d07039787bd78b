"""`icm hook prompt`: what bears on what a person has asked."""

from __future__ import annotations

from icm_site.hooks.notes import block
from icm_site.hooks.run import Reply, Run


def answer(run: Run) -> Reply:
    """The memories that bear on the prompt and were not shown in this session."""
    text = run.payload.prompt
    if not text.strip():
        return Reply(note="no prompt")
    settings = run.memory.settings
    if not settings.recall_enabled:
        return Reply(note="recall.enabled is false")
    left = run.memory.tokens_left(run.payload.session)
    found = run.memory.find(text, limit=settings.limit, session=run.payload.session)
    if not found:
        return Reply(note="nothing relevant")
    made = block(
        found, run.memory.project, max_tokens=min(settings.prompt_tokens, left)
    )
    return Reply(made, note="" if made.text else "the session's budget is spent")

"""What MCP and the command line say of packs, snapshots and blocks."""

from __future__ import annotations

from memories import formats, injection, snapshot, standing, texts, wake_up
from memories.injection_schemas import (
    ContextResult,
    RecallContextResult,
    SectionResult,
    WakeUpResult,
)
from memories.standing import Form

EMPTY_PACK = "ICM Wake-up (empty)"
EMPTY_HINT = (
    "Nothing of importance is stored for this place yet. High and critical memories of "
    "the project that you work in, and preferences, appear here."
)
EMPTY_SNAPSHOT = "ICM Context Snapshot (empty)"
EMPTY_CONTEXT = "Nothing is stored yet about this project."


def woken_markdown(result: WakeUpResult) -> str:
    return _woken(result, "markdown")


def woken_plain(result: WakeUpResult) -> str:
    return _woken(result, "plain")


def woken_tool(result: WakeUpResult) -> str:
    return _with_miss(woken_markdown(result), result.miss)


def woken_plain_tool(result: WakeUpResult) -> str:
    return _with_miss(woken_plain(result), result.miss)


def _woken(result: WakeUpResult, form: Form) -> str:
    if not result.sections:
        return _empty(EMPTY_PACK, EMPTY_HINT, form)
    header = wake_up.titled(result.project)
    return standing.written(header, _pairs(result.sections), form)


def context_markdown(result: ContextResult) -> str:
    return _context(result, "markdown")


def context_plain(result: ContextResult) -> str:
    return _context(result, "plain")


def context_tool(result: ContextResult) -> str:
    return _with_miss(context_markdown(result), result.miss)


def _context(result: ContextResult, form: Form) -> str:
    if not result.sections:
        return _empty(EMPTY_SNAPSHOT, EMPTY_CONTEXT, form)
    text = standing.written(snapshot.TITLE, _pairs(result.sections), form)
    return f"{text}\n\n{snapshot.ADVICE}" if result.over_budget else text


def context_json(result: ContextResult) -> str:
    fields = {"sections", "total_chars", "max_chars", "over_budget", "dropped"}
    return formats.dumps(result.model_dump(include=fields))


def miss_note(result: WakeUpResult | ContextResult) -> str:
    return result.miss


def block(result: RecallContextResult) -> str:
    """The injection block; nothing where nothing was found."""
    bullets = [
        injection.Bullet(
            injection.tier(hit.topic, result.project),
            hit.summary,
            hit.weight,
            hit.origin,
        )
        for hit in result.hits
    ]
    return injection.block(bullets, project=result.project)


def block_tool(result: RecallContextResult) -> str:
    text = block(result) or " ".join([texts.NOTHING, *result.notes])
    return _with_miss(text, result.miss)


def block_note(result: RecallContextResult) -> str:
    nothing = [] if result.hits else [texts.NOTHING]
    return "\n".join(filter(None, [*nothing, *result.notes, result.miss]))


def _with_miss(text: str, miss: str) -> str:
    return f"{text}\n\n{miss}" if miss else text


def _empty(title: str, hint: str, form: Form) -> str:
    return f"{standing.SHAPES[form].heading.format(title)}\n\n{hint}"


def _pairs(sections: list[SectionResult]) -> list[tuple[str, list[str]]]:
    return [(section.title, section.lines) for section in sections]

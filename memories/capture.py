"""Facts found in what is said and done, stored: deduplicated and capped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from icm_site import conf
from icm_site.caller import Caller
from icm_site.text import cut
from memories import (
    embedding,
    extraction,
    extraction_meaning,
    links,
    pause,
    suggestions,
    tool_output,
)
from memories import store as memory_store
from memories.driver import raw_connection
from memories.extraction import Fact
from memories.models import Origin
from memories.redact import redact
from memories.sentences import prose
from memories.transcripts import Role, Turn, turns

RAW_BYTES, RAW_LEAST = 2_000, 50


@dataclass(frozen=True, kw_only=True)
class Captured:
    """What was found in a text, and what became of it.

    `stored` is of the facts, in their order; empty where nothing was to be stored.
    `raw` is the text's end, kept where no fact was found.
    """

    facts: tuple[Fact, ...] = ()
    stored: tuple[memory_store.Stored, ...] = ()
    raw: memory_store.Stored | None = None


def capture(
    said: Sequence[Turn],
    *,
    caller: Caller,
    store_raw: bool = False,
    dry_run: bool = False,
    by_meaning: bool = True,
) -> Captured:
    """Find the facts in turns and store them for the caller's project.

    Nobody looks at what an agent or a hook stores: that is never above medium.
    `store_raw` keeps the end of the text where there is no fact. `by_meaning=False`
    leaves the model out. Raises InvalidInput.
    """
    clean = [replace(turn, text=_masked(turn.text)) for turn in said]
    found = _capped(facts(clean, by_meaning=by_meaning), caller)
    if caller.origin == Origin.HOOK:
        found = tuple(fact for fact in found if not tool_output.is_passing(fact.text))
    if dry_run:
        return Captured(facts=found)
    stored = tuple(_stored(fact, caller) for fact in found)
    raw = _kept_raw(clean, caller) if store_raw and not found else None
    _complete([*stored, *([raw] if raw else [])])
    return Captured(facts=found, stored=stored, raw=raw)


def capture_unattended(
    said: Sequence[Turn],
    *,
    caller: Caller,
    store_raw: bool = True,
    by_meaning: bool = False,
) -> Captured:
    """Capture as the configuration allows it to hooks; nothing where it is off.

    Nor while hooks rest (`icm pause`). `store_raw` keeps the end of the text where
    there is no fact, if the configuration does not forbid it.
    """
    settings = conf.current().extraction
    if not settings.enabled or pause.is_paused(raw_connection(), caller.project):
        return Captured()
    return capture(
        said,
        caller=caller,
        store_raw=store_raw and settings.store_raw,
        by_meaning=by_meaning,
    )


def unattended(
    said: Sequence[Turn], *, mask: Callable[[str], str]
) -> tuple[Sequence[Turn], Sequence[Fact]]:
    """The turns without secrets, and the facts in them as hooks would store them."""
    clean = [replace(turn, text=mask(turn.text)) for turn in said]
    found = facts(clean, by_meaning=False)
    kept = (fact for fact in found if not tool_output.is_passing(fact.text))
    return clean, [replace(fact, importance="medium") for fact in kept]


def read(text: str, *, role: Role | None = None) -> list[Turn]:
    """A text as turns: those of a transcript, else one of `role` or its writer's."""
    said = turns(text) if text.lstrip()[:1] in ("{", "[") else []
    return said or [Turn(role or extraction.speaker(text), text)]


def facts(said: Sequence[Turn], *, by_meaning: bool = True) -> list[Fact]:
    """The facts in turns, by the configuration in force and the database's model."""
    settings = conf.current().extraction
    model = embedding.database_embedder() if by_meaning else None
    return extraction.extract_turns(
        said,
        min_score=settings.min_score,
        max_facts=settings.max_facts,
        meaning=extraction_meaning.meaning(model) if model else None,
    )


def _masked(text: str) -> str:
    # Before sentences are cut: a key may have many lines.
    settings = conf.current().redaction
    return redact(text, extra=settings.extra, allow=settings.allow).text


def _capped(found: Sequence[Fact], caller: Caller) -> tuple[Fact, ...]:
    if caller.origin == Origin.USER:
        return tuple(found)
    return tuple(replace(fact, importance="medium") for fact in found)


def _stored(fact: Fact, caller: Caller) -> memory_store.Stored:
    return memory_store.store(
        topic=extraction.topic_of(fact, caller.project),
        content=fact.text,
        importance=fact.importance,
        keywords=fact.keywords,
        caller=caller,
    )


def _kept_raw(said: Sequence[Turn], caller: Caller) -> memory_store.Stored | None:
    """The end of what was said, at a character's boundary; None if there is little."""
    spoken = "\n".join(prose(turn.text).strip() for turn in said if turn.role != "tool")
    text = spoken.strip()
    if len(text.encode("utf-8", "replace")) < RAW_LEAST:
        return None
    return memory_store.store(
        topic=f"context-{caller.project}" if caller.project else "context",
        content=_end(text),
        importance="low",
        keywords=("kind:raw",),
        caller=caller,
        dedup=False,
    )


def _end(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return cut(encoded[-RAW_BYTES:].decode("utf-8", "ignore"), RAW_BYTES).strip()


def _complete(stored: Sequence[memory_store.Stored]) -> None:
    """Vectors, links and suggestions, as for every other memory."""
    embedding.embed_missing([done.memory for done in stored])
    for done in stored:
        if done.created:
            links.link_to_nearest(done.memory)
            suggestions.keep_close(done)

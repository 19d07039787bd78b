"""What happens where a text meets memories that are there: same, close, replaced."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from icm_site.errors import Conflict
from memories import history, statements, validation
from memories.models import Importance, Memory, MemoryUsage, State

if TYPE_CHECKING:
    from memories.dedup import Verdict

# How many close memories of a topic are judged.
CLOSE = 5


@dataclass(frozen=True, kw_only=True)
class Close:
    """A live memory of the topic that the stored text may update or contradict."""

    memory: Memory
    verdict: Verdict


def same_text(summary_hash: str) -> Memory | None:
    """The live memory that holds the text, or into which it was merged."""
    key = statements.same_text(summary_hash)
    return None if key is None else Memory.objects.with_usage().get(pk=key)


def close_to(memory: Memory) -> list[Close]:
    """Live memories of the topic that are the same or may be meant, best first."""
    # Its library takes longer to import than a recall needs.
    from memories import dedup

    texts = dict(statements.texts_of_topic(memory.topic_key))
    near = dedup.candidates(memory.summary, list(texts.items()), limit=CLOSE)
    verdicts = {
        key: dedup.judge(memory.summary, texts[key], cosine=None) for key, _ in near
    }
    wanted = [key for key, _ in near if verdicts[key].kind != "different"]
    if not wanted:
        return []
    found = Memory.objects.with_usage().in_bulk(wanted)
    return [Close(memory=found[key], verdict=verdicts[key]) for key in wanted]


def refresh(kept: Memory, given: Memory, *, log: history.Log, now: datetime) -> None:
    """Take over what a repeated store adds: importance, keywords, raw excerpt."""
    before = (kept.importance, list(kept.keywords), kept.raw_excerpt)
    snapshot = history.snapshot(kept)
    unite(kept, given)
    if (kept.importance, kept.keywords, kept.raw_excerpt) == before:
        return
    log.kept(kept, snapshot)
    history.save(kept, log=log, now=now)


def merge(
    kept: Memory, given: Memory, likeness: float, *, log: history.Log, now: datetime
) -> None:
    """Take a text that says the same into a memory: one stays, the other is kept.

    The richer text stays. Importance never falls, keywords are united, the weight goes
    back to 1.0; both hashes are known from now on.
    """
    from memories import dedup

    log.keep(kept)
    before, hashes = kept.summary_hash, history.snapshot(kept)["hashes"]
    if dedup.richer(given.summary, kept.summary) == given.summary:
        kept.summary = given.summary
    else:
        log.given[kept.pk] = {
            "summary": given.summary,
            "raw_excerpt": given.raw_excerpt,
            "likeness": round(likeness, 4),
        }
    unite(kept, given)
    kept.derive()
    known = {*hashes, before, given.summary_hash} - {kept.summary_hash}
    history.set_hashes(kept, sorted(known))
    history.save(kept, log=log, now=now)
    MemoryUsage.objects.filter(pk=kept.pk).update(weight=1.0, decayed_at=now)


def supersede(old: Memory, *, by: Memory, log: history.Log, now: datetime) -> None:
    """Hide a memory behind the one that replaces it. Raises Conflict."""
    if old.pk == by.pk:
        raise Conflict(f"memory {old.ulid} cannot replace itself")
    if not old.is_live:
        raise Conflict(f"memory {old.ulid} is {old.state}, only a live one is replaced")
    log.keep(old)
    old.state = State.SUPERSEDED
    old.superseded_by = by
    history.save(old, log=log, now=now)


def unite(kept: Memory, given: Memory) -> None:
    """Importance, keywords and excerpt of two memories in one, not saved yet."""
    kept.importance = max(
        Importance(kept.importance),
        Importance(given.importance),
        key=lambda level: level.rank,
    )
    words = dict.fromkeys([*kept.keywords, *given.keywords])
    kept.keywords = list(words)[: validation.KEYWORDS]
    kept.raw_excerpt = given.raw_excerpt or kept.raw_excerpt

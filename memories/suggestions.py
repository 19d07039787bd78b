"""Suggestions: pairs of memories to look at, decided by a person or an agent."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from icm_site.caller import Caller
from icm_site.errors import Conflict, InvalidInput, NotFound
from icm_site.ulid import is_ulid
from memories import history, links, merge
from memories.listing import LIMIT
from memories.models import Change, Memory, State, Suggestion
from memories.store import Stored

# How many nearest memories are looked at.
NEAREST = 20


def keep(
    source: Memory, target: Memory, *, kind: str, score: float, reason: str
) -> Suggestion:
    """Note that `source` may concern `target`; one row a pair and kind."""
    made, _ = Suggestion.objects.get_or_create(
        kind=kind,
        source=source,
        target=target,
        defaults={"score": score, "reason": reason},
    )
    return made


def keep_close(done: Stored) -> list[Suggestion]:
    """Note the memories that a stored text may update, by words or by meaning.

    Those of other words are found by their vectors, in the same topic.
    """
    if not done.created:
        return []
    close = {row.memory.pk: row for row in done.close}
    for row in _close_in_meaning(done.memory):
        close.setdefault(row.memory.pk, row)
    return [
        keep(
            done.memory,
            row.memory,
            kind=row.verdict.kind,
            score=row.verdict.likeness,
            reason=row.verdict.reason,
        )
        for row in list(close.values())[: merge.CLOSE]
    ]


def _close_in_meaning(memory: Memory) -> list[merge.Close]:
    from memories import dedup

    near = {key: cosine for key, cosine, _ in links.nearest(memory, depth=NEAREST)}
    rows = Memory.objects.live().filter(pk__in=near, topic_key=memory.topic_key)
    judged = [
        merge.Close(
            memory=row,
            verdict=dedup.judge(memory.summary, row.summary, cosine=near[row.pk]),
        )
        for row in rows
    ]
    return [row for row in judged if row.verdict.kind in Suggestion.Kind.values]


def listed(
    *, status: str = Suggestion.Status.OPEN, limit: int = 50
) -> list[Suggestion]:
    """Suggestions of a status, newest first; open ones only between live memories.

    Raises InvalidInput for an unknown status.
    """
    if status not in Suggestion.Status.values:
        names = ", ".join(Suggestion.Status.values)
        raise InvalidInput(f"unknown status {status!r}: use one of {names}")
    rows = Suggestion.objects.select_related("source", "target").filter(status=status)
    if status == Suggestion.Status.OPEN:
        rows = rows.filter(source__state=State.LIVE, target__state=State.LIVE)
    return list(rows[: min(max(0, limit), LIMIT)])


def find(identifier: str) -> Suggestion:
    """The suggestion of this id. Raises NotFound."""
    wanted = identifier.strip().upper()
    rows = Suggestion.objects.select_related("source", "target")
    found = rows.filter(ulid=wanted).first() if is_ulid(wanted) else None
    if found is None:
        raise NotFound(f"suggestion not found: {identifier.strip()[:64] or '(empty)'}")
    return found


def accept(
    identifier: str, *, caller: Caller, now: datetime
) -> tuple[Suggestion, Change]:
    """Let the newer memory of the pair take the older one's place, as one change.

    Raises NotFound, and Conflict where it was decided before or a memory is hidden.
    """
    with history.change("accept_suggestion", caller=caller, now=now) as log:
        suggestion = _open(identifier)
        source = history.find_memory(suggestion.source.ulid)
        if not source.is_live:
            raise Conflict(f"memory {source.ulid} is {source.state}, not live")
        merge.supersede(suggestion.target, by=source, log=log, now=now)
        _decide(suggestion, Suggestion.Status.ACCEPTED)
    return suggestion, log.change


def dismiss(identifier: str) -> Suggestion:
    """Leave both memories as they are. Raises NotFound, Conflict."""
    with transaction.atomic():
        suggestion = _open(identifier)
        _decide(suggestion, Suggestion.Status.DISMISSED)
    return suggestion


def reopen(identifier: str) -> Suggestion:
    """Take a dismissal back. Raises NotFound, Conflict for one that is none."""
    with transaction.atomic():
        suggestion = find(identifier)
        if suggestion.status != Suggestion.Status.DISMISSED:
            raise Conflict(f"suggestion {suggestion.ulid} is not dismissed")
        _decide(suggestion, Suggestion.Status.OPEN)
    return suggestion


def _open(identifier: str) -> Suggestion:
    suggestion = find(identifier)
    if suggestion.status != Suggestion.Status.OPEN:
        raise Conflict(f"suggestion {suggestion.ulid} was {suggestion.status} before")
    return suggestion


def _decide(suggestion: Suggestion, status: Suggestion.Status) -> None:
    suggestion.status = status
    suggestion.save(update_fields=["status"])

"""What feedback says of memories: which one misled, which ones helped."""

from __future__ import annotations

import hashlib
from datetime import datetime

from django.db import transaction

from feedback.models import Feedback
from icm_site.caller import Caller
from icm_site.errors import Conflict
from memories import history, marking
from memories.models import Memory


def misled(record: Feedback) -> None:
    """Mark the memory that a record names as wrong, with the record's correction."""
    if record.memory is not None:
        marking.mark(
            record.memory,
            helpful=False,
            correction=record.correction,
            reference=record.ulid,
            now=record.created_at,
        )


def used(record: Feedback, *, now: datetime) -> None:
    """Mark the correction of a record as helpful, once however often it is used."""
    if record.correction is not None and record.correction.is_live:
        marking.mark(record.correction, helpful=True, reference=record.ulid, now=now)


def withdraw(record: Feedback) -> int:
    """Take the marks of a record back; returns how many there were."""
    return marking.unmark(record.ulid)


def helped(
    identifier: str, *, caller: Caller, now: datetime, undo: bool = False
) -> tuple[Memory, bool]:
    """Mark a memory as helpful, or take that back; one mark for an agent's session.

    Returns the memory and whether anything changed. Raises NotFound, and Conflict
    for a memory that is hidden.
    """
    reference = _voice(caller)
    with transaction.atomic():
        if undo:
            memory = history.find_memory(identifier)
            return memory, bool(marking.unmark(reference, memory=memory))
        memory = live(identifier)
        made = marking.mark(memory, helpful=True, reference=reference, now=now)
    return memory, made


def live(identifier: str) -> Memory:
    """The memory of this id, if it is in sight. Raises NotFound, Conflict."""
    memory = history.find_memory(identifier)
    if not memory.is_live:
        raise Conflict(f"memory {memory.ulid} is {memory.state}, not live")
    return memory


def _voice(caller: Caller) -> str:
    """Who speaks: one session of an agent, or the people of this machine."""
    if not caller.agent_session:
        return "person" if caller.origin == "user" else caller.host[:26] or "agent"
    digest = hashlib.sha256(caller.agent_session.encode("utf-8", "replace"))
    return f"session:{digest.hexdigest()[:18]}"

"""How marks are written: by feedback alone, one for each memory and reference."""

from __future__ import annotations

from datetime import datetime

from icm_site.errors import Conflict
from memories import marks
from memories.models import Memory, MemoryMark


def mark(
    memory: Memory,
    *,
    helpful: bool,
    reference: str,
    now: datetime,
    correction: Memory | None = None,
) -> bool:
    """Note what a record or a session (`reference`) said of a memory.

    Returns False where the same was said of this text before. Called inside the
    transaction of the record. Raises Conflict where a memory would correct itself.
    """
    if correction is not None and correction.pk == memory.pk:
        raise Conflict(f"memory {memory.ulid} cannot be its own correction")
    _, made = MemoryMark.objects.get_or_create(
        memory=memory,
        helpful=helpful,
        reference=reference,
        text_hash=marks.text_hash(memory.summary),
        defaults={"correction": correction, "created_at": now},
    )
    return made


def unmark(reference: str, *, memory: Memory | None = None) -> int:
    """Take back what a reference said, of all memories or of one; returns how many."""
    rows = MemoryMark.objects.filter(reference=reference)
    if memory is not None:
        rows = rows.filter(memory=memory)
    return rows.delete()[0]

"""Bookkeeping rows of memories that have none, as after the repair of a file."""

from __future__ import annotations

from memories.models import Memory, MemoryUsage


def complete() -> int:
    """Give each memory without bookkeeping a new row; returns how many."""
    lacking = Memory.objects.filter(usage=None).only("id", "importance", "updated_at")
    made = [
        MemoryUsage(
            memory=memory,
            importance=memory.importance,
            last_accessed=memory.updated_at,
            decayed_at=memory.updated_at,
        )
        for memory in lacking
    ]
    MemoryUsage.objects.bulk_create(made, batch_size=500)
    return len(made)

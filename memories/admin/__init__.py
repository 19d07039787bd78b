"""The admin pages of memories: people read and curate what agents believe."""

from memories.admin import memory, rows

__all__ = ["memory", "rows"]

"""The admin pages of memoirs: lists, forms, and the graph to edit in place."""

from memoirs.admin import rows

__all__ = ["rows"]

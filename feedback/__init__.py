"""Feedback: predictions that were wrong, and what would have been right."""

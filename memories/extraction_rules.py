"""Kinds of facts, and the table of signals that speak for and against a sentence.

Points are those of the published rules where those give any; the rest is measured
(docs/extraction.md). The words are of English, German, Spanish, French, Italian,
Portuguese, Russian, Chinese, Japanese, Korean and Hindi.
"""

from __future__ import annotations

from memories.extraction_support import NEEDS, SUPPORT
from memories.extraction_words import KIND_SIGNALS

# Kinds in the order in which they win where two have equal points.
KINDS = (
    *("decision", "preference", "commitment", "fix", "constraint", "learning"),
    *("opinion", "algorithm", "milestone", "configuration", "architecture"),
    *("development", "error", "fact"),
)
HIGH = frozenset(
    {"decision", "fix", "preference", "learning", "constraint", "algorithm"}
)
# Kinds that are of persons: what an agent says of a program is none.
OF_PERSONS = frozenset({"preference", "commitment", "opinion"})
TOPICS = {
    "decision": "decisions",
    "fix": "errors-resolved",
    "preference": "preferences",
}
SIGNALS = (*KIND_SIGNALS, *SUPPORT)
NEEDS_BEFORE = next(signal for signal in SIGNALS if signal.name == NEEDS)

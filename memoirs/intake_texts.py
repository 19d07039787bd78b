"""What is said of concepts made of memories and of projects."""

from __future__ import annotations

from memoirs.intake_schemas import DistillResult, LearnResult, PatternsResult
from memories.formats import plain


def distilled(result: DistillResult) -> str:
    line = (
        f"Distilled {result.memories} memories from '{plain(result.topic)}' into "
        f"'{plain(result.memoir)}': {len(result.created)} concepts added, "
        f"{len(result.refined)} refined, {result.unchanged} there before."
    )
    if not result.skipped:
        return line
    return f"{line}\nNo room in their concept for: {', '.join(result.skipped)}"


def patterns(result: PatternsResult) -> str:
    topic = plain(result.topic)
    if not result.patterns:
        return f"No patterns found in topic '{topic}' ({result.memories} memories)."
    count = len(result.patterns)
    noun = "pattern" if count == 1 else "patterns"
    lines = [f"Found {count} {noun} in topic '{topic}':"]
    for pattern in result.patterns:
        words = plain(", ".join(pattern.keywords))
        lines.append(f"  [{pattern.count} memories] {words}: {plain(pattern.summary)}")
        if pattern.concept:
            lines.append(f"    concept: {plain(pattern.concept)}")
    if result.memoir:
        lines.append(f"Kept in memoir '{plain(result.memoir)}'.")
    return "\n".join(lines)


def learned(result: LearnResult) -> str:
    line = (
        f"Learned {plain(result.name)}: {result.concepts} concepts, "
        f"{result.links} links (memoir: {result.id})"
    )
    counts = [
        (result.added, "added"),
        (result.updated, "updated"),
        (result.removed, "removed"),
        (result.kept, "left as others wrote them"),
    ]
    changes = ", ".join(f"{count} {what}" for count, what in counts if count)
    return f"{line}\nConcepts: {changes or 'nothing new'}"

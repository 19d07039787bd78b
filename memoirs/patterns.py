"""Recurring patterns of a topic: memories that share most of their keywords."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.text import cut, normalise
from memoirs import lookup, validation, write
from memoirs.distill import keyword_labels, one_line
from memoirs.models import Concept, Memoir
from memories.cleaner import Cleaner
from memories.models import Memory

MEMORIES = 500
SAME = 0.5
NAME_KEYWORDS = 3
LABEL_KEYWORDS = 5
NAMESPACE = "pattern"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Memories that share most of their keywords, the heaviest first."""

    memories: tuple[Memory, ...]

    @property
    def keywords(self) -> list[str]:
        """The keywords of all its memories, the most common first."""
        counts = Counter(word for m in self.memories for word in keyword_set(m))
        return sorted(counts, key=lambda word: (-counts[word], word))

    @property
    def summary(self) -> str:
        return self.memories[0].summary

    @property
    def confidence(self) -> float:
        return round(min(0.9, 0.5 + 0.05 * len(self.memories)), 4)

    @property
    def definition(self) -> str:
        count = f" ({len(self.memories)} memories)"
        return cut(self.summary, validation.TEXT_BYTES - len(count)) + count


@dataclass(frozen=True, kw_only=True)
class Found:
    """Clusters with the name of the concept that each became, if a memoir was given."""

    memoir: Memoir | None
    memories: int
    patterns: list[tuple[Cluster, str | None]]


def extract(
    topic: str,
    *,
    least: int,
    caller: Caller,
    memoir: str | None = None,
    now: datetime | None = None,
) -> Found:
    """Find the patterns of a topic's 500 heaviest memories; keep them in a memoir.

    Raises NotFound for an unknown memoir.
    """
    parent = None if memoir is None else lookup.memoir(memoir)
    rows = Memory.objects.live().in_topic(topic).with_usage()
    memories = list(rows.order_by("-usage__weight", "-id")[:MEMORIES])
    found = clusters(memories, least=least)
    names: list[str | None] = [None] * len(found)
    if parent is not None:
        with transaction.atomic():
            moment = now or timezone.now()
            known = {concept.name: concept for concept in parent.concepts.all()}
            taken: set[str] = set()
            for place, cluster in enumerate(found):
                name = _free_name(cluster, known, taken)
                _keep(cluster, name, parent, known.get(name), caller, moment)
                taken.add(name)
                names[place] = name
    return Found(
        memoir=parent,
        memories=len(memories),
        patterns=list(zip(found, names, strict=True)),
    )


def keyword_set(memory: Memory) -> frozenset[str]:
    """The keywords of a memory without regard to case."""
    return frozenset(one_line(normalise(word)) for word in memory.keywords)


def clusters(memories: Sequence[Memory], *, least: int) -> list[Cluster]:
    """Groups of at least `least` memories, the largest first.

    A memory joins the first group whose first member has keywords with a Jaccard
    index above 0.5. Memories without keywords belong to none.
    """
    groups: list[tuple[frozenset[str], list[Memory]]] = []
    for memory in memories:
        words = keyword_set(memory)
        if not words:
            continue
        near = [rows for seed, rows in groups if _jaccard(seed, words) > SAME]
        if near:
            near[0].append(memory)
        else:
            groups.append((words, [memory]))
    found = [Cluster(memories=tuple(rows)) for _, rows in groups if len(rows) >= least]
    return sorted(found, key=lambda cluster: -len(cluster.memories))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _free_name(cluster: Cluster, known: dict[str, Concept], taken: set[str]) -> str:
    """First keywords joined; never a concept that is no pattern, never one twice."""
    joined = "-".join(cluster.keywords[:NAME_KEYWORDS])
    base = cut(joined, validation.NAME_BYTES - 16)
    name, number = base, 1
    while name in taken or (name in known and not _is_pattern(known[name])):
        number += 1
        name = f"{base}-{number}"
    return name


def _is_pattern(concept: Concept) -> bool:
    return any(label.startswith(f"{NAMESPACE}:") for label in concept.labels)


def _keep(
    cluster: Cluster,
    name: str,
    memoir: Memoir,
    concept: Concept | None,
    caller: Caller,
    now: datetime,
) -> None:
    clean = Cleaner()
    labels = keyword_labels(NAMESPACE, cluster.keywords[:LABEL_KEYWORDS])
    ids = [memory.ulid for memory in cluster.memories]
    if concept is None:
        write.insert_concept(
            memoir,
            name=name,
            definition=cluster.definition,
            labels=labels,
            sources=ids,
            confidence=cluster.confidence,
            origin=caller.origin,
            clean=clean,
            now=now,
        )
        return
    changed: dict[str, Any] = {
        "definition": validation.text("definition", cluster.definition, clean),
        "source_memory_ids": write.united(concept, ids),
        "confidence": max(concept.confidence, cluster.confidence),
    }
    if any(getattr(concept, field) != value for field, value in changed.items()):
        concept.memoir = memoir
        changed["revision"] = concept.revision + 1
        write.revise(concept, operation="patterns", caller=caller, now=now, **changed)

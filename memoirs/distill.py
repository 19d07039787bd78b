"""Memories of a topic as concepts of a memoir, one each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import NotFound
from icm_site.text import cut, flatten
from memoirs import lookup, validation, write
from memoirs.models import Concept, Memoir
from memories.cleaner import Cleaner
from memories.models import Memory

BETWEEN = "\n---\n"
ID_CHARS = 8


@dataclass(kw_only=True)
class Distilled:
    """What distilling did; names of concepts, and ids of memories without room."""

    memoir: Memoir
    memories: int
    created: list[str] = field(default_factory=list)
    refined: list[str] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[str] = field(default_factory=list)


def distill(
    topic: str, *, into: str, caller: Caller, now: datetime | None = None
) -> Distilled:
    """Make each live memory of a topic a concept named by its first keyword.

    A concept of that name gets the text below its own, once. Distilling again adds
    only what is new. Raises NotFound for an unknown memoir and an empty topic.
    """
    now = now or timezone.now()
    with transaction.atomic():
        memoir = lookup.memoir(into)
        rows = list(Memory.objects.live().in_topic(topic).order_by("id"))
        if not rows:
            raise NotFound(f"no memories in topic: {flatten(topic.strip())[:64]}")
        done = Distilled(memoir=memoir, memories=len(rows))
        known = {concept.name: concept for concept in memoir.concepts.all()}
        for memory in rows:
            _distill(memory, known, done, caller=caller, now=now)
    return done


def _distill(
    memory: Memory,
    known: dict[str, Concept],
    done: Distilled,
    *,
    caller: Caller,
    now: datetime,
) -> None:
    clean = Cleaner()
    name = validation.name("name", _name(memory, known), clean)
    concept = known.get(name)
    if concept is None:
        known[name] = write.insert_concept(
            done.memoir,
            name=name,
            definition=cut(memory.summary, validation.TEXT_BYTES),
            labels=keyword_labels("tag", memory.keywords),
            sources=[memory.ulid],
            origin=caller.origin,
            clean=clean,
            now=now,
        )
        done.created.append(name)
    elif memory.ulid in concept.source_memory_ids:
        done.unchanged += 1
    else:
        _append(memory, concept, done, caller=caller, now=now)


def _append(
    memory: Memory, concept: Concept, done: Distilled, *, caller: Caller, now: datetime
) -> None:
    definition = f"{concept.definition}{BETWEEN}{memory.summary}"
    if len(definition.encode()) > validation.TEXT_BYTES:
        done.skipped.append(memory.ulid)
        return
    definition = validation.text("definition", definition, Cleaner())
    concept.memoir = done.memoir
    write.revise(
        concept,
        operation="distill",
        caller=caller,
        now=now,
        **write.refined(concept, definition),
        source_memory_ids=write.united(concept, [memory.ulid]),
    )
    done.refined.append(concept.name)


def _name(memory: Memory, known: dict[str, Concept]) -> str:
    """The first keyword, else topic and id; ids of one second begin alike."""
    if memory.keywords:
        return one_line(memory.keywords[0])
    topic = cut(memory.topic, validation.NAME_BYTES - len(memory.ulid) - 1)
    short = f"{topic}-{memory.ulid[:ID_CHARS]}"
    taken = known.get(short)
    if taken is None or memory.ulid in taken.source_memory_ids:
        return short
    return f"{topic}-{memory.ulid}"


def keyword_labels(namespace: str, keywords: Iterable[str]) -> list[str]:
    """A label for each keyword."""
    labels = (f"{namespace}:{one_line(keyword)}" for keyword in keywords)
    return [cut(label, validation.NAME_BYTES) for label in labels]


def one_line(keyword: str) -> str:
    """A keyword as a name may be: each run of white space is one space."""
    return " ".join(keyword.split())

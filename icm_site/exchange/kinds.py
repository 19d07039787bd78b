"""What an export consists of: a table of the types of rows, in the order of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import models

from feedback.models import Feedback
from icm_site.exchange.columns import Column, choice, deep, plain, ref, text
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from memoirs.models import Origin as Writer
from memoirs.relations import Relation
from memories.models import (
    Change,
    Importance,
    Memory,
    MemoryHash,
    MemoryLink,
    MemoryMark,
    MemoryRevision,
    MemoryVector,
    Metadata,
    Origin,
    Project,
    SourceType,
    State,
    Suggestion,
)
from memories.validation import TEXT_BYTES, TOPIC_BYTES

# What the database says of itself and another one needs.
METADATA = ("embedding_dims", "embedding_model", "last_decay_at")
# What `--kind` chooses between; the database's own facts are always there.
GROUPS = ("memories", "memoirs", "feedback")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One type of row.

    `identity` are the columns that tell rows apart, `unique` those that no two rows
    may share besides. Rows with an `owner` come and go with it. What is in `passing`
    changes by use, and does not make two rows differ.
    """

    name: str
    model: type[models.Model]
    columns: tuple[Column, ...]
    group: str = ""
    identity: tuple[str, ...] = ("id",)
    unique: tuple[str, ...] = ()
    owner: str = ""
    passing: frozenset[str] = frozenset()
    order: tuple[str, ...] = ("pk",)

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def has_id(self) -> bool:
        return self.identity == ("id",)

    @property
    def references(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.refers)

    def key(self, row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
        """The values of these columns."""
        return tuple(row[name] for name in names)


_ID = plain("id", "ulid", path="ulid")
_WHO = (text("host", limit=64), text("agent_session", limit=255))

KINDS: tuple[Kind, ...] = (
    Kind(
        name="metadata",
        model=Metadata,
        columns=(
            Column(name="key", form="choice", path="key", choices=METADATA),
            plain("value", "text"),
        ),
        identity=("key",),
        passing=frozenset({"value"}),
    ),
    Kind(
        name="project",
        model=Project,
        group="memories",
        columns=(
            text("name", limit=1024),
            deep("aliases", "list"),
            text("remote"),
            deep("paths", "list"),
            plain("last_seen", "time"),
        ),
        identity=("name",),
        passing=frozenset({"last_seen"}),
        order=("name",),
    ),
    Kind(
        name="memory",
        model=Memory,
        group="memories",
        columns=(
            _ID,
            plain("created_at", "time"),
            plain("updated_at", "time"),
            text("topic", limit=TOPIC_BYTES),
            text("summary", limit=TEXT_BYTES),
            text("raw_excerpt", limit=TEXT_BYTES, null=True),
            deep("keywords", "words"),
            choice("importance", Importance),
            choice("state", State),
            ref("superseded_by", "memory", null=True, late=True),
            deep("metadata", "object"),
            choice("origin", Origin),
            choice("source_type", SourceType),
            deep("source_data", "object"),
            *_WHO,
            plain("occurred_at", "time", null=True),
            plain("weight", "number", path="usage__weight", null=True),
            plain("access_count", "whole", path="usage__access_count", null=True),
            plain("last_accessed", "time", path="usage__last_accessed", null=True),
            plain("decayed_at", "time", path="usage__decayed_at", null=True),
        ),
        passing=frozenset({"weight", "access_count", "last_accessed", "decayed_at"}),
    ),
    Kind(
        name="hash",
        model=MemoryHash,
        group="memories",
        columns=(ref("memory", "memory"), plain("hash", "text", path="summary_hash")),
        identity=("hash",),
        owner="memory",
        order=("memory_id", "summary_hash"),
    ),
    Kind(
        name="link",
        model=MemoryLink,
        group="memories",
        columns=(
            ref("source", "memory"),
            ref("target", "memory"),
            text("kind", limit=16),
            plain("score", "number"),
        ),
        identity=("source", "target", "kind"),
        passing=frozenset({"score"}),
    ),
    Kind(
        name="vector",
        model=MemoryVector,
        group="memories",
        columns=(
            ref("memory", "memory"),
            plain("piece", "whole"),
            plain("model", "text"),
            plain("vector", "floats"),
        ),
        identity=("memory", "model", "piece"),
        owner="memory",
        passing=frozenset({"vector"}),
    ),
    Kind(
        name="change",
        model=Change,
        group="memories",
        columns=(
            _ID,
            text("operation", limit=32),
            text("surface", limit=16),
            choice("origin", Origin),
            *_WHO,
            plain("at", "time"),
            ref("undoes", "change", null=True, late=True),
            plain("undone", "bool"),
        ),
        passing=frozenset({"undone"}),
    ),
    Kind(
        name="revision",
        model=MemoryRevision,
        group="memories",
        columns=(
            ref("change", "change"),
            ref("memory", "memory"),
            deep("before", "before", null=True),
            deep("given", "object", null=True),
        ),
        identity=(),
        owner="memory",
    ),
    Kind(
        name="suggestion",
        model=Suggestion,
        group="memories",
        columns=(
            _ID,
            choice("kind", Suggestion.Kind),
            ref("source", "memory"),
            ref("target", "memory"),
            plain("score", "number"),
            text("reason"),
            choice("status", Suggestion.Status),
            plain("created_at", "time"),
        ),
        unique=("kind", "source", "target"),
    ),
    Kind(
        name="mark",
        model=MemoryMark,
        group="memories",
        columns=(
            ref("memory", "memory"),
            plain("helpful", "bool"),
            plain("text_hash", "text"),
            ref("correction", "memory", null=True),
            plain("reference", "text"),
            plain("created_at", "time"),
        ),
        identity=(),
        owner="memory",
    ),
    Kind(
        name="memoir",
        model=Memoir,
        group="memoirs",
        columns=(
            _ID,
            text("name"),
            text("description"),
            plain("threshold", "whole", path="consolidation_threshold"),
            plain("created_at", "time"),
            plain("updated_at", "time"),
        ),
        unique=("name",),
    ),
    Kind(
        name="concept",
        model=Concept,
        group="memoirs",
        columns=(
            _ID,
            ref("memoir", "memoir"),
            text("name"),
            text("definition"),
            deep("labels", "words"),
            plain("confidence", "share"),
            plain("revision", "whole"),
            plain("source_memory_ids", "words"),
            choice("origin", Writer),
            plain("created_at", "time"),
            plain("updated_at", "time"),
        ),
        unique=("memoir", "name"),
    ),
    Kind(
        name="concept_link",
        model=ConceptLink,
        group="memoirs",
        columns=(
            _ID,
            ref("source", "concept"),
            ref("target", "concept"),
            choice("relation", Relation),
            plain("weight", "number"),
            choice("origin", Writer),
            plain("created_at", "time"),
        ),
        unique=("source", "target", "relation"),
    ),
    Kind(
        name="concept_revision",
        model=ConceptRevision,
        group="memoirs",
        columns=(
            ref("concept", "concept"),
            plain("revision", "whole"),
            text("name"),
            text("definition"),
            deep("labels", "words"),
            plain("confidence", "share"),
            plain("source_memory_ids", "words"),
            choice("written_by", Writer),
            plain("written_at", "time"),
            text("operation", limit=32),
            text("surface", limit=16),
            choice("origin", Writer),
            text("host", limit=64),
            plain("at", "time"),
        ),
        identity=(),
        owner="concept",
    ),
    Kind(
        name="feedback",
        model=Feedback,
        group="feedback",
        columns=(
            _ID,
            text("topic"),
            text("context"),
            text("predicted"),
            text("corrected"),
            text("reason"),
            text("source", limit=1024),
            plain("created_at", "time"),
            plain("applied_count", "whole"),
            ref("memory", "memory", null=True),
            ref("correction", "memory", null=True),
        ),
        passing=frozenset({"applied_count"}),
    ),
)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}

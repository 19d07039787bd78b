"""Tables of memoirs; logic of one row and of sets of rows."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone

from icm_site.fields import ULIDField
from icm_site.text import index_text
from memoirs.relations import Relation

START_CONFIDENCE = 0.5
THRESHOLD = 50


class MemoirQuerySet(models.QuerySet["Memoir"]):
    def with_counts(self) -> Self:
        """Each memoir with `concept_count`."""
        return self.annotate(concept_count=Count("concepts"))

    def full(self) -> Self:
        """Those with more concepts than their threshold, with `concept_count`."""
        counted = self.annotate(concept_count=Count("concepts"))
        return counted.filter(concept_count__gt=F("consolidation_threshold"))


class Memoir(models.Model):
    """A named container of concepts."""

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    name = models.TextField(unique=True)
    description = models.TextField(blank=True, default="")
    consolidation_threshold = models.PositiveIntegerField(default=THRESHOLD)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    # Only on the rows of `with_counts`.
    concept_count: int

    objects = MemoirQuerySet.as_manager()

    class Meta:
        db_table = "memoirs"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Origin(models.TextChoices):
    """Who wrote a concept or a link as it is now."""

    USER = "user"
    AGENT = "agent"
    HOOK = "hook"
    IMPORT = "import"
    LEARN = "learn"


class ConceptQuerySet(models.QuerySet["Concept"]):
    def learned(self) -> Self:
        """Concepts that `learn` made and nobody has touched since."""
        return self.filter(origin=Origin.LEARN)


class Concept(models.Model):
    """One idea of a memoir. It changes only through `memoirs.write`."""

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    memoir = models.ForeignKey(
        Memoir, on_delete=models.CASCADE, related_name="concepts"
    )
    name = models.TextField()
    definition = models.TextField()
    labels = models.JSONField(default=list, blank=True)
    confidence = models.FloatField(default=START_CONFIDENCE)
    revision = models.PositiveIntegerField(default=1)
    source_memory_ids = models.JSONField(default=list, blank=True)
    origin = models.CharField(max_length=6, choices=Origin.choices, default=Origin.USER)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    name_index = models.TextField(editable=False)
    definition_index = models.TextField(editable=False)
    labels_index = models.TextField(editable=False, default="")

    objects = ConceptQuerySet.as_manager()

    class Meta:
        db_table = "concepts"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["memoir", "name"], name="concepts_name_unique"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0.0, confidence__lte=1.0),
                name="concepts_confidence_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def derive(self) -> None:
        """Fill the columns that the text index reads."""
        self.name_index = index_text(self.name)
        self.definition_index = index_text(self.definition)
        self.labels_index = index_text(" ".join(self.labels))


class ConceptLink(models.Model):
    """A typed edge between two concepts of one memoir."""

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    source = models.ForeignKey(
        Concept, on_delete=models.CASCADE, related_name="links_out"
    )
    target = models.ForeignKey(
        Concept, on_delete=models.CASCADE, related_name="links_in"
    )
    relation = models.CharField(max_length=16, choices=Relation.choices)
    weight = models.FloatField(default=1.0)
    origin = models.CharField(max_length=6, choices=Origin.choices, default=Origin.USER)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "concept_links"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "target", "relation"], name="concept_links_unique"
            ),
            models.CheckConstraint(
                condition=~Q(source=F("target")), name="concept_links_no_self"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} → {self.target} ({self.relation})"


class ConceptRevision(models.Model):
    """A concept as it was before a change, and who made the change."""

    id = models.BigAutoField(primary_key=True)
    concept = models.ForeignKey(
        Concept, on_delete=models.CASCADE, related_name="revisions"
    )
    revision = models.PositiveIntegerField()
    name = models.TextField()
    definition = models.TextField()
    labels = models.JSONField(default=list, blank=True)
    confidence = models.FloatField()
    source_memory_ids = models.JSONField(default=list, blank=True)
    written_by = models.CharField(max_length=6, choices=Origin.choices)
    written_at = models.DateTimeField()
    operation = models.CharField(max_length=32)
    surface = models.CharField(max_length=16)
    origin = models.CharField(max_length=6, choices=Origin.choices)
    host = models.CharField(max_length=64, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "concept_revisions"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"r{self.revision} of {self.concept_id}"

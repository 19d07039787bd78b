"""The table of feedback."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.utils import timezone

from icm_site.fields import ULIDField
from icm_site.text import index_text
from memories.models import Memory, topic_key

TEXTS = ("context", "predicted", "corrected", "reason")


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    def in_topic(self, topic: str) -> Self:
        """Rows of exactly this topic, without regard to case and outer blanks."""
        return self.filter(topic_key=topic_key(topic))

    def with_memories(self) -> Self:
        return self.select_related("memory", "correction")


class Feedback(models.Model):
    """One prediction that was wrong. Its text never changes once it is recorded.

    `memory` is the one that misled, `correction` the one that says what is right.
    """

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    topic = models.TextField()
    context = models.TextField()
    predicted = models.TextField()
    corrected = models.TextField()
    reason = models.TextField(blank=True, default="")
    source = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    applied_count = models.PositiveIntegerField(default=0)
    memory = models.ForeignKey(
        Memory,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="feedback",
    )
    correction = models.ForeignKey(
        Memory, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    topic_key = models.TextField(editable=False)
    topic_index = models.TextField(editable=False)
    context_index = models.TextField(editable=False)
    predicted_index = models.TextField(editable=False)
    corrected_index = models.TextField(editable=False)
    reason_index = models.TextField(editable=False, default="")

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        db_table = "feedback"
        verbose_name_plural = "feedback"
        ordering = ["-id"]
        indexes = [models.Index(fields=["topic_key"], name="feedback_topic")]

    def __str__(self) -> str:
        return f"{self.ulid} [{self.topic}]"

    def derive(self) -> None:
        """Fill the columns that are computed from the texts."""
        self.topic_key = topic_key(self.topic)
        for name in ("topic", *TEXTS):
            setattr(self, f"{name}_index", index_text(getattr(self, name)))

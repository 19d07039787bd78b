"""Tables of the memory layer; logic of one row and of sets of rows."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from icm_site.fields import ULIDField
from icm_site.text import index_text, normalise, summary_hash
from memories.machine_models import HookEvent as HookEvent
from memories.machine_models import HookShown as HookShown
from memories.machine_models import Metadata as Metadata
from memories.machine_models import Project as Project
from memories.machine_models import Token as Token
from memories.projects import segment_match


def topic_key(topic: str) -> str:
    """What two spellings of one topic have in common."""
    return normalise(topic.strip())


class Importance(models.TextChoices):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Position from low (0) to critical (3)."""
        return len(Importance) - 1 - list(Importance).index(self)


class State(models.TextChoices):
    LIVE = "live"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


class Origin(models.TextChoices):
    USER = "user"
    AGENT = "agent"
    HOOK = "hook"
    IMPORT = "import"


class SourceType(models.TextChoices):
    MANUAL = "manual"
    CLAUDE_CODE = "claude_code"
    CONVERSATION = "conversation"


def in_state(state: str) -> Q:
    """Rows of one state, for lists that have other conditions or an order.

    SQLite cannot know that nearly all rows are live: for `state = 'live'` it would read
    them one by one through the index of their hashes.
    """
    return ~Q(~Q(state=state))


class MemoryQuerySet(models.QuerySet["Memory"]):
    def live(self) -> Self:
        return self.filter(state=State.LIVE)

    def in_topic(self, topic: str) -> Self:
        """Rows of exactly this topic, without regard to case and outer blanks."""
        return self.filter(topic_key=topic_key(topic))

    def in_project(self, project: str) -> Self:
        """Rows whose topic names the project."""
        # The index holds the keys: no row is read for them.
        keys = Memory.objects.order_by().values_list("topic_key", flat=True).distinct()
        return self.filter(
            topic_key__in=[key for key in keys if segment_match(key, project)]
        )

    def with_usage(self) -> Self:
        return self.select_related("usage")


class Memory(models.Model):
    """One note. Its text changes only through `memories.store`."""

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    topic = models.TextField()
    summary = models.TextField()
    raw_excerpt = models.TextField(null=True, blank=True)
    keywords = models.JSONField(default=list, blank=True)
    importance = models.CharField(
        max_length=8, choices=Importance.choices, default=Importance.MEDIUM
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.LIVE)
    superseded_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaces",
    )
    metadata = models.JSONField(default=dict, blank=True)
    origin = models.CharField(max_length=6, choices=Origin.choices, default=Origin.USER)
    source_type = models.CharField(
        max_length=16, choices=SourceType.choices, default=SourceType.MANUAL
    )
    source_data = models.JSONField(default=dict, blank=True)
    host = models.CharField(max_length=64, blank=True, default="")
    agent_session = models.CharField(max_length=255, blank=True, default="")
    occurred_at = models.DateTimeField(null=True, blank=True)
    summary_hash = models.CharField(max_length=64, editable=False)
    topic_key = models.TextField(editable=False)
    keywords_key = models.TextField(editable=False, default="")
    topic_index = models.TextField(editable=False)
    summary_index = models.TextField(editable=False)
    keywords_index = models.TextField(editable=False, default="")

    objects = MemoryQuerySet.as_manager()

    class Meta:
        db_table = "memories"
        verbose_name_plural = "memories"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["summary_hash"],
                condition=Q(state="live"),
                name="memories_live_hash_unique",
            )
        ]
        indexes = [
            # None begins with the state: nearly all rows are live, and without
            # statistics SQLite would take it for the best of all conditions.
            models.Index(
                # Holds all that lists and figures of topics ask for.
                fields=["topic_key", "state", "importance", "topic"],
                name="memories_topic",
            ),
            models.Index(fields=["created_at"], name="memories_created"),
            models.Index(fields=["updated_at"], name="memories_updated"),
            models.Index(
                fields=["occurred_at"],
                name="memories_occurred",
                condition=Q(occurred_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ulid} [{self.topic}]"

    def derive(self) -> None:
        """Fill the columns that are computed from topic, summary and keywords."""
        self.topic_key = topic_key(self.topic)
        self.summary_hash = summary_hash(self.topic, self.summary)
        self.keywords_key = "\n".join(normalise(word) for word in self.keywords)
        self.topic_index = index_text(self.topic)
        self.summary_index = index_text(self.summary)
        self.keywords_index = index_text(" ".join(self.keywords))

    @property
    def embedded_text(self) -> str:
        return f"{self.topic} {self.summary}"

    @property
    def is_live(self) -> bool:
        return self.state == State.LIVE

    def current(self) -> Memory:
        """The memory at the end of the chain of successors, this one if it has none."""
        seen, memory = {self.pk}, self
        while memory.superseded_by is not None and memory.superseded_by.pk not in seen:
            memory = memory.superseded_by
            seen.add(memory.pk)
        return memory


class MemoryUsage(models.Model):
    """Bookkeeping of a memory, apart so that decay never rewrites the wide row."""

    memory = models.OneToOneField(
        Memory, primary_key=True, on_delete=models.CASCADE, related_name="usage"
    )
    weight = models.FloatField(default=1.0)
    access_count = models.PositiveIntegerField(default=0)
    last_accessed = models.DateTimeField(default=timezone.now)
    decayed_at = models.DateTimeField(default=timezone.now)
    importance = models.CharField(
        max_length=8, choices=Importance.choices, default=Importance.MEDIUM
    )

    class Meta:
        db_table = "memory_usage"
        # None on weight: decay changes it in every row.
        indexes = [models.Index(fields=["last_accessed"], name="memory_usage_accessed")]

    def __str__(self) -> str:
        return f"weight {self.weight:.3f}, {self.access_count} accesses"


class MemoryHash(models.Model):
    """Hash of a text that was merged into a memory: storing it again adds nothing."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="hashes")
    summary_hash = models.CharField(max_length=64, unique=True)

    class Meta:
        db_table = "memory_hashes"
        verbose_name_plural = "memory hashes"

    def __str__(self) -> str:
        return self.summary_hash


class MemoryVector(models.Model):
    """A piece of a memory's text as a unit vector: little-endian float32 bytes."""

    id = models.BigAutoField(primary_key=True)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="vectors")
    piece = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=255)
    vector = models.BinaryField()

    class Meta:
        db_table = "memory_vectors"
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "model", "piece"], name="memory_vectors_piece_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} #{self.piece}"


class MemoryLink(models.Model):
    """A relation that was found between two memories."""

    source = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="links_out"
    )
    target = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="links_in"
    )
    kind = models.CharField(max_length=16, default="related")
    score = models.FloatField(default=1.0)

    class Meta:
        db_table = "memory_links"
        constraints = [
            models.UniqueConstraint(
                fields=["source", "target", "kind"], name="memory_links_unique"
            ),
            models.CheckConstraint(
                condition=~Q(source=models.F("target")), name="memory_links_no_self"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} {self.kind} {self.target_id}"


class ChangeQuerySet(models.QuerySet["Change"]):
    def active(self) -> Self:
        """Changes that stand: no undo has taken them back."""
        return self.filter(undone=False)


class Change(models.Model):
    """One act that can be undone."""

    id = models.BigAutoField(primary_key=True)
    ulid = ULIDField()
    operation = models.CharField(max_length=32)
    surface = models.CharField(max_length=16)
    origin = models.CharField(max_length=6, choices=Origin.choices)
    host = models.CharField(max_length=64, blank=True, default="")
    agent_session = models.CharField(max_length=255, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)
    undoes = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="undone_by",
    )
    undone = models.BooleanField(default=False)

    objects = ChangeQuerySet.as_manager()

    class Meta:
        db_table = "changes"
        ordering = ["-id"]
        indexes = [models.Index(fields=["at"], name="changes_at")]

    def __str__(self) -> str:
        return f"{self.operation} {self.ulid}"


class MemoryRevision(models.Model):
    """The fields of a memory before a change; null where it did not exist.

    `given` holds a text that was merged into the memory and did not stay.
    """

    change = models.ForeignKey(
        Change, on_delete=models.CASCADE, related_name="revisions"
    )
    memory = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="revisions"
    )
    before = models.JSONField(null=True, blank=True)
    given = models.JSONField(null=True, blank=True)

    class Meta:
        db_table = "memory_revisions"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.change_id} of {self.memory_id}"


class Suggestion(models.Model):
    """A pair of memories that a person or an agent should look at."""

    class Kind(models.TextChoices):
        MAY_UPDATE = "may_update"
        DUPLICATE = "duplicate"
        CONTRADICTION = "contradiction"

    class Status(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DISMISSED = "dismissed"

    ulid = ULIDField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    source = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="suggestions_out"
    )
    target = models.ForeignKey(
        Memory, on_delete=models.CASCADE, related_name="suggestions_in"
    )
    score = models.FloatField(default=0.0)
    reason = models.TextField(blank=True, default="")
    status = models.CharField(
        max_length=16, choices=Status.choices, default=Status.OPEN
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "suggestions"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "source", "target"], name="suggestions_pair_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ulid}"


class MemoryMark(models.Model):
    """What feedback said of a memory: it helped, or it misled.

    `text_hash` is of the text that was judged: once that changes, the mark is silent.
    `reference` says by what it was given: the id of a feedback record, or a session.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="marks")
    helpful = models.BooleanField()
    text_hash = models.CharField(max_length=64, blank=True, default="")
    correction = models.ForeignKey(
        Memory, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reference = models.CharField(max_length=26, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_marks"

    def __str__(self) -> str:
        return "helpful" if self.helpful else "misleading"

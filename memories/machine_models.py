"""Tables about the machine: projects, tokens, runs of hooks, the file itself."""

from __future__ import annotations

from django.db import connection, models
from django.utils import timezone

from icm_site.fields import ULIDField


class Project(models.Model):
    """A project that memories were stored for, and the names that mean it."""

    name = models.CharField(max_length=255, unique=True)
    aliases = models.JSONField(default=list, blank=True)
    remote = models.TextField(blank=True, default="")
    paths = models.JSONField(default=list, blank=True)
    last_seen = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "projects"

    def __str__(self) -> str:
        return self.name


class MetadataQuerySet(models.QuerySet["Metadata"]):
    def read(self, key: str) -> str | None:
        # Each recall reads some: compiled SQL, a tenth of what the ORM takes.
        with connection.cursor() as cursor:
            cursor.execute("SELECT value FROM icm_metadata WHERE key = %s", [key])
            row = cursor.fetchone()
        return None if row is None else str(row[0])

    def write(self, key: str, value: str) -> None:
        self.update_or_create(key=key, defaults={"value": value})


class Metadata(models.Model):
    """Facts about the database itself, such as the embedding model in use."""

    key = models.CharField(max_length=64, primary_key=True)
    value = models.TextField()

    objects = MetadataQuerySet.as_manager()

    class Meta:
        db_table = "icm_metadata"
        verbose_name_plural = "metadata"

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class Token(models.Model):
    """A key to the HTTP surfaces, kept as a hash."""

    ulid = ULIDField()
    name = models.CharField(max_length=255, unique=True)
    hashed = models.CharField(max_length=64, unique=True)
    read_only = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    last_used = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "tokens"

    def __str__(self) -> str:
        return self.name


class HookShown(models.Model):
    """What a hook put before an agent's session: not again unless it changed."""

    agent_session = models.CharField(max_length=255)
    memory = models.ForeignKey(
        "memories.Memory", on_delete=models.CASCADE, related_name="+"
    )
    text_hash = models.CharField(max_length=64)
    tokens = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "hook_shown"
        constraints = [
            models.UniqueConstraint(
                fields=["agent_session", "memory"], name="hook_shown_unique"
            )
        ]
        indexes = [models.Index(fields=["at"], name="hook_shown_at")]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.agent_session}"


class HookEvent(models.Model):
    """One run of a hook: what it cost and what it injected."""

    at = models.DateTimeField(default=timezone.now)
    event = models.CharField(max_length=32)
    host = models.CharField(max_length=64, blank=True, default="")
    project = models.CharField(max_length=255, blank=True, default="")
    agent_session = models.CharField(max_length=255, blank=True, default="")
    tool_name = models.CharField(max_length=255, blank=True, default="")
    duration_ms = models.FloatField(default=0.0)
    exit_code = models.IntegerField(default=0)
    payload_size = models.PositiveIntegerField(default=0)
    injected = models.JSONField(default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0)
    note = models.TextField(blank=True, default="")

    class Meta:
        db_table = "hook_events"
        indexes = [models.Index(fields=["at"], name="hook_events_at")]

    def __str__(self) -> str:
        return f"{self.event} {self.at:%Y-%m-%d %H:%M:%S}"

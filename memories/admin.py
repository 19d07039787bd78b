"""The admin pages of memories: people read and curate what agents believe."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from icm_site.model_admin import (
    ReadOnlyAdmin,
    RecordAdmin,
    RecordForm,
    Text,
    Words,
    caller,
    run_action,
)
from icm_site.text import cut
from memories import (
    bulk,
    embedding,
    history,
    records,
    store,
    suggestions,
    texts,
    tokens,
)
from memories.models import (
    Change,
    HookEvent,
    Memory,
    MemoryHash,
    MemoryLink,
    MemoryMark,
    MemoryRevision,
    MemoryUsage,
    MemoryVector,
    Metadata,
    Project,
    State,
    Suggestion,
    Token,
    topic_key,
)
from memories.schemas import GetResult

SHOWN_BYTES = 100
TOPICS_SHOWN = 25


class StateFilter(admin.SimpleListFilter):
    """Live memories unless others are asked for."""

    title = "state"
    parameter_name = "state"
    everything = "any"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        hidden = [(value, label) for value, label in State.choices if value != "live"]
        return [*hidden, (self.everything, "Any")]

    def choices(self, changelist: Any) -> Any:
        usual, *others = super().choices(changelist)
        return [{**usual, "display": "Live"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == self.everything:
            return queryset
        return queryset.filter(state=self.value() or State.LIVE)


class TopicFilter(admin.SimpleListFilter):
    """The largest topics; the others are found by search."""

    title = "topic"
    parameter_name = "topic"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        rows = (
            Memory.objects.live()
            .order_by()
            .values_list("topic_key")
            .annotate(count=Count("id"))
            .order_by("-count", "topic_key")
        )
        found = [(key, f"{key} ({count})") for key, count in rows[:TOPICS_SHOWN]]
        chosen = request.GET.get(self.parameter_name)
        if chosen and chosen not in dict(found):
            found.append((chosen, chosen))
        return found

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(topic_key=topic_key(value)) if value else queryset


class MemoryForm(RecordForm):
    summary = Text()
    raw_excerpt = Text(required=False)
    keywords = Words(required=False)

    class Meta:
        model = Memory
        fields = ["topic", "summary", "raw_excerpt", "keywords", "importance"]
        widgets = {"topic": forms.TextInput(attrs={"size": 60})}


@admin.register(Memory)
class MemoryAdmin(RecordAdmin):
    form = MemoryForm
    list_display = (
        *("text", "topic", "importance", "weight", "origin", "host", "updated"),
    )
    list_display_links = ("text",)
    list_filter = (StateFilter, "importance", "origin", TopicFilter, "host")
    list_select_related = ("usage",)
    search_fields = ("topic_index", "summary_index", "keywords_index")
    fields = (
        *("topic", "summary", "raw_excerpt", "keywords", "importance"),
        *("ulid", "state", "superseded_by", "weight", "used", "origin", "host"),
        *("source", "created_at", "updated_at", "occurred_at", "changes"),
    )
    readonly_fields = fields[5:]
    actions = ("forget_selected",)

    @admin.display(description="memory", ordering="id")
    def text(self, memory: Memory) -> str:
        short = cut(memory.summary, SHOWN_BYTES)
        return short if short == memory.summary else f"{short}…"

    @admin.display(ordering="usage__weight")
    def weight(self, memory: Memory) -> str:
        return f"{memory.usage.weight:.3f}"

    @admin.display(ordering="updated_at")
    def updated(self, memory: Memory) -> str:
        return f"{memory.updated_at:%Y-%m-%d}"

    @admin.display(description="access")
    def used(self, memory: Memory) -> str:
        usage = memory.usage
        return f"{usage.access_count} times, last {usage.last_accessed:%Y-%m-%d %H:%M}"

    @admin.display
    def source(self, memory: Memory) -> str:
        known = {"session": memory.agent_session, **memory.source_data}
        details = [f"{name}: {value}" for name, value in known.items() if value]
        return ", ".join([memory.get_source_type_display(), *details])

    @admin.display(description="history")
    def changes(self, memory: Memory) -> SafeString:
        entries = records.history_entries(memory)
        shown = GetResult(
            id=memory.ulid, memory=records.record(memory), history=entries
        )
        return format_html("<pre>{}</pre>", texts.history(shown))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields if obj else self.fields[:5]

    def save_model(
        self, request: HttpRequest, obj: Memory, form: Any, change: bool
    ) -> None:
        """Write through `store`, which checks, masks and keeps the history."""
        if change and not form.changed_data:
            return
        values: dict[str, Any] = form.changes() if change else form.cleaned_data
        if "summary" in values:
            values["content"] = values.pop("summary")
        if change:
            done = store.update(obj.ulid, **values, caller=caller(request))
        else:
            done = store.store(**values, caller=caller(request))
        obj.pk, obj.ulid = done.memory.pk, done.memory.ulid
        self.say_masked(request, done.redacted)
        # A model call has no place inside a transaction.
        transaction.on_commit(lambda: embedding.embed_missing([done.memory]))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Without a button to delete: there is one to forget, beside the history."""
        context["show_delete"] = False
        return super().render_change_form(request, context, *args, **kwargs)

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        """Hide it; nothing is erased here."""
        _, change = store.forget(obj.ulid, caller=caller(request))
        self.message_user(request, _hidden(1, change), messages.SUCCESS)

    def response_delete(
        self, request: HttpRequest, obj_display: str, obj_id: int
    ) -> HttpResponse:
        return redirect("admin:memories_memory_changelist")

    def get_actions(self, request: HttpRequest) -> Any:
        found = super().get_actions(request)
        found.pop("delete_selected", None)
        return found

    @admin.action(description="Forget the selected memories", permissions=["delete"])
    def forget_selected(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        def work() -> str:
            return _hidden(*bulk.forget(rows, caller=caller(request)))

        run_action(self, request, work)


def _hidden(count: int, change: Change | None) -> str:
    if change is None:
        return "Nothing to hide."
    noun = "memory is" if count == 1 else "memories are"
    return f"{count} {noun} hidden; undo the change {change.ulid} to bring them back."


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    list_display = (
        *("ulid", "operation", "surface", "origin", "host", "at", "undone"),
        "undoes",
    )
    list_filter = ("operation", "surface", "origin", "undone")
    list_select_related = ("undoes",)
    actions = ("undo_selected",)

    @admin.action(description="Undo the selected changes, the newest first")
    def undo_selected(self, request: HttpRequest, rows: QuerySet[Change]) -> None:
        def work() -> str:
            count = 0
            with transaction.atomic():
                for row in rows.order_by("-id"):
                    _, memories = history.undo(
                        row.ulid, caller=caller(request), now=timezone.now()
                    )
                    count += len(memories)
            return f"Undone; {count} memories are as they were before."

        run_action(self, request, work)


@admin.register(MemoryRevision)
class RevisionAdmin(ReadOnlyAdmin):
    list_display = ("change", "memory", "text_before")
    list_select_related = ("change", "memory")

    @admin.display(description="text before")
    def text_before(self, row: MemoryRevision) -> str:
        before = row.before or {}
        return cut(str(before.get("summary", "(it did not exist)")), SHOWN_BYTES)


@admin.register(Suggestion)
class SuggestionAdmin(ReadOnlyAdmin):
    list_display = ("ulid", "kind", "newer", "older", "score", "status", "created_at")
    list_filter = ("status", "kind")
    list_select_related = ("source", "target")
    actions = ("accept_selected", "dismiss_selected")

    @admin.display
    def newer(self, row: Suggestion) -> str:
        return cut(row.source.summary, SHOWN_BYTES)

    @admin.display
    def older(self, row: Suggestion) -> str:
        return cut(row.target.summary, SHOWN_BYTES)

    @admin.action(description="Accept: the newer memory replaces the older one")
    def accept_selected(self, request: HttpRequest, rows: QuerySet[Suggestion]) -> None:
        def work() -> str:
            for row in rows:
                suggestions.accept(row.ulid, caller=caller(request), now=timezone.now())
            return "Accepted; each can be undone by its change."

        run_action(self, request, work)

    @admin.action(description="Dismiss: both memories stay")
    def dismiss_selected(
        self, request: HttpRequest, rows: QuerySet[Suggestion]
    ) -> None:
        def work() -> str:
            for row in rows:
                suggestions.dismiss(row.ulid)
            return "Dismissed."

        run_action(self, request, work)


@admin.register(MemoryUsage)
class UsageAdmin(ReadOnlyAdmin):
    list_display = ("memory", "weight", "access_count", "last_accessed", "importance")
    list_filter = ("importance",)
    list_select_related = ("memory",)


@admin.register(MemoryMark)
class MarkAdmin(ReadOnlyAdmin):
    list_display = ("memory", "helpful", "correction", "reference", "created_at")
    list_filter = ("helpful",)
    list_select_related = ("memory", "correction")


@admin.register(MemoryLink)
class MemoryLinkAdmin(ReadOnlyAdmin):
    list_display = ("source", "kind", "target", "score")
    list_filter = ("kind",)
    list_select_related = ("source", "target")


@admin.register(MemoryVector)
class VectorAdmin(ReadOnlyAdmin):
    list_display = ("memory", "piece", "model")
    list_filter = ("model",)
    list_select_related = ("memory",)
    exclude = ("vector",)


@admin.register(MemoryHash)
class HashAdmin(ReadOnlyAdmin):
    list_display = ("summary_hash", "memory")
    list_select_related = ("memory",)


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ("name", "aliases", "remote", "last_seen")


@admin.register(Metadata)
class MetadataAdmin(ReadOnlyAdmin):
    list_display = ("key", "value")


@admin.register(HookEvent)
class HookEventAdmin(ReadOnlyAdmin):
    list_display = (
        *("at", "event", "host", "project", "tool_name", "duration_ms", "tokens"),
        "exit_code",
    )
    list_filter = ("event", "host")


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Tokens are made on the command line, where their secret is shown once."""

    list_display = ("name", "read_only", "created_at", "last_used")
    list_filter = ("read_only",)
    exclude = ("hashed",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("memories.delete_token")

    def delete_model(self, request: HttpRequest, obj: Token) -> None:
        tokens.revoke(obj.name)

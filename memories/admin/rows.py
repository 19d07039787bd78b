"""The lists of all else: who wrote what, what was injected where, and bookkeeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from icm_site.model_admin import ReadOnlyAdmin, caller, column, run_action
from icm_site.text import cut
from icm_site.ulid import is_ulid
from icm_site.undoing import together
from memories import diff, history, suggestions, tokens
from memories.admin.acts import undo_of
from memories.admin.filters import AgeFilter
from memories.admin.past import OPERATIONS, taken_back
from memories.models import (
    Change,
    HookEvent,
    HookShown,
    Memory,
    MemoryHash,
    MemoryLink,
    MemoryMark,
    MemoryRevision,
    MemoryUsage,
    MemoryVector,
    Metadata,
    Project,
    Suggestion,
    Token,
)

SHOWN_BYTES = 100
# Revisions that the page of a change spells out.
REVISIONS = 50


def when(name: str) -> Callable[[Any], str]:
    """Shows the moment in a column of this name."""

    def shown(row: Any) -> str:
        moment = getattr(row, name)
        return date_format(moment, "SHORT_DATETIME_FORMAT") if moment else "—"

    return shown


def short(name: str, attribute: str) -> Callable[[Any], str]:
    """Shows the beginning of a text of a row it leads to."""
    return lambda row: cut(getattr(getattr(row, name), attribute), SHOWN_BYTES)


def linked(memory: Memory) -> SafeString:
    """The beginning of a memory's text, as a link to it."""
    place = reverse("admin:memories_memory_change", args=[memory.pk])
    text = cut(memory.summary, SHOWN_BYTES)
    return format_html('<a href="{}">{}</a>', place, text)


def _operation(row: Change) -> str:
    return str(OPERATIONS.get(row.operation, row.operation))


def _touched(row: Change) -> SafeString:
    """Each memory of a change with what went and what came."""
    rows = row.revisions.select_related("memory").order_by("id")[:REVISIONS]
    return format_html_join("", '<p>{}</p><p class="diff">{}</p>', map(_revised, rows))


def _revised(row: MemoryRevision) -> tuple[SafeString, SafeString]:
    before = row.before or {}
    parts = diff.words(before.get("summary", ""), row.memory.summary)
    return linked(row.memory), compared(parts)


def compared(parts: list[diff.Part]) -> SafeString:
    """Stretches of words as marked text."""
    tags = {"same": "span", "added": "ins", "removed": "del"}
    return format_html_join(
        "", "<{0}>{1}</{0}>", ((tags[part.kind], part.text) for part in parts)
    )


class WhenFilter(AgeFilter):
    title = _("when")
    parameter_name = "when"
    column = "at"


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    """The audit: which person or agent did what, when, through which surface."""

    list_display = (
        column("ulid", _("change"), order="id"),
        column("operation", _("what"), shown=_operation),
        column("count", _("memories"), order=None),
        column("surface", _("through")),
        column("origin", _("who"), shown=lambda row: gettext(str(row.origin))),
        column("host", _("program")),
        column("at", _("when"), shown=when("at")),
        column("undone", _("undone"), shown=lambda row: "✓" if row.undone else ""),
    )
    list_filter = (WhenFilter, "operation", "surface", "origin", "host", "undone")
    fields = (
        *list_display[:2],
        *list_display[3:],
        column("agent_session", _("session")),
        column("touched", _("memories as they are now"), shown=_touched),
    )
    readonly_fields = fields
    actions = ("undo_selected",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Change]:
        # Counted for the rows of the page alone; a join would count for all.
        revisions = MemoryRevision.objects.filter(change=OuterRef("pk")).order_by()
        counted = revisions.values("change").annotate(count=Count("pk")).values("count")
        return Change.objects.annotate(count=Coalesce(Subquery(counted), 0))

    @admin.action(description=_("Undo the chosen changes, the newest first"))
    def undo_selected(self, request: HttpRequest, rows: QuerySet[Change]) -> None:
        def work() -> tuple[str, str]:
            count, undos = 0, []
            with transaction.atomic():
                for row in rows.order_by("-id"):
                    change, memories = history.undo(
                        row.ulid, caller=caller(request), now=timezone.now()
                    )
                    count += len(memories)
                    undos.append(undo_of(change))
            text = ngettext(
                "Undone; %d memory is as it was before.",
                "Undone; %d memories are as they were before.",
                count,
            )
            return text % count, together(undos, taken_back)

        run_action(self, request, work)


@admin.register(MemoryRevision)
class RevisionAdmin(ReadOnlyAdmin):
    list_display = (
        column("change", _("change"), order="change_id"),
        column("memory", _("memory"), order="memory_id"),
        column("text_before", _("text before"), order=None, shown=lambda r: _before(r)),
    )
    list_select_related = ("change", "memory")


def _before(row: MemoryRevision) -> str:
    before = row.before or {}
    return cut(str(before.get("summary", gettext("(it did not exist)"))), SHOWN_BYTES)


@admin.register(Suggestion)
class SuggestionAdmin(ReadOnlyAdmin):
    list_display = (
        column("ulid", _("id"), order="id"),
        column("kind", _("kind"), shown=lambda row: gettext(row.get_kind_display())),
        column("newer", _("newer"), order=None, shown=short("source", "summary")),
        column("older", _("older"), order=None, shown=short("target", "summary")),
        column("score", _("likeness"), shown=lambda row: f"{row.score:.2f}"),
        column("status", _("state"), shown=lambda row: gettext(str(row.status))),
        column("created_at", _("when"), shown=when("created_at")),
    )
    list_filter = ("status", "kind")
    list_select_related = ("source", "target")
    actions = ("accept_selected", "dismiss_selected")

    @admin.action(description=_("Accept: the newer memory replaces the older one"))
    def accept_selected(self, request: HttpRequest, rows: QuerySet[Suggestion]) -> None:
        def work() -> tuple[str, str]:
            who, now, undos = caller(request), timezone.now(), []
            with transaction.atomic():
                for row in rows:
                    _row, change = suggestions.accept(row.ulid, caller=who, now=now)
                    undos.append(undo_of(change))
            text = gettext("Accepted; the newer memories replace the older ones.")
            return text, together(undos, taken_back)

        run_action(self, request, work)

    @admin.action(description=_("Dismiss: both memories stay"))
    def dismiss_selected(
        self, request: HttpRequest, rows: QuerySet[Suggestion]
    ) -> None:
        def work() -> tuple[str, str]:
            with transaction.atomic():
                done = [suggestions.dismiss(row.ulid) for row in rows]
            undos = [f"dismissal-{row.ulid}" for row in done]
            text = gettext("Dismissed; both memories stay.")
            return text, together(undos, taken_back)

        run_action(self, request, work)


@admin.register(MemoryUsage)
class UsageAdmin(ReadOnlyAdmin):
    list_display = (
        column("memory", _("memory"), order="memory_id"),
        column("weight", _("weight"), shown=lambda row: f"{row.weight:.3f}"),
        column("access_count", _("shown to agents")),
        column("last_accessed", _("last shown"), shown=when("last_accessed")),
        column("importance", _("importance")),
    )
    list_filter = ("importance",)
    list_select_related = ("memory",)


@admin.register(MemoryMark)
class MarkAdmin(ReadOnlyAdmin):
    list_display = (
        column("memory", _("memory"), order="memory_id"),
        column("helpful", _("judged"), shown=lambda row: gettext(str(row))),
        column("correction", _("correction"), order=None),
        column("reference", _("by")),
        column("created_at", _("when"), shown=when("created_at")),
    )
    list_filter = ("helpful",)
    list_select_related = ("memory", "correction")


@admin.register(MemoryLink)
class MemoryLinkAdmin(ReadOnlyAdmin):
    list_display = (
        column("source", _("from"), order="source_id"),
        column("kind", _("kind")),
        column("target", _("to"), order="target_id"),
        column("score", _("likeness"), shown=lambda row: f"{row.score:.2f}"),
    )
    list_filter = ("kind",)
    list_select_related = ("source", "target")


@admin.register(MemoryVector)
class VectorAdmin(ReadOnlyAdmin):
    list_display = (
        column("memory", _("memory"), order="memory_id"),
        column("piece", _("piece")),
        column("model", _("model")),
    )
    list_filter = ("model",)
    list_select_related = ("memory",)
    exclude = ("vector",)


@admin.register(MemoryHash)
class HashAdmin(ReadOnlyAdmin):
    list_display = (
        column("summary_hash", _("hash")),
        column("memory", _("memory"), order="memory_id"),
    )
    list_select_related = ("memory",)


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = (
        column("name", _("name")),
        column("aliases", _("aliases"), shown=lambda row: ", ".join(row.aliases)),
        column("remote", _("repository")),
        column("last_seen", _("last seen"), shown=when("last_seen")),
    )


@admin.register(Metadata)
class MetadataAdmin(ReadOnlyAdmin):
    list_display = (column("key", _("name")), column("value", _("value")))


def _injected(row: HookEvent) -> SafeString:
    """The memories that a hook put before an agent, by their ids, as links."""
    ids = [str(entry) for entry in row.injected if isinstance(entry, str)]
    rows = Memory.objects.filter(ulid__in=filter(is_ulid, ids))
    known = {memory.ulid: memory for memory in rows}
    shown = (linked(known[name]) if name in known else name for name in ids)
    return format_html_join("", "<p>{}</p>", ((entry,) for entry in shown))


@admin.register(HookEvent)
class HookEventAdmin(ReadOnlyAdmin):
    """What was injected where, and what it cost."""

    list_display = (
        column("at", _("when"), shown=when("at")),
        column("event", _("event")),
        column("host", _("program")),
        column("project", _("project")),
        column("tool_name", _("tool")),
        column("count", _("injected"), order=None, shown=lambda r: len(r.injected)),
        column("tokens", _("tokens")),
        column("duration_ms", _("ms"), shown=lambda row: f"{row.duration_ms:.1f}"),
        column("exit_code", _("exit code")),
    )
    list_filter = (WhenFilter, "event", "host")
    ordering = ("-id",)
    fields = (
        *list_display[:5],
        *list_display[6:],
        column("agent_session", _("session")),
        column("payload_size", _("bytes asked with")),
        column("note", _("note")),
        column("injected", _("injected"), shown=_injected),
    )
    readonly_fields = fields


@admin.register(HookShown)
class HookShownAdmin(ReadOnlyAdmin):
    """What each session has seen already, and so is not shown again."""

    list_display = (
        column("at", _("when"), shown=when("at")),
        column("agent_session", _("session")),
        column(
            "memory", _("memory"), order="memory_id", shown=lambda r: linked(r.memory)
        ),
        column("tokens", _("tokens")),
    )
    list_select_related = ("memory",)
    ordering = ("-id",)


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Tokens are made on the command line, where their secret is shown once."""

    list_display = (
        column("name", _("name")),
        column(
            "read_only", _("only reads"), shown=lambda r: "✓" if r.read_only else ""
        ),
        column("created_at", _("made"), shown=when("created_at")),
        column("last_used", _("last used"), shown=when("last_used")),
    )
    list_filter = ("read_only",)
    exclude = ("hashed",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("memories.delete_token")

    def delete_model(self, request: HttpRequest, obj: Token) -> None:
        tokens.revoke(obj.name)

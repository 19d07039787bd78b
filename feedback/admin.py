"""The admin page of feedback: its records stay as they are, or go."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from feedback import write
from feedback.models import TEXTS, Feedback
from icm_site.model_admin import ReadOnlyAdmin, column, undoable
from icm_site.text import cut
from memories import marks
from memories.models import Memory, MemoryMark

SHOWN_BYTES = 100


def _link(memory: Memory | None) -> SafeString | str:
    if memory is None:
        return "—"
    place = reverse("admin:memories_memory_change", args=[memory.pk])
    return format_html('<a href="{}">{}</a>', place, cut(memory.summary, SHOWN_BYTES))


def effect(row: Feedback) -> str:
    """What all marks of the memory that misled do to its place in a recall."""
    if row.memory is None:
        return "—"
    judged = marks.text_hash(row.memory.summary)
    found = [m for m in row.memory.marks.all() if m.text_hash in ("", judged)]
    if not found:
        return gettext("none any more: the text has changed")
    helpful = sum(mark.helpful for mark in found)
    factor = marks.factor(helpful, len(found) - helpful)
    return gettext("score times %.2f") % factor


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = (
        column("topic", _("topic"), order="topic_key"),
        column("predicted", _("predicted"), shown=lambda r: cut(r.predicted, 100)),
        column("corrected", _("corrected"), shown=lambda r: cut(r.corrected, 100)),
        column("memory", _("misled by"), order=None, shown=lambda r: _link(r.memory)),
        column("effect", _("effect"), order=None, shown=effect),
        column(
            "answer", _("in its place"), order=None, shown=lambda r: _link(r.correction)
        ),
        column("applied_count", _("used")),
        column("created_at", _("when")),
    )
    list_filter = ("source",)
    search_fields = tuple(f"{name}_index" for name in ("topic", *TEXTS))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        return Feedback.objects.with_memories().prefetch_related("memory__marks")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("feedback.delete_feedback")

    def delete_model(self, request: HttpRequest, obj: Feedback) -> None:
        """Erase it; its marks on memories go with it."""
        with undoable(request, lambda: _rows(obj.ulid)):
            write.delete(obj.ulid)


def _rows(ulid: str) -> list[QuerySet[Any]]:
    """A record and its marks."""
    return [
        Feedback.objects.filter(ulid=ulid),
        MemoryMark.objects.filter(reference=ulid),
    ]

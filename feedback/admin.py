"""The admin page of feedback: its records stay as they are, or go."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from feedback import write
from feedback.models import TEXTS, Feedback
from icm_site.model_admin import ReadOnlyAdmin
from icm_site.text import cut

SHOWN_BYTES = 100


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    list_display = (
        *("topic", "what_was_said", "what_is_right", "applied_count", "memory"),
        "created_at",
    )
    list_filter = ("source",)
    list_select_related = ("memory",)
    search_fields = tuple(f"{name}_index" for name in ("topic", *TEXTS))

    @admin.display(description="predicted")
    def what_was_said(self, row: Feedback) -> str:
        return cut(row.predicted, SHOWN_BYTES)

    @admin.display(description="corrected")
    def what_is_right(self, row: Feedback) -> str:
        return cut(row.corrected, SHOWN_BYTES)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("feedback.delete_feedback")

    def delete_model(self, request: HttpRequest, obj: Feedback) -> None:
        """Erase it; its marks on memories go with it."""
        write.delete(obj.ulid)

"""The list of memories and the form of one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Case, FloatField, IntegerField, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from icm_site.model_admin import (
    RecordAdmin,
    RecordForm,
    Text,
    Words,
    caller,
    can_undo,
    column,
    run_action,
    say_done,
)
from icm_site.text import cut
from memories import bulk, embedding, recall, store
from memories.admin import acts, filters, past, review, topics
from memories.models import Memory

SHOWN_BYTES = 140
# How many of the best hits a search shows.
FOUND = 200


class MemoryForm(RecordForm):
    summary = Text(label=_("text"))
    raw_excerpt = Text(required=False, label=_("original wording"))
    keywords = Words(required=False, label=_("keywords"))

    class Meta:
        model = Memory
        fields = ["topic", "summary", "raw_excerpt", "keywords", "importance"]
        labels = {"topic": _("topic"), "importance": _("importance")}
        widgets = {"topic": forms.TextInput(attrs={"size": 60})}


def _text(memory: Memory) -> str:
    short = cut(memory.summary, SHOWN_BYTES)
    return short if short == memory.summary else f"{short}…"


def _weight(memory: Memory) -> SafeString:
    weight = memory.usage.weight
    return format_html(
        '<meter min="0" max="1" low="0.3" value="{}"></meter> {}',
        f"{weight:.3f}",
        f"{weight:.2f}",
    )


def _importance(memory: Memory) -> SafeString:
    level = memory.importance
    return format_html(
        '<span class="pill level-{}">{}</span>', level, gettext(str(level))
    )


def who(row: Any) -> str:
    """The agent's program, or what kind of writer it was."""
    return row.host or gettext(str(row.origin))


def _used(memory: Memory) -> str:
    usage = memory.usage
    return gettext("%(count)d times, last on %(day)s") % {
        "count": usage.access_count,
        "day": date_format(usage.last_accessed, "DATETIME_FORMAT"),
    }


def _source(memory: Memory) -> str:
    known = {"session": memory.agent_session, **memory.source_data}
    details = [f"{name}: {value}" for name, value in known.items() if value]
    return ", ".join([memory.get_source_type_display(), *details])


def _day(name: str) -> Any:
    def shown(memory: Memory) -> str:
        return date_format(getattr(memory, name), "SHORT_DATE_FORMAT")

    return shown


SCORE = column(
    "score", _("score"), order=None, shown=lambda row: f"{getattr(row, 'score', 0):.3f}"
)
COLUMNS = (
    column("text", _("memory"), order="id", shown=_text),
    column("topic", _("topic"), order="topic_key"),
    column("importance", _("importance"), shown=_importance),
    column("weight", _("weight"), order="usage__weight", shown=_weight),
    column("writer", _("written by"), order=None, shown=who),
    column("updated", _("changed"), order="updated_at", shown=_day("updated_at")),
)
FACTS = (
    column("ulid", _("id")),
    column("state", _("state"), shown=lambda row: gettext(str(row.state))),
    column("superseded_by", _("replaced by")),
    column("weight", _("weight"), shown=_weight),
    column("used", _("shown to agents"), shown=_used),
    column("writer", _("written by"), shown=who),
    column("source", _("source"), shown=_source),
    column("created", _("stored"), shown=_day("created_at")),
    column("updated", _("changed"), shown=_day("updated_at")),
    column("occurred_at", _("happened")),
)


@admin.register(Memory)
class MemoryAdmin(RecordAdmin):
    form = MemoryForm
    change_form_template = "memories/change_form.html"
    change_list_template = "memories/change_list.html"
    delete_confirmation_template = "memories/forget.html"
    list_display = COLUMNS
    list_display_links = (COLUMNS[0],)
    list_filter = (
        *(filters.StateFilter, filters.TopicFilter, filters.ProjectFilter),
        *("importance", "origin", filters.HostFilter, filters.WeightFilter),
        *(filters.AgeFilter, filters.CoverageFilter),
    )
    list_select_related = ("usage",)
    search_fields = ("topic_index", "summary_index", "keywords_index")
    search_help_text = _("Ranked as agents find it; without words an ordinary list.")
    readonly_fields = FACTS
    actions = ("edit_selected", "merge_selected", "consolidate_selected") + (
        "forget_selected",
    )

    def get_list_display(self, request: HttpRequest) -> Any:
        ranked = request.GET.get("q", "").strip()
        return (SCORE, *COLUMNS) if ranked else COLUMNS

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The hits of a recall, the best first; hidden rows are found by words."""
        if not search_term.strip() or "state" in request.GET:
            return super().get_search_results(request, queryset, search_term)
        found = recall.recall(
            query=search_term,
            topic=request.GET.get("topic") or None,
            project=request.GET.get("project") or None,
            limit=FOUND,
            count=False,
        )
        return _in_order(queryset, found.hits, sort="o" not in request.GET), False

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        text: Any = [(None, {"fields": MemoryForm.Meta.fields})]
        facts = (_("Facts"), {"fields": FACTS, "classes": ["facts"]})
        return [*text, facts] if obj else text

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        pages = {
            "edit": acts.edit,
            "merge": acts.merge,
            "consolidate": acts.consolidate_page,
            "undo": past.take_back,
            "review": review.queue,
            "review/act": review.act,
            "topics": topics.listed,
            "topics/rename": topics.rename,
        }
        own = [
            path(f"{place}/", view(page), name=f"memories_{place.replace('/', '_')}")
            for place, page in pages.items()
        ]
        return [*own, *super().get_urls()]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        return past.page(request, object_id)

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
        can_undo(request, acts.undo_of(done.change))
        self.say_masked(request, done.redacted)
        # A model call has no place inside a transaction.
        transaction.on_commit(lambda: embedding.embed_missing([done.memory]))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Without a button to delete: there is one to forget, and the last changes."""
        context["show_delete"] = False
        if context.get("original") is not None:
            context["entries"] = past.entries(context["original"])[: past.FEW]
        return super().render_change_form(request, context, *args, **kwargs)

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        """Hide it; nothing is erased here."""
        _memory, change = store.forget(obj.ulid, caller=caller(request))
        say_done(request, hidden(1), undo=acts.undo_of(change))

    def response_delete(
        self, request: HttpRequest, obj_display: str, obj_id: int
    ) -> HttpResponse:
        return redirect("admin:memories_memory_changelist")

    def get_actions(self, request: HttpRequest) -> Any:
        found = super().get_actions(request)
        found.pop("delete_selected", None)
        return found

    @admin.action(description=_("Forget"), permissions=["delete"])
    def forget_selected(self, request: HttpRequest, rows: QuerySet[Memory]) -> None:
        def work() -> tuple[str, str]:
            count, change = bulk.forget(rows, caller=caller(request))
            return hidden(count), acts.undo_of(change)

        run_action(self, request, work)

    @admin.action(description=_("Change topic or importance"), permissions=["change"])
    def edit_selected(self, request: HttpRequest, rows: QuerySet[Memory]) -> Any:
        return acts.ask(request, rows, acts.EDIT)

    @admin.action(description=_("Merge into one"), permissions=["change"])
    def merge_selected(self, request: HttpRequest, rows: QuerySet[Memory]) -> Any:
        return acts.ask(request, rows, acts.MERGE)

    @admin.action(description=_("Consolidate"), permissions=["change"])
    def consolidate_selected(self, request: HttpRequest, rows: QuerySet[Memory]) -> Any:
        return acts.ask(request, rows, acts.CONSOLIDATE)


def hidden(count: int) -> str:
    """What is said after a forget."""
    if not count:
        return gettext("Nothing to hide.")
    text = ngettext("%d memory is hidden.", "%d memories are hidden.", count)
    return text % count


def _in_order(rows: QuerySet[Any], hits: list[recall.Recalled], *, sort: bool) -> Any:
    """Those rows that are hits, each with its `score`; the best first if `sort`."""
    keys = [hit.memory.pk for hit in hits]
    if not keys:
        return rows.none()
    score: Any = Case(
        *(When(pk=hit.memory.pk, then=Value(hit.score)) for hit in hits),
        output_field=FloatField(),
    )
    place: Any = Case(
        *(When(pk=key, then=Value(n)) for n, key in enumerate(keys)),
        output_field=IntegerField(),
    )
    found = rows.filter(pk__in=keys).annotate(score=score, place=place)
    return found.order_by("place") if sort else found

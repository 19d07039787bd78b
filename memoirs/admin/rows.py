"""The lists and forms of memoirs, concepts and links."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from icm_site.model_admin import (
    ReadOnlyAdmin,
    RecordAdmin,
    RecordForm,
    Text,
    Words,
    caller,
    column,
    undoable,
)
from icm_site.text import cut
from memoirs import links, write
from memoirs.admin import drawing, taking_back
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir

SHOWN_BYTES = 100


class MemoirForm(RecordForm):
    description = Text(required=False)

    class Meta:
        model = Memoir
        fields = ["name", "description", "consolidation_threshold"]
        widgets = {"name": forms.TextInput(attrs={"size": 60})}


@admin.register(Memoir)
class MemoirAdmin(RecordAdmin):
    form = MemoirForm
    change_form_template = "memoirs/change_form.html"
    list_display = (
        column("name", _("name")),
        column("concept_count", _("concepts")),
        column("graph", _("graph"), order=None, shown=lambda row: _graph(row)),
        column("updated_at", _("changed")),
    )
    readonly_fields = ("ulid", "created_at", "updated_at")

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        pages = {"": drawing.page, "data/": drawing.data, "write/": drawing.change}
        own = [
            path(
                f"<int:key>/graph/{place}",
                view(page),
                name=f"memoirs_graph{place[:-1]}",
            )
            for place, page in pages.items()
        ]
        return [*own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memoir]:
        return Memoir.objects.with_counts()

    def save_model(
        self, request: HttpRequest, obj: Memoir, form: Any, change: bool
    ) -> None:
        with undoable(request, lambda: [Memoir.objects.filter(pk=obj.pk)]):
            self._save(request, obj, form, change)

    def _save(self, request: HttpRequest, obj: Memoir, form: Any, change: bool) -> None:
        values = form.changes()
        name = form.initial["name"] if change else values["name"]
        if not change:
            made, masked = write.create_memoir(
                name, description=form.cleaned_data["description"]
            )
            obj.pk, name = made.pk, made.name
            self.say_masked(request, masked)
        fields = {
            "new_name": values.get("name") if change else None,
            "description": values.get("description") if change else None,
            "threshold": values.get("consolidation_threshold"),
        }
        if any(value is not None for value in fields.values()):
            _, masked = write.update_memoir(name, **fields)
            self.say_masked(request, masked)

    def delete_model(self, request: HttpRequest, obj: Memoir) -> None:
        memoir = obj.pk
        with undoable(request, lambda: taking_back.whole(memoir)):
            write.delete_memoir(obj.name)


def _graph(memoir: Memoir) -> SafeString:
    place = reverse("admin:memoirs_graph", args=[memoir.pk])
    return format_html('<a href="{}">{}</a>', place, gettext("show"))


class NewConceptForm(RecordForm):
    """A new concept starts with the confidence of all."""

    definition = Text()
    labels = Words(required=False)

    class Meta:
        model = Concept
        fields = ["memoir", "name", "definition", "labels"]
        widgets = {"name": forms.TextInput(attrs={"size": 60})}


class ConceptForm(NewConceptForm):
    confidence = forms.FloatField(min_value=0.0, max_value=1.0)

    class Meta(NewConceptForm.Meta):
        fields = [*NewConceptForm.Meta.fields, "confidence"]


@admin.register(Concept)
class ConceptAdmin(RecordAdmin):
    form = ConceptForm
    list_display = (
        column("name", _("name")),
        column("memoir", _("memoir")),
        column("meaning", _("definition"), order=None, shown=lambda row: _meaning(row)),
        column("confidence", _("confidence"), shown=lambda r: f"{r.confidence:.2f}"),
        column("revision", _("revision")),
        column("origin", _("written by"), shown=lambda r: gettext(str(r.origin))),
        column("updated_at", _("changed")),
    )
    list_filter = ("origin", "memoir")
    list_select_related = ("memoir",)
    search_fields = ("name_index", "definition_index", "labels_index")
    readonly_fields = ("ulid", "revision", "origin", "created_at", "updated_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("memoir", *self.readonly_fields) if obj else ()

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if obj is None:
            kwargs["form"] = NewConceptForm
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: Concept, form: Any, change: bool
    ) -> None:
        """Add, refine where the definition changed, update what else did."""
        memoir = obj.memoir_id
        with undoable(request, lambda: taking_back.rows(memoir), **taking_back.HISTORY):
            self._save(request, obj, form, change)

    def _save(
        self, request: HttpRequest, obj: Concept, form: Any, change: bool
    ) -> None:
        who, values = caller(request), form.changes()
        if not change:
            given = dict(form.cleaned_data)
            memoir = given.pop("memoir").name
            done = write.add_concept(memoir, **given, caller=who)
            obj.pk = done.concept.pk
            self.say_masked(request, done.redacted)
            return
        place = (obj.memoir.name, form.initial["name"])
        if "definition" in values:
            text = values.pop("definition")
            done = write.refine(*place, definition=text, caller=who)
            self.say_masked(request, done.redacted)
        if values:
            if "name" in values:
                values["new_name"] = values.pop("name")
            done = write.update_concept(*place, **values, caller=who)
            self.say_masked(request, done.redacted)

    def delete_model(self, request: HttpRequest, obj: Concept) -> None:
        memoir = obj.memoir_id
        with undoable(request, lambda: taking_back.rows(memoir)):
            write.delete_concept(obj.memoir.name, obj.name)


def _meaning(concept: Concept) -> str:
    return cut(concept.definition, SHOWN_BYTES)


class LinkForm(RecordForm):
    weight = forms.FloatField(min_value=0.0, max_value=1.0, initial=1.0)

    class Meta:
        model = ConceptLink
        fields = ["source", "relation", "target", "weight"]


@admin.register(ConceptLink)
class LinkAdmin(RecordAdmin):
    form = LinkForm
    list_display = (
        column("source", _("from"), order="source_id"),
        column("relation", _("relation")),
        column("target", _("to"), order="target_id"),
        column(
            "memoir",
            _("memoir"),
            order="source__memoir__name",
            shown=lambda row: row.source.memoir.name,
        ),
        column("weight", _("weight")),
        column("origin", _("written by"), shown=lambda r: gettext(str(r.origin))),
    )
    list_display_links = (list_display[1],)
    list_filter = ("relation", "source__memoir")
    list_select_related = ("source__memoir", "target")
    autocomplete_fields = ("source", "target")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The ends and the relation are what the link is; a new one is another."""
        return ("source", "relation", "target", "origin", "created_at") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: ConceptLink, form: Any, change: bool
    ) -> None:
        memoir, who = obj.source.memoir.name, caller(request)
        with undoable(request, lambda: _row(obj)):
            if change:
                links.update_link(memoir, **_ends(obj), weight=obj.weight, caller=who)
            else:
                made = links.link(memoir, **_ends(obj), weight=obj.weight, caller=who)
                obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: ConceptLink) -> None:
        rows = _row(obj)
        with undoable(request, lambda: rows):
            links.delete_link(obj.source.memoir.name, **_ends(obj))


def _row(link: ConceptLink) -> list[QuerySet[Any]]:
    return [ConceptLink.objects.filter(pk=link.pk)]


def _ends(link: ConceptLink) -> dict[str, Any]:
    return {
        "source": link.source.name,
        "target": link.target.name,
        "relation": link.relation,
    }


@admin.register(ConceptRevision)
class ConceptRevisionAdmin(ReadOnlyAdmin):
    list_display = (
        column("concept", _("concept"), order="concept_id"),
        column("revision", _("revision")),
        column("operation", _("what")),
        column("surface", _("through")),
        column("origin", _("who"), shown=lambda row: gettext(str(row.origin))),
        column("at", _("when")),
    )
    list_filter = ("operation", "origin")
    list_select_related = ("concept",)

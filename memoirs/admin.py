"""The admin pages of memoirs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from icm_site.model_admin import (
    ReadOnlyAdmin,
    RecordAdmin,
    RecordForm,
    Text,
    Words,
    caller,
)
from icm_site.text import cut
from memoirs import links, write
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
    list_display = ("name", "concept_count", "updated_at")
    readonly_fields = ("ulid", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memoir]:
        return Memoir.objects.with_counts()

    @admin.display(description="concepts", ordering="concept_count")
    def concept_count(self, memoir: Memoir) -> int:
        return memoir.concept_count

    def save_model(
        self, request: HttpRequest, obj: Memoir, form: Any, change: bool
    ) -> None:
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
        write.delete_memoir(obj.name)


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
        *("name", "memoir", "meaning", "confidence", "revision", "origin"),
        "updated_at",
    )
    list_filter = ("origin", "memoir")
    list_select_related = ("memoir",)
    search_fields = ("name_index", "definition_index", "labels_index")
    readonly_fields = ("ulid", "revision", "origin", "created_at", "updated_at")

    @admin.display(description="definition")
    def meaning(self, concept: Concept) -> str:
        return cut(concept.definition, SHOWN_BYTES)

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
        write.delete_concept(obj.memoir.name, obj.name)


class LinkForm(RecordForm):
    weight = forms.FloatField(min_value=0.0, max_value=1.0, initial=1.0)

    class Meta:
        model = ConceptLink
        fields = ["source", "relation", "target", "weight"]


@admin.register(ConceptLink)
class LinkAdmin(RecordAdmin):
    form = LinkForm
    list_display = ("source", "relation", "target", "memoir", "weight", "origin")
    list_display_links = ("relation",)
    list_filter = ("relation", "source__memoir")
    list_select_related = ("source__memoir", "target")
    autocomplete_fields = ("source", "target")

    @admin.display(ordering="source__memoir__name")
    def memoir(self, link: ConceptLink) -> str:
        return link.source.memoir.name

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The ends and the relation are what the link is; a new one is another."""
        return ("source", "relation", "target", "origin", "created_at") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: ConceptLink, form: Any, change: bool
    ) -> None:
        memoir, who = obj.source.memoir.name, caller(request)
        if change:
            links.update_link(memoir, **_ends(obj), weight=obj.weight, caller=who)
        else:
            made = links.link(memoir, **_ends(obj), weight=obj.weight, caller=who)
            obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: ConceptLink) -> None:
        links.delete_link(obj.source.memoir.name, **_ends(obj))


def _ends(link: ConceptLink) -> dict[str, Any]:
    return {
        "source": link.source.name,
        "target": link.target.name,
        "relation": link.relation,
    }


@admin.register(ConceptRevision)
class ConceptRevisionAdmin(ReadOnlyAdmin):
    list_display = ("concept", "revision", "operation", "surface", "origin", "at")
    list_filter = ("operation", "origin")
    list_select_related = ("concept",)

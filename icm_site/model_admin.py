"""What the admin pages of all apps share; imports no app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextareaWidget, AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect

from icm_site.caller import Caller
from icm_site.errors import IcmError
from icm_site.text_filter import containing

if TYPE_CHECKING:
    _Form = forms.ModelForm[Any]
    _Admin = admin.ModelAdmin[Any]
else:
    # Only the stubs make them generic.
    _Form, _Admin = forms.ModelForm, admin.ModelAdmin

REFUSED = "icm.refused"


def caller(request: HttpRequest) -> Caller:
    """The person at the admin as the caller of what writes."""
    name = request.user.get_username()
    return Caller(surface="admin", origin="user", details={"user": name})


class Text(forms.CharField):
    """A text as it was typed; browsers send each line end as two characters."""

    widget = AdminTextareaWidget(attrs={"rows": 6})

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class Words(forms.CharField):
    """A list of words, shown and typed with commas between them."""

    widget = AdminTextInputWidget(attrs={"size": 60})

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return [word.strip() for word in str(text).split(",") if word.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(list(initial or []) != self.to_python(data))


class RecordForm(_Form):
    """A form that shows why the last try to write was refused."""

    refused = ""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.refused:
            raise ValidationError(self.refused)
        return cleaned

    def changes(self) -> dict[str, Any]:
        """The fields that the person changed, with their new values."""
        return {name: self.cleaned_data[name] for name in self.changed_data}


class RecordAdmin(_Admin):
    """A list with search over index columns, and a form that writes by functions.

    A subclass writes in `save_model` and `delete_model`; an IcmError there undoes
    everything and comes back as the form's error, beside what was typed.
    """

    form = RecordForm
    list_per_page = 50
    # Counting all rows besides those found costs a second pass.
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        columns = list(self.get_search_fields(request))
        if not search_term.strip() or not columns:
            return queryset, False
        return containing(queryset, search_term, columns), False

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        made = super().get_form(request, *args, **kwargs)
        refused = request.META.get(REFUSED, "")
        return type(made.__name__, (made,), {"refused": refused}) if refused else made

    def changeform_view(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except IcmError as error:
            request.META[REFUSED] = error.message
        return super().changeform_view(request, *args, **kwargs)

    def delete_view(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        try:
            return super().delete_view(request, *args, **kwargs)
        except IcmError as error:
            self.message_user(request, error.message, messages.ERROR)
        return HttpResponseRedirect("../change/")

    def get_deleted_objects(
        self, objs: Iterable[Any], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """The rows themselves: what goes with them may be thousands."""
        rows = [str(row) for row in objs]
        return rows, {str(self.opts.verbose_name_plural): len(rows)}, set(), []

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            for row in queryset:
                self.delete_model(request, row)

    def say_masked(self, request: HttpRequest, kinds: Sequence[str]) -> None:
        """Tell which kinds of secrets were masked in what was written."""
        if kinds:
            text = f"Masked before it was written: {', '.join(kinds)}."
            self.message_user(request, text, messages.WARNING)


class ReadOnlyAdmin(RecordAdmin):
    """Pages on which nothing is added, changed or erased."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False


def run_action(
    model_admin: RecordAdmin, request: HttpRequest, work: Callable[[], str]
) -> None:
    """Run the work of a list's action; its answer or refusal becomes a message."""
    try:
        model_admin.message_user(request, work(), messages.SUCCESS)
    except IcmError as error:
        model_admin.message_user(request, error.message, messages.ERROR)

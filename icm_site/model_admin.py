"""What the admin pages of all apps share; imports no app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextareaWidget, AdminTextInputWidget
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from icm_site import undoing
from icm_site.caller import Caller
from icm_site.errors import IcmError
from icm_site.text_filter import containing

if TYPE_CHECKING:
    _Form = forms.ModelForm[Any]
    _Admin = admin.ModelAdmin[Any]
    _Paginator = Paginator[Any]
else:
    # Only the stubs make them generic.
    _Form, _Admin, _Paginator = forms.ModelForm, admin.ModelAdmin, Paginator

REFUSED = "icm.refused"
# Before the id in a message's tags: the page puts a button beside the text.
UNDO = "undo-"
# In a request's META: what takes back the acts that the next message is about.
UNDOS = "icm.undos"


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


class KeysFirst(_Paginator):
    """Pages whose keys are sorted first: whole rows are slow to sort."""

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        rows: Any = self.object_list
        keys = rows.values_list("pk", flat=True)[start : start + self.per_page]
        return Page(rows.filter(pk__in=list(keys)), number, self)


class RecordAdmin(_Admin):
    """A list with search over index columns, and a form that writes by functions.

    A subclass writes in `save_model` and `delete_model`; an IcmError there undoes
    everything and comes back as the form's error, beside what was typed.
    """

    form = RecordForm
    change_list_template = "pages/list.html"
    paginator = KeysFirst
    list_per_page = 50
    # Counting all rows besides those found costs a second pass.
    show_full_result_count = False
    # Each number beside a filter is a count over all rows.
    show_facets = admin.ShowFacets.NEVER

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        columns = list(self.get_search_fields(request))
        if not search_term.strip() or not columns:
            return queryset, False
        return containing(queryset, search_term, columns), False

    def changelist_view(
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """The list under its own name, not under what may be done in it."""
        title = capfirst(_(str(self.opts.verbose_name_plural)))
        return super().changelist_view(
            request, {"title": title, **(extra_context or {})}
        )

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

    def message_user(
        self,
        request: HttpRequest,
        message: Any,
        level: int | str = messages.INFO,
        extra_tags: str = "",
        fail_silently: bool = False,
    ) -> None:
        """A message; what tells of a success has its undo beside it."""
        if level == messages.SUCCESS and not extra_tags:
            undos = request.META.pop(UNDOS, [])
            if undo := undoing.together(undos, undoing.ACTS.take_back):
                extra_tags = f"{UNDO}{undo}"
        super().message_user(request, message, level, extra_tags, fail_silently)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with transaction.atomic():
            for row in queryset:
                self.delete_model(request, row)

    def say_masked(self, request: HttpRequest, kinds: Sequence[str]) -> None:
        """Tell which kinds of secrets were masked in what was written."""
        if kinds:
            text = _("Masked before it was written: %s.") % ", ".join(kinds)
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


def column(
    name: str,
    title: str | Promise,
    *,
    order: str | None = "",
    shown: Callable[[Any], Any] | None = None,
) -> Any:
    """A column of a list, or a field that is only shown, with a title to translate.

    `order` is what it is sorted by: the column of that name, unless said otherwise;
    None for nothing. `shown` gives the value of a row.
    """

    def value(row: Any) -> Any:
        return shown(row) if shown else getattr(row, name)

    value.__name__ = name
    value.short_description = title  # type: ignore[attr-defined]
    if order is not None:
        value.admin_order_field = order or name  # type: ignore[attr-defined]
    return value


def can_undo(request: HttpRequest, undo: str) -> None:
    """Put an undo beside the next message of success."""
    request.META.setdefault(UNDOS, []).append(undo)


@contextmanager
def undoable(
    request: HttpRequest,
    rows: Callable[[], Iterable[QuerySet[Any]]],
    **options: Any,
) -> Iterator[None]:
    """A block whose work on these rows can be taken back from its message."""
    with undoing.watching(rows, **options) as done:
        yield
    can_undo(request, done.undo)


def say_done(request: HttpRequest, text: str, *, undo: str = "") -> None:
    """A message that something was done; `undo` is what `take_back` understands."""
    tag = f"{UNDO}{undo}" if undo else ""
    messages.success(request, text, extra_tags=tag)


def back(request: HttpRequest, *, otherwise: str) -> HttpResponseRedirect:
    """To the page that the request names in `next`, if that is one of ours."""
    wanted = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return HttpResponseRedirect(wanted if ours else otherwise)


def run_action(
    model_admin: RecordAdmin, request: HttpRequest, work: Callable[[], tuple[str, str]]
) -> None:
    """Run the work of a list's action; what it says or refuses becomes a message.

    `work` returns the text and what undoes it, empty for nothing.
    """
    try:
        text, undo = work()
    except IcmError as error:
        model_admin.message_user(request, error.message, messages.ERROR)
        return
    say_done(request, text, undo=undo)


def require(request: HttpRequest, permission: str) -> None:
    """Raises PermissionDenied where the login lacks it."""
    if not request.user.has_perm(permission):
        raise PermissionDenied


def own_page(
    request: HttpRequest, template: str, *, title: str | Promise, **context: Any
) -> TemplateResponse:
    """A page of ours with the frame of the admin around it."""
    frame = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, frame)

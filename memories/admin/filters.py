"""The filters beside the list of memories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.core.cache import cache
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories import embedding
from memories.models import (
    Memory,
    MemoryVector,
    Project,
    State,
    in_state,
    topic_key,
)

NAMES_SHOWN = 25
# To find all hosts every row is read; new ones may come a minute late.
HOSTS_KEPT = 60


class ListFilter(admin.SimpleListFilter):
    """A filter that shows the chosen value even where it is none of those listed."""

    def _with_chosen(
        self, request: HttpRequest, found: list[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        chosen = request.GET.get(str(self.parameter_name))
        if chosen and chosen not in dict(found):
            found.append((chosen, chosen))
        return found


class StateFilter(admin.SimpleListFilter):
    """Live memories unless others are asked for."""

    title = _("state")
    parameter_name = "state"
    everything = "any"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        hidden = [(value, gettext(value)) for value in State.values if value != "live"]
        return [*hidden, (self.everything, gettext("any"))]

    def choices(self, changelist: Any) -> Any:
        usual, *others = super().choices(changelist)
        return [{**usual, "display": gettext("live")}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == self.everything:
            return queryset
        return queryset.filter(in_state(self.value() or State.LIVE))


class TopicFilter(ListFilter):
    """The largest topics; the others are found by search, or from the topics' page."""

    title = _("topic")
    parameter_name = "topic"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        rows = (
            Memory.objects.live()
            .order_by()
            .values_list("topic_key")
            .annotate(count=Count("id"))
            .order_by("-count", "topic_key")
        )
        found = [(key, f"{key} ({count})") for key, count in rows[:NAMES_SHOWN]]
        return self._with_chosen(request, found)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(topic_key=topic_key(value)) if value else queryset


class ProjectFilter(ListFilter):
    """The projects seen last."""

    title = _("project")
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = Project.objects.order_by("-last_seen").values_list("name", flat=True)
        return self._with_chosen(request, [(n, n) for n in names[:NAMES_SHOWN]])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if not value:
            return queryset
        return queryset.filter(pk__in=Memory.objects.in_project(value))


class HostFilter(ListFilter):
    """The agents' programs that have stored something."""

    title = _("written by")
    parameter_name = "host"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        known = cache.get_or_set("icm.hosts", _hosts, HOSTS_KEPT) or []
        return self._with_chosen(request, [(name, name) for name in known])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(host=self.value()) if self.value() else queryset


def _hosts() -> list[str]:
    rows = Memory.objects.exclude(host="").order_by("host")
    return list(rows.values_list("host", flat=True).distinct()[:NAMES_SHOWN])


class BandFilter(admin.SimpleListFilter):
    """A filter by a few named ranges; `bands`: key -> (title, from, to)."""

    bands: ClassVar[dict[str, tuple[Promise, Any, Any]]]
    column: ClassVar[str]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(key, title) for key, (title, *_range) in self.bands.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in self.bands:
            return queryset
        _title, low, high = self.bands[str(self.value())]
        if low is not None:
            queryset = queryset.filter(**{f"{self.column}__gte": self.bound(low)})
        if high is not None:
            queryset = queryset.filter(**{f"{self.column}__lt": self.bound(high)})
        return queryset

    def bound(self, value: Any) -> Any:
        return value


class WeightFilter(BandFilter):
    title = _("weight")
    parameter_name = "weight"
    column = "usage__weight"
    bands = {
        "full": (_("0.8 and more"), 0.8, None),
        "middle": (_("0.5 to 0.8"), 0.5, 0.8),
        "low": (_("0.1 to 0.5"), 0.1, 0.5),
        "fading": (_("less than 0.1"), None, 0.1),
    }


class AgeFilter(BandFilter):
    title = _("age")
    parameter_name = "age"
    column = "created_at"
    bands = {
        "day": (_("today"), timedelta(days=1), None),
        "week": (_("this week"), timedelta(days=7), None),
        "month": (_("this month"), timedelta(days=30), None),
        "older": (_("older than a month"), None, timedelta(days=30)),
        "old": (_("older than a year"), None, timedelta(days=365)),
    }

    def bound(self, value: timedelta) -> Any:
        return timezone.now() - value


class CoverageFilter(admin.SimpleListFilter):
    """Whether search by meaning can find a memory."""

    title = _("found by meaning")
    parameter_name = "embedded"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("yes")), ("no", _("not yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("yes", "no"):
            return queryset
        vectors = MemoryVector.objects.filter(
            memory=OuterRef("pk"), model=embedding.database_model()
        )
        has = Exists(vectors)
        return queryset.filter(has if self.value() == "yes" else ~has)

"""Pages and answers that belong to no app."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from icm_site import charts, figures
from icm_site.model_admin import own_page, require


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Say that the server answers, and nothing else: anyone may ask."""
    return JsonResponse({"status": "ok"})


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    """What the memory holds and what it is used for, at a glance."""
    require(request, "memories.view_memory")
    found = figures.read(now=timezone.now())
    return own_page(
        request,
        "pages/dashboard.html",
        title=_("Dashboard"),
        place="dashboard",
        figures=found,
        covered=_share(found.coverage.embedded, found.coverage.total),
        largest=max((count for _name, count in found.topics), default=1),
        charts=_charts(found),
    )


def _share(part: int, whole: int) -> int:
    """Percent, 100 only where nothing is missing."""
    return int(100 * part / whole) if whole else 0


def _charts(found: figures.Figures) -> dict[str, str]:
    days, active = (
        [date_format(day, "SHORT_DATE_FORMAT") for day in series]
        for series in (found.days, found.active_days)
    )
    ends = [active[0], active[len(active) // 2], active[-1]]
    bands = [f"{n / 10:.1f}" for n in range(len(found.weights) + 1)]

    def by_day(values: list[int], title: str, look: str = "") -> str:
        hints = [f"{day}: {value}" for day, value in zip(active, values, strict=True)]
        return charts.columns(values, ends, title, hints=hints, look=look)

    return {
        "growth": charts.growth(
            found.growth, [days[0], days[-1]], gettext("Memories stored")
        ),
        "weights": charts.columns(found.weights, bands, gettext("Weights")),
        "shown": by_day(found.shown, gettext("Memories shown to agents")),
        "hooks": by_day(found.hook_runs, gettext("Runs of hooks")),
        "tokens": by_day(found.tokens, gettext("Tokens injected"), "two"),
    }

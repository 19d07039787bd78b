"""Pages of a list by the place of their last row, not by a number to skip."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.template import loader
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from icm_site.errors import InvalidInput

LIMIT, MAX_LIMIT = 50, 500
PREVIOUS_AND_NEXT = "rest_framework/pagination/previous_and_next.html"


class Order(NamedTuple):
    """By which column a list runs; the integer key parts equal values."""

    name: str
    column: str
    falling: bool


class Place(NamedTuple):
    """A row of the list, and the direction in which to go on from it."""

    value: Any
    key: int
    back: bool


class KeysetPagination(BasePagination):
    """Each page costs the same, and none is shown twice while rows come and go.

    Unlike the framework's own cursors also where thousands of rows have one value.
    """

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any]:
        """One page of the rows; the orders allowed are the view's `orderings`."""
        order = _order(request.query_params.get("ordering"), view.orderings)
        limit = _limit(request.query_params.get("limit"))
        place = _read(request.query_params.get("cursor"), order)
        rows = _page(queryset, order, place, limit)
        self.base_url = request.build_absolute_uri()
        back = place is not None and place.back
        more = len(rows) > limit
        rows = rows[:limit][::-1] if back else rows[:limit]
        self.next_url = self._url(rows[-1:], order, back=False, there=more or back)
        before = more if back else place is not None
        self.previous_url = self._url(rows[:1], order, back=True, there=before)
        return rows

    def _url(
        self, rows: list[Model], order: Order, *, back: bool, there: bool
    ) -> str | None:
        if not rows or not there:
            return None
        place = Place(_value(rows[0], order.column), cast(int, rows[0].pk), back)
        return replace_query_param(self.base_url, "cursor", _written(place, order))

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {"next": self.next_url, "previous": self.previous_url, "results": data}
        )

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The parameters of pages as OpenAPI has them."""
        names = [sign + name for name in view.orderings for sign in ("", "-")]
        limits = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
        rows = [
            ("limit", "Rows on a page.", {**limits, "default": LIMIT}),
            (
                "ordering",
                "What the list runs by; falling with a minus.",
                {"type": "string", "enum": names, "default": f"-{names[0]}"},
            ),
            (
                "cursor",
                "The page, as `next` and `previous` name it.",
                {"type": "string"},
            ),
        ]
        return [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": text,
                "schema": schema,
            }
            for name, text, schema in rows
        ]

    def to_html(self) -> str:
        template = loader.get_template(PREVIOUS_AND_NEXT)
        urls = {"previous_url": self.previous_url, "next_url": self.next_url}
        return template.render(urls)


def _order(asked: str | None, allowed: Mapping[str, str]) -> Order:
    name = asked if asked is not None else f"-{next(iter(allowed))}"
    falling, plain = name.startswith("-"), name.removeprefix("-")
    if plain not in allowed:
        names = ", ".join(allowed)
        raise InvalidInput(f"unknown ordering {name!r}: use one of {names}, or -name")
    return Order(name, allowed[plain], falling)


def _limit(asked: str | None) -> int:
    if asked is None:
        return LIMIT
    number = int(asked) if re.fullmatch("[0-9]{1,9}", asked) else 0
    if not 1 <= number <= MAX_LIMIT:
        raise InvalidInput(f"limit must be a number from 1 to {MAX_LIMIT}")
    return number


def _page(
    rows: QuerySet[Any], order: Order, place: Place | None, limit: int
) -> list[Any]:
    """The rows after the place, nearest first, and one more if there is one."""
    falling = order.falling != (place is not None and place.back)
    if place is not None:
        side = "lt" if falling else "gt"
        rows = rows.filter(
            Q(**{f"{order.column}__{side}": place.value})
            | Q(**{order.column: place.value, f"pk__{side}": place.key})
        )
    relation = order.column.rpartition("__")[0]
    if relation:  # so that its table, which may have the index, can be read first
        rows = rows.filter(**{f"{relation}__isnull": False})
    sign = "-" if falling else ""
    ordered = rows.order_by(f"{sign}{order.column}", f"{sign}pk")
    # The keys first: where no index has the order, whole rows are slow to sort.
    keys = list(ordered.values_list("pk", flat=True)[: limit + 1])
    found = rows.in_bulk(keys)
    return [found[key] for key in keys if key in found]


def _value(row: Any, column: str) -> Any:
    for name in column.split("__"):
        row = getattr(row, name)
    return row.isoformat() if hasattr(row, "isoformat") else row


def _written(place: Place, order: Order) -> str:
    return signing.dumps(list(place), salt=f"page {order.name}")


def _read(text: str | None, order: Order) -> Place | None:
    """The place of a cursor; signed, so that it holds only what a list gave."""
    if text is None:
        return None
    try:
        return Place(*signing.loads(text, salt=f"page {order.name}"))
    except signing.BadSignature:
        raise InvalidInput("the cursor is not one that this list gave") from None

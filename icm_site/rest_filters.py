"""Query parameters of lists: what each one does, and how it is described."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, cast

from django.db.models import Exists, Q, QuerySet
from rest_framework import filters
from rest_framework.request import Request
from rest_framework.views import APIView

from icm_site.errors import InvalidInput
from icm_site.ulid import is_ulid

Rows = QuerySet[Any]
TEXT: Mapping[str, Any] = {"type": "string"}
MOMENT: Mapping[str, Any] = {
    "type": "string",
    "anyOf": [{"format": "date-time"}, {"format": "date"}],
}
SHOWN = 64


@dataclass(frozen=True)
class Filter:
    """One parameter: `apply(rows, value)`, a sentence, and the schema of its value.

    `apply` raises InvalidInput for a value that it does not know.
    """

    apply: Callable[[Rows, str], Rows]
    text: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)


def equal(column: str, text: str) -> Filter:
    """Rows whose column has exactly this text."""
    return Filter(lambda rows, value: rows.filter(**{column: value}), text)


def choice(column: str, values: Sequence[str], text: str) -> Filter:
    """Rows whose column has one of the values that there are."""

    def apply(rows: Rows, value: str) -> Rows:
        return rows.filter(**{column: one_of(column, value, values)})

    return Filter(apply, text, {"type": "string", "enum": list(values)})


def row_id(lookups: Sequence[str], text: str) -> Filter:
    """Rows that belong to the row of a public id by one of the lookups."""

    def apply(rows: Rows, value: str) -> Rows:
        wanted = value.strip().upper()
        if not is_ulid(wanted):
            raise InvalidInput(f"not an id: {value.strip()[:SHOWN]!r}")
        held = Q()
        for lookup in lookups:
            held |= Q(**{lookup: wanted})
        return rows.filter(held)

    return Filter(apply, text, {"type": "string", "minLength": 26, "maxLength": 26})


def number(lookup: str, text: str) -> Filter:
    """Rows whose column is at least or at most a number from 0 to 1."""

    def apply(rows: Rows, value: str) -> Rows:
        return rows.filter(**{lookup: _number(value)})

    return Filter(apply, text, {"type": "number", "minimum": 0, "maximum": 1})


def flag(held: Exists | str, text: str) -> Filter:
    """Rows of which something is true, or is not: a condition, or a column's name."""
    condition = Q(**{held: True}) if isinstance(held, str) else held

    def apply(rows: Rows, value: str) -> Rows:
        yes = one_of("value", value.lower(), ("true", "false")) == "true"
        return rows.filter(condition if yes else ~condition)

    return Filter(apply, text, {"type": "boolean"})


def moments(column: str, name: str = "") -> dict[str, Filter]:
    """The two filters `<name>_after` and `<name>_before` of a time."""
    name = name or column.removesuffix("_at")

    def at(lookup: str, text: str) -> Filter:
        def apply(rows: Rows, value: str) -> Rows:
            return rows.filter(**{lookup: moment(value)})

        return Filter(apply, text, MOMENT)

    how = "a date, or a time as in 2026-05-01T12:00:00Z; without a zone UTC is meant"
    return {
        f"{name}_after": at(f"{column}__gte", f"Only from this time on: {how}."),
        f"{name}_before": at(f"{column}__lt", f"Only before this time: {how}."),
    }


def moment(value: str) -> datetime:
    """A time from a date or a time in the form of ISO 8601. Raises InvalidInput."""
    # A plus sign in an address is a blank.
    plain = value.strip().replace(" ", "+") if "T" in value else value.strip()
    try:
        found = datetime.fromisoformat(plain)
        known = found if found.tzinfo else found.replace(tzinfo=UTC)
        return known.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"not a time: {value[:SHOWN]!r}; write 2026-05-01 or 2026-05-01T12:00:00Z"
        ) from None


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """The value, if it is one of those known. Raises InvalidInput."""
    known = list(known)
    if value not in known:
        names = ", ".join(known)
        raise InvalidInput(f"unknown {name} {value[:SHOWN]!r}: use one of {names}")
    return value


def _number(value: str) -> float:
    try:
        found = float(value) if value.isascii() else math.nan
    except ValueError:
        found = math.nan
    if not 0.0 <= found <= 1.0:
        raise InvalidInput(f"not a number from 0 to 1: {value[:SHOWN]!r}")
    return found


class Listing(Protocol):
    """What a view says of its list."""

    filters: Mapping[str, Filter]
    searches: bool

    def search(self, rows: Rows, words: str) -> Rows:
        """The rows that hold all of the words."""


class ParameterFilter(filters.BaseFilterBackend):
    """Query parameters by the view's table: name -> Filter.

    An unknown parameter is refused, and so is one that is given twice: silently they
    would answer with too much.
    """

    common = frozenset({"cursor", "limit", "ordering", "search", "format"})

    def filter_queryset(self, request: Request, queryset: Rows, view: APIView) -> Rows:
        listing = cast(Listing, view)
        for name, values in request.query_params.lists():
            if name not in listing.filters and name not in self.common:
                known = ", ".join(sorted([*listing.filters, *self.common]))
                raise InvalidInput(
                    f"unknown parameter {name[:SHOWN]!r}: use one of {known}"
                )
            if len(values) > 1:
                raise InvalidInput(f"{name} is given more than once")
            if name in listing.filters:
                queryset = listing.filters[name].apply(queryset, values[0])
        words = request.query_params.get("search", "")
        return listing.search(queryset, words) if words else queryset

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """The parameters as OpenAPI has them."""
        table = dict(cast(Listing, view).filters)
        if cast(Listing, view).searches:
            table["search"] = Filter(lambda rows, _: rows, "Rows with all these words.")
        return [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": entry.text,
                "schema": dict(entry.schema),
            }
            for name, entry in table.items()
        ]

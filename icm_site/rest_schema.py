"""The OpenAPI description of the rows: from the tables of the viewsets."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from pydantic import create_model

from icm_site import __version__
from icm_site.operation import Failure, Result
from icm_site.pagination import KeysetPagination
from icm_site.rest import RecordViewSet
from icm_site.rest_filters import ParameterFilter
from icm_site.web_login import for_known

TITLE = "ICM: rows"
DESCRIPTION = """What the memory holds, row by row: list, filter, page, edit, delete.

New rows and everything that has an input of its own are operations under `/ops/`."""
USUAL_FAILURES = (400, 401, 403, 429, 503)
# What a row by its id may answer besides.
ROW_FAILURES = (404, 409, 413, 415)


class RecordSchema(AutoSchema):
    """Describes the routes of a `RecordViewSet`."""

    @property
    def listing(self) -> RecordViewSet:
        return cast(RecordViewSet, self.view)

    def get_auth(self) -> list[dict[str, Any]]:
        return [{"token": []}]

    @property
    def _lists(self) -> bool:
        return self.listing.action == "list"

    def _is_list_view(self, serializer: Any = None) -> bool:
        # The page is a record of its own, not a row that a paginator wraps.
        return False

    def _get_filter_parameters(self) -> list[dict[str, Any]]:
        if not self._lists:
            return []
        return ParameterFilter().get_schema_operation_parameters(self.view)

    def _get_pagination_parameters(self) -> list[dict[str, Any]]:
        if not self._lists:
            return []
        return KeysetPagination().get_schema_operation_parameters(self.view)

    def _get_format_parameters(self) -> list[dict[str, Any]]:
        return []

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"]

    def get_operation_id(self) -> str:
        if self._lists:
            return f"{self.get_tags()[0]}_list"
        return super().get_operation_id()

    def get_response_serializers(self) -> Any:
        failures = USUAL_FAILURES + (() if self._lists else ROW_FAILURES)
        return {200: self._answer(), **dict.fromkeys(failures, Failure)}

    def _answer(self) -> type[Result]:
        noun, record = self.listing.noun.title(), self.listing.record
        if self._lists:
            return create_model(
                f"{noun}Page",
                __base__=Result,
                next=(str | None, ...),
                previous=(str | None, ...),
                results=(list[record], ...),  # type: ignore[valid-type]
            )
        if self.method == "PATCH" and self.listing.edit_adds:
            more: dict[str, Any] = _required(self.listing.edit_adds)
            return create_model(f"{noun}Edited", __base__=record, **more)
        if self.method == "DELETE":
            more = _required({"id": str, **self.listing.deletion_adds})
            return create_model(f"{noun}Deleted", __base__=Result, **more)
        return record


def _required(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (kind, ...) for name, kind in fields.items()}


@functools.cache
def openapi() -> dict[str, Any]:
    """The description; the routes do not change while a process runs."""
    generator: Any = SchemaGenerator
    found = generator(title=TITLE, version=__version__).get_schema(public=True)
    found["info"] = {"title": TITLE, "version": __version__, "description": DESCRIPTION}
    return cast(dict[str, Any], found)


@for_known
def description(request: HttpRequest) -> HttpResponse:
    """The description for programs."""
    return JsonResponse(openapi())


@for_known
def docs(request: HttpRequest) -> HttpResponse:
    """The description for people, by the page and the files that ninja packages."""
    chosen = {
        "layout": "BaseLayout",
        "deepLinking": True,
        "url": reverse("rest-openapi"),
    }
    context = {
        "swagger_settings": json.dumps(chosen),
        "api": {"title": TITLE},
        "add_csrf": True,
    }
    return render(request, "ninja/swagger.html", context)

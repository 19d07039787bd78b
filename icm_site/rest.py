"""What the REST viewsets of all apps share; imports no app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from icm_site.caller import Caller
from icm_site.errors import InvalidInput, NotFound
from icm_site.operation import Result
from icm_site.pagination import KeysetPagination
from icm_site.rest_filters import Filter, ParameterFilter, Rows
from icm_site.rest_hooks import principal
from icm_site.ulid import is_ulid


class RecordList(serializers.ListSerializer[Any]):
    """Many rows at once, with a constant number of queries."""

    def to_representation(self, data: Any) -> list[Any]:
        child = cast(RecordSerializer, self.child)
        return [row.model_dump(mode="json") for row in child.records(list(data))]


class RecordSerializer(serializers.Serializer[Any]):
    """Rows go out as the records that every surface shows.

    The fields of a subclass are what an edit may change.
    """

    class Meta:
        list_serializer_class = RecordList

    def records(self, rows: Sequence[Any]) -> Sequence[Result]:
        """The records of these rows, in their order."""
        raise NotImplementedError

    def to_representation(self, instance: Any) -> dict[str, Any]:
        return self.records([instance])[0].model_dump(mode="json")


class RecordViewSet(GenericViewSet[Any]):
    """List, read, edit and delete rows by their public ids.

    A subclass writes through the functions of its app, never through the serializer.
    """

    lookup_field = "ulid"
    lookup_url_kwarg = "id"
    http_method_names = ["get", "patch", "delete", "head", "options"]
    filter_backends = [ParameterFilter]
    pagination_class = KeysetPagination

    # What a row is called, for people.
    noun = "row"
    filters: Mapping[str, Filter] = {}
    # What a row goes out as; what an edit and a deletion answer besides it, by type.
    record: type[Result] = Result
    edit_adds: Mapping[str, Any] = {}
    deletion_adds: Mapping[str, Any] = {}
    # Whether `search` is there.
    searches = True
    # What a list may be ordered by -> the column; the first one, falling, is usual.
    orderings: Mapping[str, str] = {"created_at": "created_at"}

    def search(self, rows: Rows, words: str) -> Rows:
        """The rows that hold all of the words."""
        raise NotImplementedError

    def find(self, identifier: str) -> Any:
        """The row of a public id. Raises NotFound."""
        wanted = identifier.strip().upper()
        rows = self.get_queryset()
        row = rows.filter(ulid=wanted).first() if is_ulid(wanted) else None
        if row is None:
            raise NotFound(f"{self.noun} not found: {identifier.strip()[:64]}")
        return row

    @property
    def caller(self) -> Caller:
        return principal(self.request).caller

    def get_object(self) -> Any:
        return self.find(self.kwargs["id"])

    def changes(self) -> dict[str, Any]:
        """The fields that an edit names, checked for their types."""
        given = self.get_serializer(data=self.request.data, partial=True)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def shown(self, row: Any, **more: Any) -> Response:
        """The answer that shows one row, with what an edit adds to it."""
        data = self.get_serializer(row).data
        # As it came from the serializer, the browser's form starts with its values.
        return Response({**data, **more} if more else data)

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.shown(self.get_object())


class ReadOnlyRecordViewSet(RecordViewSet):
    """Rows that are only read here."""

    http_method_names = ["get", "head", "options"]
    searches = False

    def search(self, rows: Rows, words: str) -> Rows:
        raise InvalidInput("this list has no search")

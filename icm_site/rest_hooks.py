"""What settings hand to the REST framework: who asks, what they may, what failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from django.http import Http404
from rest_framework import (
    authentication,
    exceptions,
    negotiation,
    parsers,
    permissions,
)
from rest_framework.request import Request
from rest_framework.response import Response

from icm_site import auth, http_errors
from icm_site.auth import Principal
from icm_site.errors import IcmError, InvalidInput

if TYPE_CHECKING:
    # The framework imports this module while it makes its views.
    from rest_framework.views import APIView


class Refused(exceptions.APIException):
    """An error of ours where the framework must know that it is one."""

    def __init__(self, error: IcmError) -> None:
        super().__init__(error.message)
        self.error = error


class Authentication(authentication.BaseAuthentication):
    """The token or the login, as everywhere on HTTP."""

    def authenticate(self, request: Request) -> tuple[Any, None]:
        try:
            return auth.identify(request._request), None
        except IcmError as error:
            raise Refused(error) from error


class Parser(parsers.JSONParser):
    """The framework's JSON, which does not know what nests too deep for Python."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError:
            raise InvalidInput("the body is nested too deep") from None


class MayWrite(permissions.BasePermission):
    """Whoever is known may read; a read-only token may not write."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method not in permissions.SAFE_METHODS:
            auth.require_write(principal(request))
        return True


class Negotiation(negotiation.DefaultContentNegotiation):
    """The framework's choice of a form; an unknown one is a sentence."""

    def filter_renderers(self, renderers: Any, format: str) -> Any:
        try:
            return super().filter_renderers(renderers, format)
        except Http404:
            known = ", ".join(renderer.format for renderer in renderers)
            raise InvalidInput(
                f"unknown format {format[:64]!r}: use one of {known}"
            ) from None


def principal(request: Request) -> Principal:
    """Who asks."""
    return cast(Principal, request.user)


def on_error(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The framework's hook: one sentence, or None for a fault of ours."""
    refused = error.error if isinstance(error, Refused) else None
    explained = refused or http_errors.explain(error)
    if explained is not None:
        extra = http_errors.headers(explained)
        return _answer(explained.message, explained.status, extra)
    if isinstance(error, exceptions.APIException):
        return _answer(_sentence(error.detail), error.status_code, {})
    return None


def _answer(sentence: str, status: int, headers: Mapping[str, str]) -> Response:
    return Response({"error": sentence}, status=status, headers=dict(headers))


def _sentence(detail: Any) -> str:
    """The first of the framework's messages, after the field that it is about."""
    if isinstance(detail, Mapping):
        name, inner = next(iter(detail.items()))
        text = _sentence(inner)
        return text if name == "non_field_errors" else f"{name}: {text}"
    if isinstance(detail, list):
        return _sentence(detail[0])
    text = str(detail).rstrip(".")
    return text[:1].lower() + text[1:]

"""What goes wrong over HTTP, as one sentence in one shape: {"error": …}."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from icm_site.errors import (
    Forbidden,
    IcmError,
    InvalidInput,
    NotFound,
    TooLarge,
    Unauthorized,
)
from icm_site.sqlite import failures, values

logger = logging.getLogger(__name__)

# Where programs ask; elsewhere a person reads the answer in a browser.
PREFIXES = ("/api/", "/ops/")
OF_THE_BODY = ("Content-Type", "Content-Length")
SENTENCES = {
    HTTPStatus.BAD_REQUEST: "the request is malformed",
    HTTPStatus.FORBIDDEN: "this is not allowed",
    HTTPStatus.NOT_FOUND: "there is nothing at this address",
    HTTPStatus.METHOD_NOT_ALLOWED: "this method is not allowed here",
    HTTPStatus.NOT_ACCEPTABLE: "no form of answer that is accepted",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "the body of the request is too large",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal error; the server's log says more",
}


def explain(error: BaseException) -> IcmError | None:
    """An error that one sentence explains; None for a fault of ours."""
    if isinstance(error, IcmError):
        return error
    if isinstance(error, Http404):
        return NotFound(SENTENCES[HTTPStatus.NOT_FOUND])
    if isinstance(error, PermissionDenied):
        return Forbidden(str(error) or SENTENCES[HTTPStatus.FORBIDDEN])
    if isinstance(error, RequestDataTooBig):
        return TooLarge(SENTENCES[HTTPStatus.REQUEST_ENTITY_TOO_LARGE])
    if isinstance(error, SuspiciousOperation):
        return InvalidInput(SENTENCES[HTTPStatus.BAD_REQUEST])
    return failures.explain(error) or values.explain(error, settings.DATABASE_PATH)


def headers(error: IcmError) -> dict[str, str]:
    """The headers that belong to an error."""
    return {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthorized) else {}


def answer(error: IcmError) -> HttpResponse:
    """The response of an error."""
    body = {"error": " ".join(error.message.split())}
    return JsonResponse(body, status=error.status, headers=headers(error))


def usual(status: int, *, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """The response of an error that nobody has worded."""
    known = HTTPStatus(status)
    body = {"error": SENTENCES.get(known, known.phrase.lower())}
    return JsonResponse(body, status=status, headers=headers)


class ErrorsAsSentences:
    """Middleware: whatever fails before or behind a view has the same shape.

    A page for people gets the sentence as its text. Faults of ours stay Django's,
    which logs them; only their page is replaced.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith(PREFIXES) or not _is_bare(response):
            return response
        # What the middleware within has added stays: no framing, no guessed types.
        kept = {k: v for k, v in response.headers.items() if k not in OF_THE_BODY}
        return usual(response.status_code, headers=kept)

    def process_exception(
        self, request: HttpRequest, error: Exception
    ) -> HttpResponseBase | None:
        """The answer for an error of a view that one sentence explains."""
        explained = explain(error)
        if explained is None or isinstance(error, Http404 | PermissionDenied):
            return None
        if request.path.startswith(PREFIXES):
            return answer(explained)
        text = f"{explained.message}\n"
        return HttpResponse(text, content_type="text/plain", status=explained.status)


def _is_bare(response: HttpResponseBase) -> bool:
    """Whether a response is an error that no interface of ours has worded."""
    worded = hasattr(response, "accepted_renderer") or response.headers.get(
        "Content-Type", ""
    ).startswith("application/json")
    return response.status_code >= HTTPStatus.BAD_REQUEST and not worded

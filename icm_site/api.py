"""The verbs over HTTP: every operation of the registry as `POST /ops/<name>`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, NoReturn

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.params import functions as parameters
from ninja.security import HttpBearer
from pydantic import WithJsonSchema, create_model

from icm_site import __version__, auth, http_errors, program_input
from icm_site.auth import Principal
from icm_site.errors import Forbidden, IcmError, InvalidInput
from icm_site.operation import Failure, Operation
from icm_site.registry import OPERATIONS
from icm_site.web_login import for_known
from memories import outgoing

DESCRIPTION = """What agents and programs can ask of the memory.

Each operation is a command of `icm`, and most are tools of `icm serve`. Rows by their
ids are under `/api/`."""
FAILURES = frozenset({400, 401, 403, 404, 409, 413, 429, 503})


class Token(HttpBearer):
    """The token or the login, as everywhere on HTTP."""

    # The page of the documentation then sends the token against forged requests.
    csrf = True

    def __call__(self, request: HttpRequest) -> Principal:
        return auth.identify(request)

    def authenticate(self, request: HttpRequest, token: str) -> NoReturn:
        raise NotImplementedError


api = NinjaAPI(
    title="ICM",
    version=__version__,
    description=DESCRIPTION,
    urls_namespace="ops",
    auth=Token(),
    docs_decorator=for_known,
)


def add(operation: Operation) -> None:
    """Give an operation its route."""
    shown = operation.tool or operation.commands[0]
    schema = program_input.schema(operation, shown)

    def view(request: HttpRequest, arguments: Any) -> HttpResponse:
        principal: Principal = request.auth  # type: ignore[attr-defined]
        if operation.writes:
            auth.require_write(principal)
        caller = principal.caller
        given = program_input.given(operation, shown, arguments)
        params = operation.parse(given, caller=caller, ranges=shown.ranges, fill={})
        result = outgoing.masked(operation.run(params, caller))
        return HttpResponse(result.model_dump_json(), content_type="application/json")

    body = parameters.Body(... if "required" in schema else {})
    view.__annotations__["arguments"] = Annotated[
        dict[str, Any], WithJsonSchema(schema), body
    ]
    # Classes of two apps may share a name, and the schema knows them by name.
    name = f"{operation.name.title().replace('_', '')}Result"
    result = create_model(name, __base__=operation.result)
    api.post(
        f"/{operation.name}",
        operation_id=operation.name,
        summary=operation.description.split("\n\n")[0].replace("\n", " "),
        description=operation.description,
        response={200: result, FAILURES: Failure},
        tags=[operation.name.partition("_")[0]],
    )(view)


@api.exception_handler(IcmError)
def on_icm_error(request: HttpRequest, error: IcmError) -> HttpResponse:
    """A failure that the caller can act on."""
    return http_errors.answer(error)


@api.exception_handler(ValidationError)
def on_no_object(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """All that the framework checks by itself; the operation checks the rest."""
    return http_errors.answer(InvalidInput("the body must be a JSON object"))


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """A failure that the framework found: it cannot read the body."""
    kind = Forbidden if error.status_code == HTTPStatus.FORBIDDEN else InvalidInput
    return http_errors.answer(kind("the body is not valid JSON"))


for entry in OPERATIONS.values():
    if entry.http:
        add(entry)

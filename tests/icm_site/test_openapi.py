"""The descriptions of both HTTP interfaces, and whether these keep to them.

ICM_TEST_SCHEMA_EXAMPLES is how many requests are tried on each route.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import pytest
import schemathesis
from django.contrib.auth import get_user_model
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate
from schemathesis import checks
from schemathesis.core.failures import Failure, FailureGroup

from icm_site import rest_schema
from icm_site.api import api
from icm_site.rest import RecordViewSet
from icm_site.urls import router
from tests.web import Server, command, serving, with_token

EXAMPLES = int(os.environ.get("ICM_TEST_SCHEMA_EXAMPLES", "2"))
DESCRIPTIONS: dict[str, Callable[[], Any]] = {
    "api": rest_schema.openapi,
    "ops": api.get_openapi_schema,
}
# Values that are there, so that an operation gets beyond "not found".
NO_FAULT = checks.not_a_server_error
CHECKS = [
    checks.allow_header_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.status_code_conformance,
]
STORED = {"topic": "decisions-shop", "memoir": "shop", "name": "till", "from": "till"}


def described(which: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(DESCRIPTIONS[which]()))
    return found


@pytest.mark.parametrize("which", DESCRIPTIONS)
def test_a_description_is_valid_openapi(which: str) -> None:
    validate(described(which))


def test_each_list_is_described_with_all_of_its_parameters() -> None:
    paths = described("api")["paths"]
    for noun, found, _ in router.registry:
        viewset = cast(type[RecordViewSet], found)
        given_names = {
            row["name"] for row in paths[f"/api/{noun}/"]["get"]["parameters"]
        }
        assert given_names >= {*viewset.filters, "limit", "ordering", "cursor"}, noun
        assert ("search" in given_names) == viewset.searches


@pytest.mark.django_db
@pytest.mark.parametrize("which", DESCRIPTIONS)
def test_a_description_is_for_those_who_may_use_it(which: str) -> None:
    assert Client().get(f"/{which}/openapi.json").status_code == 401
    found = with_token(read_only=True).get(f"/{which}/openapi.json")
    assert found == described(which)
    asked = Client(headers={"Accept": "text/html"}).get(f"/{which}/docs")
    assert asked.headers["Location"] == f"/admin/login/?next=/{which}/docs"
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    page = client.get(f"/{which}/docs").content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert addresses and all(text.startswith("/static/") for text in addresses)
    assert f"/{which}/openapi.json" in page


@dataclass(frozen=True)
class Filled:
    """A server with a row of each kind and no limit of requests; their ids."""

    server: Server
    ids: list[str]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("openapi")
    config = folder / "config" / "icm-memory" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[web]\nrequests_per_minute = 0\n")
    token = command(folder, "token", "create", "scripts")
    with serving(folder) as running:
        server = dataclasses.replace(running, token=token)
        yield Filled(server, fill(operations(server)))


def fill(program: Callable[..., Any]) -> list[str]:
    """Ids of what was stored through the operations."""
    facts = ["The shop runs on Postgres 16.", "The till prints in Arial."]
    stored = [
        program("memory_store", topic="decisions-shop", content=text) for text in facts
    ]
    memoir = program("memoir_create", name="shop")
    for name in ("till", "store"):
        program("memoir_add_concept", memoir="shop", name=name, definition=name)
    ends = {"from": "till", "to": "store", "memoir": "shop"}
    link = program("memoir_link", relation="depends_on", **ends)
    said = {"context": "Friday", "predicted": "an hour", "corrected": "a day"}
    record = program("feedback_record", topic="deploy", **said)
    return [
        *(row["id"] for row in stored),
        *(row["change"] for row in stored),
        *(memoir["id"], link["link"]["id"], record["feedback"]["id"]),
    ]


def operations(server: Server) -> Callable[..., Any]:
    def call(name: str, /, **arguments: Any) -> Any:
        request = urllib.request.Request(
            f"{server.address}/ops/{name}",
            json.dumps(arguments).encode(),
            {"Authorization": f"Bearer {server.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    return call


@pytest.mark.slow
@pytest.mark.parametrize("which", DESCRIPTIONS)
def test_whatever_is_sent_the_answer_is_one_that_is_described(
    which: str, filled: Filled
) -> None:
    schema: Any = schemathesis.openapi.from_dict(described(which))
    faults = [
        fault
        for operation in schema.get_all_operations()
        for fault in tried(operation.ok(), filled.server, filled.ids)
    ]
    log = filled.server.log.read_text()
    assert faults == []
    assert "Traceback" not in log and filled.server.token not in log


def tried(operation: Any, server: Server, ids: list[str]) -> list[str]:
    """What went wrong in some requests of one route."""

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), real=st.booleans(), which=st.sampled_from(ids))
    def attempt(case: Any, real: bool, which: str) -> None:
        if real:
            put_stored(case, which)
        answer = case.call(
            base_url=server.address,
            headers={"Authorization": f"Bearer {server.token}"},
            timeout=60,
        )
        # A model that is off, or a database that is busy, is an honest 503.
        honest = answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        case.validate_response(answer, checks=CHECKS if honest else [*CHECKS, NO_FAULT])

    try:
        attempt()
    except (FailureGroup, Failure) as error:
        inner = getattr(error, "exceptions", [error])
        return [f"{operation.label}: {fault}" for fault in inner]
    return []


def put_stored(case: Any, identifier: str) -> None:
    """Put what is stored in the place of what was made up."""
    if "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = identifier
    if isinstance(case.body, Mapping):
        known = {"id": identifier, **STORED}
        case.body = {k: known.get(k, v) for k, v in case.body.items()}

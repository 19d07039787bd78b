"""MCP over HTTP: the SDK's client against `icm web`, and who may do what."""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation, TextContent

from icm_site import mcp_http
from icm_site.errors import InvalidInput
from icm_site.registry import TOOLS
from icm_site.web_guard import DRAINED_BYTES
from tests.web import Server, command, serving

T = TypeVar("T")
Mode = Literal["auto", "legacy"]
pytestmark = pytest.mark.slow

SHOP = "The shop runs on Postgres 16."
BAKERY = "The bakery opens at five."
OVER_HTTP = {name for name, (operation, _) in TOOLS.items() if operation.http}
WRITING = sorted(
    name
    for name, (operation, _) in TOOLS.items()
    if operation.http and operation.writes
)


@dataclasses.dataclass(frozen=True)
class Place:
    """A running server and its two tokens."""

    server: Server
    read_only: str

    def ask(self, body: Any, **headers: str) -> tuple[int, Mapping[str, str], str]:
        """One message sent raw: status, headers and text of the answer."""
        usual = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        given = {name.replace("_", "-"): text for name, text in headers.items()}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(
            self.server.address.removeprefix("http://"), timeout=30
        )
        connection.request("POST", "/mcp", sent, usual | given)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.headers), text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("mcp")
    command(folder, "store", "-t", "decisions-shop", "-c", SHOP)
    command(folder, "store", "-t", "decisions-bakery", "-c", BAKERY)
    token = command(folder, "token", "create", "notebook")
    read_only = command(folder, "token", "create", "reader", "--read-only")
    with serving(folder) as running:
        yield Place(dataclasses.replace(running, token=token), read_only)
        log = running.log.read_text()
        assert token not in log and read_only not in log and "Traceback" not in log


def talk(
    place: Place,
    scenario: Callable[[Client], Awaitable[T]],
    *,
    token: str | None = None,
    mode: Mode = "auto",
    query: str = "",
) -> T:
    """Let the scenario talk to the server with the SDK's own client."""
    secret = place.server.token if token is None else token
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    async def run() -> T:
        who = Implementation(name="shop-agent", version="2.1")
        async with httpx2.AsyncClient(headers=headers, timeout=30) as web:
            address = f"{place.server.address}/mcp{query}"
            transport = streamable_http_client(address, http_client=web)
            async with Client(transport, mode=mode, client_info=who) as client:
                return await scenario(client)

    return asyncio.run(run())


async def text(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    return f"failed: {block.text}" if result.is_error else block.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_same_tools_are_there_but_for_those_on_files_of_the_server(
    place: Place, mode: Mode
) -> None:
    async def scenario(client: Client) -> tuple[set[str], str, str]:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        answer = await text(client, "icm_memory_recall", query="postgres", limit=1)
        return tools, answer, client.instructions or ""

    tools, answer, instructions = talk(place, scenario, mode=mode)
    # Without a model there is nothing to embed with.
    assert tools == OVER_HTTP - {"icm_memory_embed_all"}
    assert SHOP in answer and BAKERY not in answer
    assert "icm_memory_recall" in instructions


def test_what_is_stored_carries_the_token_and_the_client(place: Place) -> None:
    async def scenario(client: Client) -> Any:
        said = await text(
            client, "icm_memory_store", topic="errors-shop", content="The pool leaks."
        )
        got = await text(
            client, "icm_memory_get", id=said.split()[2].strip("."), format="json"
        )
        return json.loads(got)

    found = str(talk(place, scenario))
    for part in ("'notebook'", "'agent'", "shop-agent", "'mcp'"):
        assert part in found, (part, found)
    assert "git_commit" not in found


def test_a_project_is_what_the_address_names(place: Place) -> None:
    async def scenario(client: Client) -> str:
        return await text(client, "icm_memory_recall", query="opens runs", limit=9)

    everything = talk(place, scenario)
    assert SHOP in everything and BAKERY in everything
    bakery = talk(place, scenario, query="?project=bakery")
    assert BAKERY in bakery and SHOP not in bakery
    for bad in ("?project=a%0Ab", "?project=" + "x" * 300, "?project=a&project=b"):
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "headers": [],
            "query_string": bad[1:].encode(),
        }
        with pytest.raises(InvalidInput):
            mcp_http._project(scope)


@pytest.mark.parametrize("name", WRITING)
def test_a_read_only_token_calls_no_tool_that_writes(place: Place, name: str) -> None:
    operation, _ = TOOLS[name]
    example = dict(operation.example)
    status, _, answer = place.ask(
        call(name, example), Authorization=f"Bearer {place.read_only}"
    )
    result = json.loads(answer)["result"]
    assert status == 200 and result["isError"] is True
    assert (
        result["content"][0]["text"] == f"{name} writes, and this caller may only read"
    )


def test_a_read_only_token_reads(place: Place) -> None:
    async def scenario(client: Client) -> str:
        return await text(client, "icm_memory_recall", query="postgres")

    assert SHOP in talk(place, scenario, token=place.read_only)


def test_files_of_the_server_are_out_of_reach(place: Place) -> None:
    async def scenario(client: Client) -> str:
        return await text(client, "icm_learn", directory="/etc")

    assert talk(place, scenario).startswith("failed: icm_learn works with files")


@pytest.mark.parametrize("token", ["", "icm_nonsense"])
def test_the_client_gets_nowhere_without_a_token(place: Place, token: str) -> None:
    async def scenario(client: Client) -> str:
        return await text(client, "icm_memory_recall", query="postgres")

    with pytest.raises(BaseExceptionGroup if not token else BaseException):
        talk(place, scenario, token=token)


def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    params = {"name": name, "arguments": dict(arguments)}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


REFUSED: list[tuple[dict[str, str], int, str]] = [
    ({}, 401, "a token is needed"),
    ({"Authorization": "Bearer icm_x"}, 401, "the token is not known"),
    ({"Authorization": "Basic eDp5"}, 401, "only Authorization: Bearer"),
    ({"Host": "evil.example"}, 400, "this server is not known by the name"),
    ({"Origin": "http://evil.example"}, 403, "refused: the request was made by"),
    ({"Origin": "http://127.0.0.1:3000"}, 403, "refused: the request was made by"),
    ({"Sec-Fetch-Site": "cross-site"}, 403, "refused: the request was made by"),
]


@pytest.mark.parametrize(("headers", "status", "sentence"), REFUSED)
def test_whoever_may_not_is_told_so_in_one_sentence(
    place: Place, headers: dict[str, str], status: int, sentence: str
) -> None:
    found, sent, body = place.ask(call("icm_memory_stats", {}), **headers)
    assert (found, list(json.loads(body))) == (status, ["error"])
    assert json.loads(body)["error"].startswith(sentence)
    assert ("Bearer" in sent.get("www-authenticate", "")) == (status == 401)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff", b"[" * 50_000],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_no_message_is_an_error_and_no_fault(place: Place, body: bytes) -> None:
    proof = {"Authorization": f"Bearer {place.server.token}"}
    status, _, answer = place.ask(body, **proof)
    assert 400 <= status < 500, (status, answer)
    assert json.loads(answer)


def test_a_refusal_without_a_word_gets_its_sentence(place: Place) -> None:
    odd = {"Mcp-Protocol-Version": "9999-01-01", "Accept": "text/event-stream"}
    token = f"Bearer {place.server.token}"
    status, headers, text = place.ask({}, Authorization=token, **odd)
    assert (status, headers["content-type"]) == (406, "application/json")
    assert json.loads(text) == {"error": "no form of answer that is accepted"}


def test_a_large_message_is_refused(place: Place) -> None:
    proof = {"Authorization": f"Bearer {place.server.token}"}
    status, _, _ = place.ask(b"x" * (DRAINED_BYTES // 4), **proof)
    assert status == 413


def test_many_clients_at_once_are_all_answered(place: Place) -> None:
    async def scenario(client: Client) -> list[str]:
        wanted = [
            text(client, "icm_memory_recall", query="postgres", limit=1)
            for _ in range(20)
        ]
        return list(await asyncio.gather(*wanted))

    answers = talk(place, scenario)
    assert len(answers) == 20 and all(SHOP in answer for answer in answers)


def test_this_machine_may_read_without_a_token_if_that_is_configured(
    tmp_path: Path,
) -> None:
    config = tmp_path / "config" / "icm-memory" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[web]\nopen_read = true\n")

    async def scenario(client: Client) -> tuple[str, str]:
        return (
            await text(client, "icm_memory_stats"),
            await text(client, "icm_memory_store", topic="a", content="b"),
        )

    with serving(tmp_path) as running:
        read, written = talk(Place(running, ""), scenario, token="")
    assert not read.startswith("failed")
    assert written == "failed: icm_memory_store writes, and this caller may only read"

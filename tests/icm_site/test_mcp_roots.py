"""A client that was started in no project tells the server where it works."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from asgiref.sync import async_to_sync
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from icm_site import conf, mcp_roots, mcp_server
from memories.models import Memory
from tests.factories import make_memory

# What a client sends that does not keep to the SDK's form.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")

Scenario = Callable[[Client], Awaitable[None]]
ORDERS = "orders database"


class Folders:
    """What a client has open, and how often it was asked for it."""

    def __init__(self, *paths: Path) -> None:
        self.paths, self.asked, self.seconds = list(paths), 0, 0.0

    async def __call__(self, context: Any) -> types.ListRootsResult:
        self.asked += 1
        await anyio.sleep(self.seconds)
        uris = ["https://example.org/a", *(path.as_uri() for path in self.paths)]
        return types.ListRootsResult.model_construct(
            roots=[types.Root.model_construct(uri=uri) for uri in uris]
        )

    async def move(self, client: Client, *paths: Path) -> None:
        self.paths = list(paths)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await client.send_roots_list_changed()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two projects."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("shop", "bank"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path


def talk(scenario: Scenario, folders: Folders | None, *, cwd: Path) -> None:
    """Let the scenario talk to a server that was started in this folder."""

    async def run() -> None:
        server = mcp_server.build(
            mcp_server.options([]), env=os.environ, cwd=str(cwd), config=conf.current()
        )
        async with Client(
            server, mode="legacy", list_roots_callback=folders
        ) as connection:
            await scenario(connection)

    async_to_sync(run)()


async def text(client: Client, name: str, **arguments: object) -> str:
    result = await client.call_tool(name, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def found(client: Client) -> set[str]:
    """The topics of what a recall finds."""
    rows = await text(client, "icm_memory_recall", query=ORDERS, format="json")
    return {row["topic"] for row in json.loads(rows)}


@pytest.fixture
def orders() -> None:
    make_memory("The orders database is Postgres.", topic="decisions-shop")
    make_memory("The orders database is Oracle.", topic="decisions-bank")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("orders")
def test_a_client_is_asked_once_and_again_when_its_folders_change(home: Path) -> None:
    folders = Folders(home, home / "shop", home / "bank")

    async def scenario(client: Client) -> None:
        assert folders.asked == 0
        assert await found(client) == {"decisions-shop"}
        await text(client, "icm_save_project", content="It is built by make.")
        assert folders.asked == 1
        await folders.move(client, home / "bank")
        assert await found(client) == {"decisions-bank"}
        assert folders.asked == 2

    talk(scenario, folders, cwd=home)
    assert Memory.objects.filter(topic="context-shop").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("orders")
def test_a_client_in_a_project_is_not_asked(home: Path) -> None:
    folders = Folders(home / "shop")

    async def scenario(client: Client) -> None:
        assert await found(client) == {"decisions-bank"}

    talk(scenario, folders, cwd=home / "bank")
    assert folders.asked == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("kind", ["none", "slow", "elsewhere", "silent"])
def test_without_an_answer_everything_is_searched(
    home: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_roots, "SECONDS", 0.1)
    folders = Folders(*([] if kind == "none" else [home / "gone"]))
    folders.seconds = 5 if kind == "slow" else 0

    async def scenario(client: Client) -> None:
        for _ in range(2):
            assert await found(client) == {"decisions-shop", "decisions-bank"}

    talk(scenario, None if kind == "silent" else folders, cwd=home)
    assert folders.asked == (0 if kind == "silent" else 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("orders")
def test_a_client_that_takes_its_first_call_back_is_asked_at_the_next(
    home: Path,
) -> None:
    folders = Folders(home / "shop")
    folders.seconds = 1

    async def scenario(client: Client) -> None:
        with anyio.move_on_after(0.3):
            await found(client)
        folders.seconds = 0
        assert await found(client) == {"decisions-shop"}

    talk(scenario, folders, cwd=home)
    assert folders.asked == 2


@pytest.mark.parametrize(
    "uri",
    [
        *("", "/tmp", "http://localhost/tmp", "file://server/tmp", "file:", "file:tmp"),
        *("file:///tmp%00x", "file:///no/such/folder", "file://[", "vscode-vfs://a/b"),
    ],
)
def test_what_names_no_folder_here_is_passed_over(uri: str) -> None:
    assert mcp_roots.folder(uri) == ""


def test_a_folder_is_read_from_its_address(tmp_path: Path) -> None:
    odd = tmp_path / "my # plan ü"
    odd.mkdir()
    assert mcp_roots.folder(odd.as_uri()) == str(odd)
    file = tmp_path / "file"
    file.touch()
    assert mcp_roots.folder(file.as_uri()) == ""


@pytest.mark.slow
@pytest.mark.parametrize("resident", ["0", "1"])
def test_a_server_of_its_own_and_the_resident_ask_alike(
    environment: dict[str, str], home: Path, resident: str
) -> None:
    folders = Folders(home / "shop")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "icm_site.cli", "serve"],
        env=environment | {"ICM_RESIDENT": resident},
        cwd=home,
    )

    async def run() -> str:
        async with Client(
            stdio_client(server), mode="legacy", list_roots_callback=folders
        ) as client:
            return await text(client, "icm_save_project", content="Built by make.")

    said = async_to_sync(run)()
    assert said.startswith("Stored memory: ")
    assert folders.asked == 1

"""One client's session, through the SDK's own client in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import anyio
import mcp_types as types
import pytest
from asgiref.sync import async_to_sync
from mcp import Client
from mcp_types import Implementation, TextContent
from pydantic import ValidationError

from icm_site import __version__, mcp_session, mcp_stdio
from icm_site.caller import Caller
from icm_site.mcp_instructions import instructions
from memories.models import Memory

T = TypeVar("T")
Mode = Literal["legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")
CALLER = Caller(surface="mcp", origin="agent", project="shop", cwd="/")


def talk(
    scenario: Callable[[Client], Awaitable[T]],
    *,
    mode: Mode = "legacy",
    caller: Caller = CALLER,
    **options: Any,
) -> T:
    """Let the scenario talk to a new server; the tools run on the test's thread."""

    async def run() -> T:
        server = mcp_session.build(caller=caller, **({"instructions": ""} | options))
        client = Implementation(name="shop-agent", version="2.1")
        async with Client(server, mode=mode, client_info=client) as connection:
            return await scenario(connection)

    return async_to_sync(run)()


async def text(client: Client, name: str, **arguments: object) -> str:
    """The single text block of a result."""
    result = await client.call_tool(name, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert result.structured_content is None
    return block.text


def calls(number: int, *, every: dict[int, tuple[str, dict[str, Any]]]) -> list[str]:
    """Answers to so many calls: list_topics, and something else where told."""

    async def scenario(client: Client) -> list[str]:
        answers = []
        for count in range(1, number + 1):
            name, arguments = every.get(count, ("icm_memory_list_topics", {}))
            answers.append(await text(client, name, **arguments))
        return answers

    return talk(scenario)


def nudges(answers: list[str]) -> dict[int, str]:
    return {
        number: answer.splitlines()[-1]
        for number, answer in enumerate(answers, 1)
        if "[ICM:" in answer
    }


def nudge(number: int) -> str:
    return (
        f"[ICM: {number} tool calls since last store. "
        "Consider saving important context.]"
    )


FACT = ("icm_memory_store", {"topic": "notes", "content": "A fact."})
EMPTY = ("icm_memory_store", {"topic": "notes", "content": ""})
JSON = ("icm_memory_recall", {"query": "zebra", "format": "json"})


@pytest.mark.parametrize("mode", MODES)
def test_the_server_names_itself_and_its_version(mode: Mode) -> None:
    async def scenario(client: Client) -> tuple[str, str | None]:
        result = await client.list_tools()
        assert result.tools
        info = client.server_info
        return (info.name, info.version) if info else ("", "")

    assert talk(scenario) == ("icm", __version__)


@pytest.mark.parametrize("mode", MODES)
def test_both_eras_store_and_recall(db: None, mode: Mode) -> None:
    async def scenario(client: Client) -> str:
        await text(client, "icm_memory_store", topic="notes", content="Tea is green.")
        return await text(client, "icm_memory_recall", query="tea")

    assert "summary: Tea is green." in talk(scenario, mode=mode)


def test_a_failure_is_a_result(db: None) -> None:
    async def scenario(client: Client) -> list[bool]:
        names = ("icm_no_such", "icm_memory_store", "icm_memory_list_topics")
        return [(await client.call_tool(name, {})).is_error for name in names]

    assert talk(scenario) == [True, True, False]


def test_the_nudge_comes_at_every_tenth_call(db: None) -> None:
    assert nudges(calls(40, every={})) == {n: nudge(n) for n in (10, 20, 30, 40)}


def test_a_store_starts_the_count_anew(db: None) -> None:
    assert nudges(calls(25, every={12: FACT})) == {10: nudge(10), 22: nudge(10)}


def test_a_store_is_never_nudged(db: None) -> None:
    assert nudges(calls(12, every={10: FACT})) == {}


def test_a_failed_store_does_not_reset_the_count(db: None) -> None:
    assert nudges(calls(12, every={5: EMPTY, 8: EMPTY})) == {10: nudge(10)}


def test_the_nudge_never_spoils_json(db: None) -> None:
    answers = calls(20, every={10: JSON, 11: JSON})
    assert answers[9:11] == ["[]", "[]"]
    assert nudges(answers) == {12: nudge(12), 20: nudge(20)}


def test_each_session_counts_for_itself(db: None) -> None:
    assert nudges(calls(9, every={}) + calls(9, every={})) == {}


def test_the_count_goes_on_in_the_era_without_a_handshake(db: None) -> None:
    async def scenario(client: Client) -> list[str]:
        return [await text(client, "icm_memory_list_topics") for _ in range(20)]

    answers = talk(scenario, mode="2026-07-28")
    assert nudges(answers) == {10: nudge(10), 20: nudge(20)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("host", "kept"), [("", "shop-agent"), ("codex", "codex")])
def test_a_memory_knows_the_client_that_stored_it(
    db: None, mode: Mode, host: str, kept: str
) -> None:
    async def scenario(client: Client) -> None:
        await text(client, *FACT[:1], **FACT[1])

    caller = Caller(surface="mcp", origin="agent", host=host, cwd="/")
    talk(scenario, mode=mode, caller=caller)
    memory = Memory.objects.get()
    assert (memory.origin, memory.host) == ("agent", kept)
    assert memory.source_data["client"] == "shop-agent"
    assert memory.source_data["client_version"] == "2.1"


def test_calls_sent_at_once_are_answered_in_order(db: None) -> None:
    async def scenario(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                fact = {"topic": "notes", "content": f"Port {5000 + number} is taken."}
                tasks.start_soon(client.call_tool, "icm_memory_store", fact)

    talk(scenario)
    summaries = list(Memory.objects.order_by("id").values_list("summary", flat=True))
    assert summaries == [f"Port {5000 + number} is taken." for number in range(12)]


def test_compact_and_lean_are_options_of_a_server(db: None) -> None:
    async def scenario(client: Client) -> tuple[int, str]:
        tools = (await client.list_tools()).tools
        return len(tools), await text(client, FACT[0], **FACT[1])

    lean, answer = talk(scenario, compact=True, lean=True)
    assert answer.startswith("ok:")
    assert lean < talk(scenario)[0]


def test_the_instructions_reach_the_client() -> None:
    async def scenario(client: Client) -> str | None:
        return client.instructions

    assert talk(scenario, instructions="Remember.") == "Remember."


def test_the_instructions_say_when_and_where_to_store() -> None:
    told = instructions("shop", " Use British spelling. ")
    for words in (
        "icm_memory_recall",
        "icm_memory_store",
        "errors-resolved",
        "decisions-shop",
        "context-shop",
        "preferences",
        "20 tool calls",
        "icm_memoir_link",
        "icm_feedback_record",
        "NOT STORE",
        "critical",
    ):
        assert words in told
    assert told.endswith("\n\nUse British spelling.")
    assert len(told) < 2_400
    assert "decisions-<project>" in instructions("", None)


def test_an_id_that_is_no_text_is_not_written_back() -> None:
    def complaint(id_: str) -> types.JSONRPCError:
        with pytest.raises(ValidationError) as raised:
            types.JSONRPCRequest.model_validate_json(
                f'{{"jsonrpc": "2.0", "id": "{id_}", "method": "\\ud800"}}'
            )
        found = mcp_stdio._complaint(raised.value)
        assert found is not None
        return found

    assert complaint("\\ud800").model_dump_json()
    assert complaint("\\ud800").id is None
    assert complaint("é").id == "é"

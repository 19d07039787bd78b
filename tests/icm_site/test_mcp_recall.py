"""A real MCP client over stdio, the packaged model, three languages."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memories.embedder import packaged_reason
from tests.conftest import PROJECT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(packaged_reason()), reason=packaged_reason()),
]

# Each fact, and a question after it that says it in other words.
FACTS = [
    ("We settled on PostgreSQL for orders.", "which database keeps purchases"),
    ("Deployments happen every Tuesday morning.", "when do we release to production"),
    ("The login form blocks after five wrong attempts.", "brute force protection"),
    ("Images are resized by a background worker.", "who makes the thumbnails"),
    ("Customers may return goods within thirty days.", "how long is the refund period"),
    ("Anna takes care of the billing service.", "who is responsible for invoices"),
    (
        "The mobile app talks to the server over GraphQL.",
        "API style of the phone client",
    ),
    ("Unser Büro liegt im dritten Stock.", "In welcher Etage arbeiten wir?"),
    ("Der Drucker braucht schwarze Tinte.", "Welches Verbrauchsmaterial fehlt?"),
    ("Die Rechnungen werden als PDF verschickt.", "In welchem Format kommen Belege?"),
    (
        "Das Team spricht jeden Morgen um neun kurz miteinander.",
        "Wann ist das Standup?",
    ),
    ("Passwörter speichern wir nur gehasht.", "Wie schützen wir Zugangsdaten?"),
    ("Der Server steht in Frankfurt.", "Wo wird die Anwendung gehostet?"),
    ("Wir testen mit echten Datenbanken statt Attrappen.", "Benutzen wir Mocks?"),
    ("服务器每天凌晨三点备份数据。", "什么时候保存副本"),
    ("我们用红色表示紧急任务。", "优先级最高的工作是什么颜色"),
    ("支付接口由小王负责维护。", "谁管理付款功能"),
    ("移动端只支持竖屏显示。", "手机应用能横过来用吗"),
    ("日志保留九十天后删除。", "记录会存多久"),
    ("新用户注册后会收到欢迎邮件。", "注册成功以后发送什么"),
]
TOP = 3

Scenario = Callable[[Client], Awaitable[None]]


def talk(environment: dict[str, str], scenario: Scenario, *, mode: Any) -> None:
    """Run a scenario against `icm serve` as a client starts it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "icm_site.cli", "serve"],
        env=environment,
        cwd=PROJECT,
    )

    async def main() -> None:
        with anyio.fail_after(240):
            async with Client(stdio_client(server), mode=mode) as client:
                await scenario(client)

    anyio.run(main)


async def said(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return "".join(getattr(block, "text", "") for block in result.content)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_paraphrased_questions_find_their_facts_in_three_languages(
    environment: dict[str, str], tmp_path: Path, mode: str
) -> None:
    environment |= {"ICM_NO_EMBEDDINGS": "0", "ICM_DB": str(tmp_path / "m.sqlite3")}
    missed: list[str] = []

    async def scenario(client: Client) -> None:
        for fact, _ in FACTS:
            answer = await said(client, "icm_memory_store", topic="notes", content=fact)
            assert answer.startswith("Stored memory: ")
        for fact, question in FACTS:
            found = await said(
                client, "icm_memory_recall", query=question, project="", limit=TOP
            )
            if fact not in found:
                missed.append(question)
        stored = await said(client, "icm_memory_recall", query="Frankfurt", project="")
        ulid = stored.split()[1]
        gone = await said(client, "icm_memory_forget", id=ulid)
        assert gone.startswith(f"Deleted memory: {ulid}")
        hidden = await said(client, "icm_memory_recall", query="Frankfurt", project="")
        assert FACTS[12][0] not in hidden
        await said(client, "icm_memory_undo", id=ulid)
        back = await said(client, "icm_memory_recall", query="Frankfurt", project="")
        assert FACTS[12][0] in back

    talk(environment, scenario, mode=mode)
    print(f"{len(FACTS) - len(missed)} of {len(FACTS)} in the top {TOP}: {missed}")
    assert len(missed) <= 1, missed

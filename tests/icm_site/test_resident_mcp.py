"""`icm serve` as a bridge: the same protocol, over one resident after another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.icm_site.test_mcp_server import INITIALIZED, block, call, initialize, request
from tests.icm_site.warm import TRANSPORTS, Warm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


class Client:
    """One MCP client, which has its `initialize` answered."""

    def __init__(self, warm: Warm, *arguments: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "icm_site.cli", "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=warm.work,
            env=warm.env | env,
        )
        self.hello = self.ask(initialize())
        self.say(INITIALIZED.encode())

    def say(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, line: str) -> dict[str, Any]:
        self.say(line.encode())
        return self.read()

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=30)


@pytest.fixture(params=TRANSPORTS)
def warm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warm]:
    made = Warm(tmp_path, dict(os.environ), request.param)
    made.start()
    yield made
    made.stop()


def test_it_speaks_as_the_server_alone_does(warm: Warm) -> None:
    lines = [
        request(2, "tools/list"),
        call(3, "icm_memory_store", topic="t-shop", content="NATS runs the queue."),
        call(4, "icm_memory_recall", query="queue", format="json", nonsense=1),
        call(5, "icm_no_such_tool"),
        call(6, "icm_memory_recall"),
        request(7, "ping"),
        request(8, "no/such/method"),
        "no JSON\n",
        '{"id": 9}\n',
        "[]\n",
    ]
    through, alone = Client(warm), Client(warm, ICM_RESIDENT="0")
    assert through.hello == alone.hello
    for line in lines[:1] + lines[3:]:
        assert through.ask(line) == alone.ask(line), line
    stored = through.ask(lines[1])
    assert not stored["result"].get("isError")
    found = json.loads(block(alone.ask(lines[2])))
    assert [row["summary"] for row in found] == ["NATS runs the queue."]
    assert (through.end(), alone.end()) == (0, 0)


def test_a_line_without_end_is_refused_and_the_next_one_served(warm: Warm) -> None:
    client = Client(warm)
    client.say(b'{"jsonrpc":"2.0","id":2,"method":"' + b"x" * (11 << 20) + b'"}\n')
    assert client.read()["error"]["code"] == -32600
    assert client.ask(request(3, "ping"))["result"] == {}
    assert client.end() == 0


def test_options_reach_the_server(warm: Warm) -> None:
    full, lean = Client(warm), Client(warm, "--tools", "lean")
    many = len(full.ask(request(2, "tools/list"))["result"]["tools"])
    few = len(lean.ask(request(2, "tools/list"))["result"]["tools"])
    assert few < 10 < many
    assert (full.end(), lean.end()) == (0, 0)


def test_a_session_outlives_its_resident(warm: Warm) -> None:
    client = Client(warm)
    stored = client.ask(call(2, "icm_memory_store", topic="t-shop", content="Before."))
    assert not stored["result"].get("isError")
    first = warm.pid()
    os.kill(first, signal.SIGKILL)
    answer = client.ask(call(3, "icm_memory_recall", query="before"))
    if "error" in answer:  # it was on its way when the resident died
        answer = client.ask(call(4, "icm_memory_recall", query="before"))
    assert "Before." in block(answer)
    assert client.end() == 0
    assert warm.pid() not in (0, first)


def test_a_call_that_may_have_been_done_is_not_repeated(warm: Warm) -> None:
    client = Client(warm)
    client.ask(request(2, "tools/list"))
    pid = warm.pid()
    os.kill(pid, signal.SIGSTOP)
    content = "Asked while the resident was stopped."
    client.say(call(3, "icm_memory_store", topic="t-shop", content=content).encode())
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    answer = client.read()
    assert answer["id"] == 3
    assert "look before you repeat it" in answer["error"]["message"]
    assert content not in block(
        client.ask(call(4, "icm_memory_recall", query="resident stopped"))
    )
    assert client.end() == 0

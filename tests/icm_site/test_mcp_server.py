"""`icm serve` as a process, line by line; and its options."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from icm_site import __version__, mcp_server
from icm_site.errors import UsageError
from icm_site.mcp_server import client_config, launch_command
from tests.conftest import PROJECT, Icm

HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
EXIT_SECONDS = 1.0

STORE = {"topic": "decisions-shop", "content": "We chose Postgres 16."}


def request(number: int, method: str, **params: object) -> str:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message) + "\n"


def initialize(number: int = 1, *, version: str = HANDSHAKES[-1]) -> str:
    client = {"name": "test", "version": "1"}
    return request(
        number,
        "initialize",
        protocolVersion=version,
        capabilities={},
        clientInfo=client,
    )


INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def call(number: int, name: str, **arguments: object) -> str:
    return request(number, "tools/call", name=name, arguments=arguments)


def modern(number: int, method: str, **params: object) -> str:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return request(number, method, _meta=meta, **params)


def answers(output: str) -> dict[Any, dict[str, Any]]:
    """Messages by id; a line that is none fails the test."""
    messages = [json.loads(line) for line in output.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return {message["id"]: message for message in messages}


def block(message: dict[str, Any]) -> str:
    (content,) = message["result"]["content"]
    return str(content["text"])


class Server:
    """A running `icm serve` and its client's side."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.input, self.output = process.stdin, process.stdout

    def say(self, line: str) -> None:
        self.input.write(line)
        self.input.flush()

    def ask(self, line: str) -> dict[str, Any]:
        self.say(line)
        answer: dict[str, Any] = json.loads(self.output.readline())
        return answer

    def end(self) -> float:
        """Close the input; seconds until the process is gone."""
        started = time.monotonic()
        self.input.close()
        assert self.process.wait(timeout=30) == 0
        return time.monotonic() - started


Start = Callable[..., Server]


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Start `icm serve ARGUMENTS`; what still runs at the end is killed."""
    running = []

    def run(*arguments: str, command: tuple[str, ...] = (), **env: str) -> Server:
        process = subprocess.Popen(
            [*(command or (sys.executable, "-m", "icm_site.cli", "serve")), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment | env,
        )
        running.append(process)
        return Server(process)

    yield run
    for process in running:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


@pytest.mark.slow
@pytest.mark.parametrize("version", HANDSHAKES)
def test_each_handshake_version_is_echoed_and_served(icm: Icm, version: str) -> None:
    lines = [
        initialize(version=version),
        INITIALIZED,
        request(2, "tools/list"),
        call(3, "icm_memory_store", **STORE),
        request(4, "ping"),
    ]
    done = icm("serve", stdin="".join(lines))
    found = answers(done.stdout)
    result = found[1]["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "icm", "version": __version__}
    assert result["capabilities"]["tools"] is not None
    assert "decisions-shop" in result["instructions"]
    assert "icm_memory_store" in [t["name"] for t in found[2]["result"]["tools"]]
    assert block(found[3]).startswith("Stored memory: ")
    assert found[4]["result"] == {}


@pytest.mark.slow
def test_initialize_needs_no_database(
    start: Start, environment: dict[str, str]
) -> None:
    server = start()
    assert server.ask(initialize())["result"]["instructions"]
    assert not Path(environment["ICM_DB"]).exists()
    assert server.end() < EXIT_SECONDS


@pytest.mark.slow
def test_the_config_file_makes_it_compact_and_adds_instructions(
    icm: Icm, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[mcp]\ncompact = true\ninstructions = "Use metric units."\n')
    lines = initialize() + call(2, "icm_memory_store", **STORE)
    found = answers(icm("serve", stdin=lines, ICM_CONFIG=str(config)).stdout)
    assert found[1]["result"]["instructions"].endswith("\n\nUse metric units.")
    assert block(found[2]).startswith("ok:")


@pytest.mark.slow
def test_an_unknown_version_gets_the_newest_with_a_handshake(icm: Icm) -> None:
    done = icm("serve", stdin=initialize(version="2031-01-01"))
    assert answers(done.stdout)[1]["result"]["protocolVersion"] == HANDSHAKES[-1]


@pytest.mark.slow
def test_the_era_without_a_handshake_discovers_lists_and_calls(icm: Icm) -> None:
    lines = [
        modern(1, "server/discover"),
        modern(2, "tools/list"),
        modern(3, "tools/call", name="icm_memory_store", arguments=STORE),
    ]
    found = answers(icm("serve", stdin="".join(lines)).stdout)
    assert found[1]["result"]["supportedVersions"] == [MODERN]
    assert "icm_memory_recall" in found[1]["result"]["instructions"]
    server = found[1]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert server == {"name": "icm", "version": __version__}
    assert found[2]["result"]["tools"]
    assert block(found[3]).startswith("Stored memory: ")


@pytest.mark.slow
def test_lines_that_are_no_messages_do_not_end_the_server(start: Start) -> None:
    server = start()
    server.ask(initialize())
    for line in ("{not json\n", '{"jsonrpc":"2.0"}\n', "[]\n", '"x"\n'):
        error = server.ask(line)
        assert (error["id"], error["error"]["code"]) == (None, -32700)
    half = server.ask(call(7, "icm_memory_recall", query="half an emoji \ud83d"))
    assert (half["id"], half["error"]["code"]) == (7, -32700)
    server.say("\n  \n")
    assert server.ask(request(2, "ping"))["result"] == {}
    assert server.ask(request(3, "no/such"))["error"]["code"] == -32601
    assert server.ask(request(4, "tools/call"))["error"]["code"] == -32602


@pytest.mark.slow
def test_wrong_arguments_are_results_and_the_server_goes_on(start: Start) -> None:
    server = start()
    server.ask(initialize())
    server.say(INITIALIZED)
    wrong = server.ask(call(2, "icm_memory_store", topic=["a"], content="b"))
    assert wrong["result"]["isError"] is True
    assert block(wrong).startswith("topic: ")
    unknown = server.ask(call(3, "icm_no_such"))
    assert unknown["result"]["isError"] is True
    assert block(unknown) == "unknown tool: icm_no_such"
    right = server.ask(call(4, "icm_memory_recall", query="zebra", limit="3.0"))
    assert block(right) == "No memories found."


@pytest.mark.slow
def test_twenty_calls_are_nudged_twice(start: Start) -> None:
    server = start()
    server.ask(initialize())
    texts = [block(server.ask(call(n, "icm_memory_list_topics"))) for n in range(2, 22)]
    nudged = [number for number, text in enumerate(texts, 1) if "[ICM:" in text]
    assert nudged == [10, 20]


LOUD = """
import os, sys

class Loud:
    def find_spec(self, name, path=None, target=None):
        if name in ("mcp", "django", "memories.operations"):
            print("printed by an import", flush=True)
            os.write(1, b"written to the descriptor\\n")
            os.system("echo echoed by a child")
        return None

sys.meta_path.insert(0, Loud())
"""


@pytest.mark.slow
def test_what_other_code_prints_never_reaches_the_client(
    icm: Icm, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud" / "sitecustomize.py").write_text(LOUD)
    lines = [initialize(), INITIALIZED, call(2, "icm_memory_store", **STORE)]
    path = os.pathsep.join([str(tmp_path / "loud"), environment["PYTHONPATH"]])
    done = icm("serve", stdin="".join(lines), PYTHONPATH=path)
    assert block(answers(done.stdout)[2]).startswith("Stored memory: ")
    for words in ("by an import", "to the descriptor", "by a child"):
        assert words in done.stderr


@pytest.mark.slow
def test_an_idle_server_is_gone_within_a_second(
    start: Start, environment: dict[str, str]
) -> None:
    server = start()
    server.ask(initialize())
    server.ask(call(2, "icm_memory_store", **STORE))
    assert Path(environment["ICM_DB"] + "-wal").exists()
    assert server.end() < EXIT_SECONDS
    log = Path(environment["ICM_DB"] + "-wal")
    assert not log.exists(), "the last connection empties the log when it closes"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_the_database_and_ends_the_server(
    start: Start, environment: dict[str, str], number: signal.Signals
) -> None:
    server = start()
    server.ask(initialize())
    server.ask(call(2, "icm_memory_store", **STORE))
    started = time.monotonic()
    server.process.send_signal(number)
    assert server.process.wait(timeout=30) == 128 + number
    assert time.monotonic() - started < EXIT_SECONDS
    assert not Path(environment["ICM_DB"] + "-wal").exists()


@pytest.mark.slow
def test_a_client_that_leaves_without_reading_is_not_waited_for(start: Start) -> None:
    server = start()
    server.ask(initialize())
    server.say(call(2, "icm_memory_list_topics"))
    server.output.close()
    started = time.monotonic()
    server.input.close()
    server.process.wait(timeout=30)
    assert time.monotonic() - started < 2 * EXIT_SECONDS
    assert server.process.stderr is not None
    assert "Traceback" not in server.process.stderr.read()


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs(id INTEGER)")
    connection.commit()
    connection.close()


def not_a_database(path: Path) -> None:
    path.write_text("Dear diary, " * 100)


def below_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file where the folder should be")


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [foreign, not_a_database, below_a_file])
def test_a_database_that_cannot_be_opened_is_a_sentence_on_each_call(
    start: Start, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    path = tmp_path / "folder" / "icm.sqlite3"
    path.parent.mkdir()
    spoil(path)
    server = start(ICM_DB=str(path))
    assert server.ask(initialize())["result"]
    server.say(INITIALIZED)
    assert server.ask(request(2, "tools/list"))["result"]["tools"]
    for number in (3, 4):
        answer = server.ask(call(number, "icm_memory_store", **STORE))
        assert answer["result"]["isError"] is True
        assert "internal error" not in block(answer)
        assert len(block(answer).splitlines()) == 1
    assert server.end() < EXIT_SECONDS


@pytest.mark.slow
def test_a_newer_database_is_read_and_not_written(icm: Icm, tmp_path: Path) -> None:
    tea = {"topic": "context-shop", "content": "Tea is green."}
    icm("serve", stdin=initialize() + call(2, "icm_memory_store", **tea))
    connection = sqlite3.connect(tmp_path / "icm.sqlite3")
    connection.execute("PRAGMA user_version = 999999")
    connection.close()
    lines = [
        initialize(),
        call(2, "icm_memory_recall", query="tea"),
        call(3, "icm_memory_store", **STORE),
    ]
    found = answers(icm("serve", stdin="".join(lines)).stdout)
    assert "Tea is green." in block(found[2])
    assert found[3]["result"]["isError"] is True


@pytest.mark.slow
def test_the_django_project_of_the_client_is_left_alone(icm: Icm) -> None:
    lines = [initialize(), call(2, "icm_memory_list_topics")]
    done = icm(
        "serve", stdin="".join(lines), DJANGO_SETTINGS_MODULE="their_shop.settings"
    )
    assert block(answers(done.stdout)[2]) == "No topics yet."


@pytest.mark.slow
def test_manage_py_serves_the_same_from_any_folder(start: Start) -> None:
    manage = (sys.executable, str(PROJECT / "manage.py"), "icm_serve")
    server = start("--tools", "lean", command=manage, PYTHONPATH="")
    assert server.ask(initialize())["result"]["serverInfo"]["name"] == "icm"
    names = [t["name"] for t in server.ask(request(2, "tools/list"))["result"]["tools"]]
    assert "icm_memory_forget_topic" not in names
    assert server.end() < EXIT_SECONDS


@pytest.mark.slow
def test_a_config_file_that_cannot_be_read_ends_the_server(
    icm: Icm, tmp_path: Path
) -> None:
    (tmp_path / "broken.toml").write_text("[mcp\n")
    done = icm("serve", stdin=initialize(), ICM_CONFIG=str(tmp_path / "broken.toml"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "broken.toml" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frobnicate"], "--frobnicate"),
        (["--tools", "some"], "some"),
        (["extra"], "extra"),
    ],
)
def test_a_wrong_option_is_one_sentence(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        mcp_server.main(arguments)
    assert words in raised.value.message
    assert "\n" not in raised.value.message


def test_print_config_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert mcp_server.main(["--print-config"]) == 0
    printed, _, line = capsys.readouterr().out.rstrip("\n").rpartition("\n")
    entry = json.loads(printed)["mcpServers"]["icm"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-1] == "serve"
    assert entry["env"] == {}
    assert line.startswith("claude mcp add icm -- ")


def test_the_command_beside_python_or_the_one_started_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", ["manage.py"])
    assert launch_command()[-3:] == ["-m", "icm_site.cli", "serve"]
    (tmp_path / "icm").write_text("#!/bin/sh\n")
    (tmp_path / "icm").chmod(0o755)
    assert launch_command() == [str(tmp_path / "icm"), "serve"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "icm").symlink_to(tmp_path / "icm")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "bin" / "icm")])
    assert launch_command() == [str(tmp_path / "bin" / "icm"), "serve"]


def test_a_path_with_a_blank_is_quoted_for_the_shell() -> None:
    printed = client_config(["/opt/my tools/icm", "serve"])
    assert printed.splitlines()[-1] == (
        "claude mcp add icm -- '/opt/my tools/icm' serve"
    )

"""`icm web` as a program: who is let in, what it says, the examples of its page."""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest
from django.test import override_settings

from icm_site import owner
from icm_site.errors import NotFound
from tests.conftest import PROJECT, Run
from tests.web import Server, command, password_in, serving

PAGES = [PROJECT / "docs" / "http.md", PROJECT / "README.md"]
FACT = "The shop runs on Postgres 16."
FOREIGN = {"Host": "evil.example"}
USUAL = "http://127.0.0.1:8420"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("web")
    token = command(folder, "token", "create", "scripts")
    with serving(folder) as running:
        # A request costs less than the start of a command.
        proof = {"Authorization": f"Bearer {token}"}
        fact = json.dumps({"topic": "decisions-shop", "content": FACT}).encode()
        _, stored = ask(running, "POST", "/ops/memory_store", proof, body=fact)
        memory = json.loads(stored)["id"]
        yield dataclasses.replace(running, token=token, memory=memory)


def ask(
    server: Server,
    method: str,
    path: str,
    headers: Mapping[str, str] = MappingProxyType({}),
    *,
    body: bytes = b"",
) -> tuple[int, str]:
    """Status and text of an answer of the real server."""
    connection = http.client.HTTPConnection(host_of(server))
    connection.request(method, path, body or None, dict(headers))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def host_of(server: Server) -> str:
    return server.address.removeprefix("http://")


@pytest.mark.slow
def test_a_server_answers_by_its_own_name_and_keeps_its_secrets(server: Server) -> None:
    proof = {"Authorization": f"Bearer {server.token}"}
    style = "/static/admin/css/base.css"
    assert ask(server, "GET", "/health") == (200, '{"status": "ok"}')
    assert ask(server, "GET", "/api/memories/", proof)[0] == 200
    assert ask(server, "GET", "/api/memories/")[0] == 401
    assert ask(server, "GET", style)[0] == 200
    for path in ("/health", style):
        assert ask(server, "GET", path, FOREIGN)[0] == 400
    for path in ("/ops/memory_stats", "/admin/login/"):
        foreign = {**proof, "Origin": "http://evil.example"}
        assert ask(server, "POST", path, foreign)[0] == 403
    large = b"x" * 1_200_000
    assert ask(server, "POST", "/ops/memory_stats", proof, body=large)[0] == 413
    log = server.log.read_text()
    assert server.token not in log and "evil" not in log and "Traceback" not in log


@pytest.mark.slow
def test_clients_that_send_slowly_hold_up_nobody(server: Server) -> None:
    waiting = [http.client.HTTPConnection(host_of(server)) for _ in range(8)]
    for connection in waiting:
        connection.putrequest("POST", "/ops/memory_stats")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b"{")
    assert ask(server, "GET", "/health")[0] == 200
    for connection in waiting:
        connection.close()


@pytest.mark.slow
def test_the_password_is_shown_once_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        password = password_in(first)
        # Before its first answer asyncio may still be setting up its loop.
        assert ask(first, "GET", "/health")[0] == 200
        first.process.send_signal(signal.SIGINT)
        assert first.process.wait(timeout=20) == 130
        assert "Traceback" not in first.log.read_text()
    with serving(tmp_path) as second:
        assert ask(second, "GET", "/health")[0] == 200
        assert second.log.read_text() == ""
    assert password


@pytest.mark.slow
def test_others_are_let_in_with_a_token_by_a_name_for_reading_alone(
    tmp_path: Path, server: Server
) -> None:
    with (
        closing(sqlite3.connect(server.log.parent / "icm.sqlite3")) as source,
        closing(sqlite3.connect(tmp_path / "icm.sqlite3")) as target,
    ):
        source.backup(target)
    proof = {"Authorization": f"Bearer {server.token}"}
    options = ("--host", "0.0.0.0", "--expose", "--name", "memory.lan", "--read-only")
    with serving(tmp_path, *options) as exposed:
        local = dataclasses.replace(
            exposed, address=exposed.address.replace("0.0.0.0", "127.0.0.1")
        )
        proof["Host"] = "memory.lan:8420"
        assert ask(local, "GET", "/health", FOREIGN)[0] == 400
        assert ask(local, "GET", "/api/memories/", {"Host": "memory.lan"})[0] == 401
        assert ask(local, "GET", "/api/memories/", proof)[0] == 200
        body = b'{"topic": "a", "content": "b"}'
        written = ask(local, "POST", "/ops/memory_store", proof, body=body)
        sentence = '{"error": "The database is open for reading alone."}'
        assert written == (403, sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--host", "0.0.0.0"), "can be reached by other machines"),
        (("--host", "192.168.1.5"), "can be reached by other machines"),
        (("--host", "0.0.0.0", "--expose"), "there is no token yet"),
        (("--port", "70000"), "must be a whole number"),
        (("--port", "x"), "must be a whole number"),
        (("--nonsense",), "unrecognized arguments"),
    ],
)
def test_what_would_let_others_in_is_refused(
    run: Run,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    # The command names hosts in the settings; the block brings them back.
    with override_settings():
        outcome = run("web", *arguments)
    assert outcome.code != 0 and outcome.out == ""
    assert sentence in outcome.err and outcome.err.count("\n") == 1


def test_a_taken_port_is_a_sentence(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        outcome = run("web", "--port", port)
    sentence = f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use"
    assert (outcome.code, outcome.err.splitlines()[-1]) == (1, sentence)


@pytest.mark.django_db
def test_a_new_password_needs_an_owner(run: Run) -> None:
    with pytest.raises(NotFound):
        owner.new_password()
    password = owner.ensure()
    assert password is not None and len(password) >= 16
    assert owner.ensure() is None
    assert owner.new_password() != password
    renewed = run("web", "--new-password")
    assert (renewed.code, renewed.out) == (0, "")
    assert "as owner with the password" in renewed.err
    assert password not in renewed.err


CURL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def curl_blocks(page: Path) -> list[str]:
    return [block for block in CURL.findall(page.read_text("utf-8")) if "curl" in block]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_with_curl_work(page: Path, server: Server) -> None:
    blocks = curl_blocks(page)
    assert blocks
    for block in blocks:
        script = block.replace(USUAL, server.address).replace("curl ", "curl -f ")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={**os.environ, "TOKEN": server.token, "ID": server.memory},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (block, done.stdout, done.stderr)
        assert "error" not in done.stdout

"""How an input reaches each surface, and what must hold of the answer."""

from __future__ import annotations

import functools
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import anyio
from django.test import Client

from icm_site import cli, conf, mcp_session, mcp_stdio, mcp_tools
from icm_site.hooks import answer, bookkeeping, memory
from memories import transcripts
from tests.fuzz import files, inputs, served
from tests.fuzz.chance import Made
from tests.fuzz.place import CALLER, Place

TRACEBACK = re.compile(r"Traceback|internal error|File \"/")


class Said(NamedTuple):
    """An answer: whether it refuses, and what is wrong with it ("" for nothing)."""

    refused: bool
    fault: str = ""


def sentence(text: str) -> str:
    """What is wrong with an error; "" for one that is one sentence."""
    if TRACEBACK.search(text):
        return f"not a sentence: {text[:300]}"
    if len(text.strip().splitlines()) > 1 or not text.strip():
        return f"{len(text.splitlines())} lines: {text[:300]}"
    return ""


def tool(place: Place, given: tuple[str, dict[str, object]]) -> Said:
    """A tool as the MCP server calls it."""
    done = mcp_tools.call(given[0], given[1], caller=CALLER, compact=False)
    return Said(done.failed, sentence(done.text) if done.failed else "")


@functools.cache
def _client() -> Client:
    # One for all: each would load the middleware anew.
    return Client(raise_request_exception=False)


def http(place: Place, given: tuple[str, str, bytes]) -> Said:
    """A request to the nouns or the verbs, with a token."""
    method, path, body = given
    made = _client().generic(
        method,
        path.encode("utf-8", "surrogatepass").decode("latin-1"),
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {place.secret}"},
    )
    if made.status_code < 400:
        return Said(False)
    # 503 is for what the machine lacks, such as a model, and has a sentence too.
    if made.status_code >= 500 and made.status_code != 503:
        return Said(True, f"status {made.status_code}: {made.content[:300]!r}")
    text = made.content.decode()
    if "json" not in made.headers.get("Content-Type", ""):
        return Said(True, f"no JSON: {text[:200]}")
    return Said(True, sentence(json.dumps(json.loads(text), ensure_ascii=False)))


def command(place: Place, given: list[str]) -> Said:
    """A command as the shell passes it: words of any bytes but NUL."""
    typed = [
        os.fsdecode(word.replace("\0", "").encode("utf-8", "surrogatepass"))
        for word in given
    ]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before, kept = sys.stdin, dict(os.environ)
    sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(typed)
    except Exception as error:
        return Said(False, f"{type(error).__name__}: {error}"[:300])
    finally:
        sys.stdin = before
        os.environ.clear()
        os.environ.update(kept)
    err.flush()
    err.seek(0)
    text = err.read()
    if code not in (0, 1, 2):
        return Said(True, f"exit code {code}")
    return Said(code != 0, sentence(text) if code and text else "")


class _Ends:
    """A client that sends one line and keeps what it is told."""

    client_is_gone = False

    def __init__(self, line: str) -> None:
        self.sent = [HELLO, READY, line]
        self.told: list[str] = []

    def __aiter__(self) -> _Ends:
        return self

    async def __anext__(self) -> str:
        if not self.sent:
            raise StopAsyncIteration
        return self.sent.pop(0) + "\n"

    async def write(self, text: str) -> None:
        self.told.append(text)

    async def flush(self) -> None:
        await anyio.sleep(0)


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "hello",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "fuzz", "version": "1"},
        },
    }
)
READY = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def line(place: Place, given: bytes) -> Said:
    """A line of JSON-RPC, in a session of its own."""
    ends = _Ends(given.decode("utf-8", "replace"))

    async def call(name: str, arguments: Mapping[str, object], **kwargs: Any) -> Any:
        return mcp_tools.call(name, arguments, **kwargs)

    async def session() -> None:
        server = mcp_session.build(caller=CALLER, instructions="", calls=call)
        with anyio.fail_after(30):
            await mcp_stdio.talk(server, ends)

    # The tools run on this thread, in the loop: one connection for all.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    try:
        served.runner().run(session())
    except Exception as error:
        return Said(False, f"{type(error).__name__}: {error}"[:300])
    refused = False
    for text in "".join(ends.told).strip("\n").split("\n"):
        message = json.loads(text)
        shown = json.dumps(message.get("result", {}), ensure_ascii=False)
        failed = message.get("result", {}).get("isError") or "error" in message
        refused = refused or bool(failed)
        if failed and TRACEBACK.search(shown + json.dumps(message.get("error", ""))):
            return Said(True, text[:400])
    return Said(refused)


def web(place: Place, given: served.Request) -> Said:
    """A message of MCP over HTTP."""
    told = served.ask(place, given)
    if given.method == "GET" and not told.status:
        return Said(False)  # a stream that nobody waits for
    if told.status >= 500 or not told.status:
        return Said(True, f"status {told.status}: {told.text[:300]}")
    if TRACEBACK.search(told.text):
        return Said(True, told.text[:400])
    if told.status >= 400:
        return Said(True, sentence(told.text))
    return Said(bool(told.text) and served.failed(told.text))


def bring(place: Place, given: tuple[str, bytes]) -> Said:
    """A file that is imported."""
    error = files.imported(*given)
    return Said(bool(error), sentence(error) if error else "")


def hook(place: Place, given: tuple[str, str, bytes]) -> Said:
    """A payload as the resident answers it, with what is done afterwards."""
    verb, host, body = given
    done = answer.respond(
        [verb, *(["--tool", host] if host else [])],
        body,
        env={"HOME": "/nonexistent"},
        cwd="/",
        memory=lambda cwd: memory.warm(cwd, {"HOME": "/nonexistent"}, conf.current()),
        claim=lambda key: True,
    )
    if done.error:
        return Said(False, done.error[:300])
    try:
        bookkeeping.after(done)
    except Exception as error:
        return Said(False, f"after: {type(error).__name__}: {error}"[:300])
    if done.line.startswith("{") and done.line.count("\n") != 1:
        return Said(False, f"no single line: {done.line[:300]}")
    return Said(False)


def transcript(place: Place, given: bytes) -> Said:
    """The text of a transcript, read into turns."""
    text = given.decode("utf-8", "replace")
    transcripts.turns(text)
    transcripts.last_words(text)
    return Said(True)


class Surface(NamedTuple):
    """A surface: its inputs, what takes them, and its share of a run."""

    inputs: Callable[[Place], Made[Any]]
    take: Callable[[Place, Any], Said]
    share: float


SURFACES: Mapping[str, Surface] = {
    "tool": Surface(inputs.calls, tool, 0.2),
    "http": Surface(inputs.routes, http, 0.2),
    "command": Surface(inputs.words, command, 0.16),
    "mcp": Surface(inputs.lines, line, 0.08),
    "web": Surface(inputs.requests, web, 0.08),
    "import": Surface(files.inputs, bring, 0.08),
    "hook": Surface(lambda place: inputs.payloads(), hook, 0.12),
    "transcript": Surface(
        lambda place: inputs.payloads().map(lambda p: p[2]), transcript, 0.08
    ),
}

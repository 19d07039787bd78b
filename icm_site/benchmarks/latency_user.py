"""The user of the latency benchmark: memories, a resident, and what is run as them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

from icm_site.errors import Unavailable
from icm_site.resident import client, place

HOOK = Path(client.ROOT) / "icm_site" / "hook_client.py"
ICM = (
    f"import sys; sys.path.insert(0, {client.ROOT!r}); "
    "from icm_site.cli import main; sys.exit(main())"
)
FILL = (
    f"import sys; sys.path.insert(0, {client.ROOT!r}); "
    "from icm_site.benchmarks.latency_fill import main; main(*sys.argv[1:])"
)
START_SECONDS = 60.0
# Of Claude Code, one for each verb.
EVENTS = {
    "start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre": "PreToolUse",
    "post": "PostToolUse",
    "compact": "PreCompact",
    "end": "SessionEnd",
}
ALONE = {place.SWITCH: "0"}


class User:
    """A home of its own. Each method that runs something returns milliseconds."""

    WORDS: ClassVar[list[str]] = (
        "kettle harbour ledger compass lantern orchard granite meadow anchor copper "
        "window timber saddle violin pepper marble canyon velvet beacon thistle"
    ).split()

    def __init__(self, folder: Path, *, model: bool) -> None:
        self.model = model
        self._work = folder / "shop"
        self._work.mkdir(parents=True)
        self._database = str(folder / "icm.sqlite3")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ICM_")}
        self._env = kept | {
            **{f"XDG_{n}_HOME": str(folder / n) for n in ("DATA", "CONFIG", "CACHE")},
            "HOME": str(folder),
            "ICM_DB": self._database,
            **({} if model else {"ICM_NO_EMBEDDINGS": "1"}),
        }
        self._session: subprocess.Popen[str] | None = None
        self._embedding: subprocess.Popen[str] | None = None
        self._number = 10

    def fill(self, count: int, *, vectors: bool = True) -> None:
        """Store memories about these words, with the model each with a random vector.

        Without `vectors` they are others, which wait for theirs.
        """
        kind = "" if not vectors else "vectors" if self.model else "words"
        self._run(["-P", "-c", FILL, str(count), kind])

    def start(self) -> None:
        """Have the resident up, with everything loaded. Raises Unavailable."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            self.recall("warm up")
            address = place.read(self._database)
            if address is not None and address.state == place.READY:
                self.serve("warm up")
                self._session = self._connected(self._env)
                return
            time.sleep(0.1)
        raise Unavailable("the resident does not start")

    def resident(self) -> int:
        """The process id of the resident. Raises Unavailable without one."""
        address = place.read(self._database)
        if address is None or not address.pid:
            raise Unavailable("the resident has ended")
        return address.pid

    def session(self) -> subprocess.Popen[str]:
        """One more MCP client, connected and idle."""
        return self._connected(self._env)

    def embed_all(self) -> None:
        """Have all missing vectors made, as another MCP client asks for it."""
        server = self._connected(self._env)
        self._embedding = server
        call = {"name": "icm_memory_embed_all", "arguments": {}}
        self._say(server, {"id": 1, "method": "tools/call", "params": call})
        assert server.stdout is not None
        server.stdout.readline()

    def stop(self) -> None:
        """End what was started."""
        if self._embedding is not None:
            # It is in the middle of it, and is not waited for.
            self._embedding.kill()
            self._embedding.wait()
        if self._session is not None:
            self._session.communicate()
        self._run(["-P", "-c", ICM, "resident", "stop"])

    def interpreter(self, *options: str) -> float:
        """Python that does nothing."""
        return self._run([*options, "-c", "pass"])

    def hook(self, text: str, verb: str = "prompt", **env: str) -> float:
        """The installed hook command, in a session that has seen nothing yet."""
        payload = {
            "session_id": text,
            "cwd": str(self._work),
            "prompt": text,
            "error": f"Error: {text}",
            "tool_name": "Bash",
            "tool_input": {"command": f'icm recall "{text}"'},
            "tool_response": {"stdout": text},
            "hook_event_name": EVENTS[verb],
        }
        command = ["-I", "-S", str(HOOK), verb, "--tool", "claude-code"]
        return self._run(command, stdin=json.dumps(payload), **env)

    def hook_alone(self, text: str) -> float:
        """The same without a resident."""
        return self.hook(text, **ALONE)

    def recall(self, text: str, **env: str) -> float:
        """`icm recall`."""
        return self._run(["-P", "-c", ICM, "recall", text], **env)

    def recall_alone(self, text: str) -> float:
        """The same without a resident."""
        return self.recall(text, **ALONE)

    def serve(self, text: str, **env: str) -> float:
        """`icm serve` from its start to the answer of a first call."""
        begun = time.perf_counter()
        server = self._connected(self._env | env)
        self._ask(server, text)
        spent = 1e3 * (time.perf_counter() - begun)
        server.communicate()
        return spent

    def serve_alone(self, text: str) -> float:
        """The same without a resident."""
        return self.serve(text, **ALONE)

    def call(self, text: str) -> float:
        """One more call of a session that is open."""
        assert self._session is not None
        begun = time.perf_counter()
        self._ask(self._session, text)
        return 1e3 * (time.perf_counter() - begun)

    def _run(self, arguments: list[str], *, stdin: str = "", **env: str) -> float:
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            input=stdin.encode(),
            stdout=subprocess.DEVNULL,
            cwd=self._work,
            env=self._env | env,
            check=True,
        )
        return 1e3 * (time.perf_counter() - begun)

    def _connected(self, env: dict[str, str]) -> subprocess.Popen[str]:
        server = subprocess.Popen(
            [sys.executable, "-P", "-c", ICM, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            cwd=self._work,
            env=env,
        )
        info = {"name": "bench", "version": "1"}
        revision = {"protocolVersion": "2025-11-25", "capabilities": {}}
        self._exchange(server, "initialize", {**revision, "clientInfo": info})
        self._say(server, {"method": "notifications/initialized"})
        return server

    def _ask(self, server: subprocess.Popen[str], text: str) -> None:
        call = {"name": "icm_memory_recall", "arguments": {"query": text}}
        answer = self._exchange(server, "tools/call", call)
        if answer["result"].get("isError"):
            raise Unavailable(str(answer["result"]))

    def _exchange(
        self, server: subprocess.Popen[str], method: str, params: object
    ) -> dict[str, Any]:
        self._number += 1
        self._say(server, {"id": self._number, "method": method, "params": params})
        assert server.stdout is not None
        answer: dict[str, Any] = json.loads(server.stdout.readline())
        return answer

    def _say(self, server: subprocess.Popen[str], message: dict[str, object]) -> None:
        assert server.stdin is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

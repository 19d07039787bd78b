"""One agent's program on one database: a process of `icm serve` and its client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from icm_site.errors import Unavailable

ICM = "import sys; from icm_site.cli import main; sys.exit(main(sys.argv[1:]))"
REVISION = "2025-11-25"


class McpHost:
    """A client that introduces itself by a name. Its server ends at the deadline."""

    def __init__(
        self, name: str, *, folder: Path, database: Path, seconds: int
    ) -> None:
        """Start the server in `folder` and shake hands. Raises Unavailable."""
        self.name = name
        env = {**os.environ, "ICM_DB": str(database), "ICM_RESIDENT": "0"}
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-c", ICM, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=folder,
            env=env,
        )
        self._number = 0
        self._watch = threading.Timer(seconds, self._server.kill)
        self._watch.daemon = True
        self._watch.start()
        info = {"name": name, "version": "1"}
        hello = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        self._exchange("initialize", hello)
        self._say({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: object) -> str:
        """The text that a tool answers. Raises Unavailable for an error."""
        answer = self._exchange("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result", {})
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        if not result or result.get("isError"):
            raise Unavailable(f"{self.name}: {tool} failed: {text or answer}")
        return text

    def close(self) -> None:
        """End the server."""
        self._watch.cancel()
        self._server.kill()
        self._server.communicate()

    def _exchange(self, method: str, params: object) -> dict[str, Any]:
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params})
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            raise Unavailable(f"{self.name}: its server ended, or ran out of time")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _say(self, message: dict[str, object]) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self._server.stdin.flush()
        except BrokenPipeError:
            raise Unavailable(f"{self.name}: its server has ended") from None

"""An MCP server in a process of its own, for a bridge that has lost the resident."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from icm_site.resident import client, place

START = (
    "import sys; sys.path.insert(0, {root!r}); from icm_site.cli import main; "
    "sys.exit(main())"
)


class OwnServer:
    """The ends of that process, in the words of a socket."""

    def __init__(
        self, arguments: list[str], *, env: Mapping[str, str], cwd: str
    ) -> None:
        code = START.format(root=client.ROOT)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**env, place.SWITCH: "0"},
            cwd=cwd,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""
        while data:
            data = data[os.write(self._input, data) :]

    def recv(self, size: int, /) -> bytes:
        """What the server says next; b"" at its end."""
        return os.read(self._output, size)

    def settimeout(self, seconds: float, /) -> None:
        """It is our own process: it is waited for."""

    def shutdown(self, how: int, /) -> None:
        """End its input."""
        del how
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

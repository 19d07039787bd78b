"""The installed server, run as the tools run it, on a database of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from icm_site.doctor.findings import Finding, ok, wrong

SECONDS = 30.0
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "icm-doctor", "version": "1"},
    },
}
REPAIR = "icm init --force"


def mcp(title: str, command: Sequence[str]) -> Iterator[Finding]:
    """Whether a server, started as the entry says, introduces itself."""
    fault = _introduced(tuple(command))
    if fault:
        text = f"the server {command[0]} does not answer: {fault}"
        yield wrong(title, text, REPAIR)
    else:
        yield ok(title, "the server answers")


@cache
def _introduced(command: tuple[str, ...]) -> str:
    """What is wrong with a server, "" for nothing."""
    done = run(command, json.dumps(HELLO) + "\n")
    if isinstance(done, str):
        return done
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return "it prints what is no message"
        if isinstance(answer, dict) and answer.get("id") == 1 and "result" in answer:
            return ""
    return last(done.stderr) or f"no answer, exit code {done.returncode}"


def run(
    command: Sequence[str],
    stdin: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str] | str:
    """Run it, by itself on an empty database without a resident; a fault is a text."""
    with tempfile.TemporaryDirectory(prefix="icm-doctor-") as folder:
        own = {"ICM_DB": f"{folder}/icm.sqlite3", "ICM_RESIDENT": "0"}
        try:
            return subprocess.run(
                list(command),
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=SECONDS,
                env={**os.environ, **own, "ICM_NO_EMBEDDINGS": "1", **(env or {})},
                cwd=cwd,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {SECONDS:.0f} s"
        except OSError as error:
            return str(error.strerror)


def last(text: str) -> str:
    """The last line of what a program said."""
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""

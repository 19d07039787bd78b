"""The installed commands, run as the tools run them, on a database of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache

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
# Of every host: fields that it does not know are passed over.
PAYLOAD = {"prompt": "icm doctor asks whether this hook answers", "session_id": ""}
REPAIR = "icm init --force"


def mcp(title: str, command: Sequence[str]) -> Iterator[Finding]:
    """Whether a server, started as the entry says, introduces itself."""
    fault = _introduced(tuple(command))
    if fault:
        text = f"the server {command[0]} does not answer: {fault}"
        yield wrong(title, text, REPAIR)
    else:
        yield ok(title, "the server answers")


def hooks(title: str, commands: Sequence[str]) -> Iterator[Finding]:
    """Whether the hook commands end well and say nothing but JSON."""
    asked = {}
    for command in commands:
        verb = re.search(r"(\w+)(?: --tool \S+)?[^\w]*(?:\|\| :; fi)?\s*$", command)
        asked[verb[1] if verb else command] = command
    shown = "prompt" if "prompt" in asked else next(iter(asked))
    fault = _answered(_shell(asked[shown]))
    if fault:
        yield wrong(title, f"its hook {shown} does not work: {fault}", REPAIR)
    else:
        yield ok(title, f"the hook {shown} answers")


def plugin(title: str, places: Sequence[str]) -> Iterator[Finding]:
    """Whether what a plugin starts (Python, the file for hooks) ends well."""
    python, hook = places
    command = (python, "-I", "-S", hook, "prompt", "--tool", "opencode")
    fault = _answered(command)
    if fault:
        yield wrong(title, f"what its plugin runs does not work: {fault}", REPAIR)
    else:
        yield ok(title, "what its plugin runs answers")


def _shell(command: str) -> tuple[str, ...]:
    if os.name != "nt":
        return ("sh", "-c", command)
    if command.startswith("if (("):
        return ("powershell", "-NoProfile", "-Command", command)
    return ("cmd", "/d", "/c", command)


@cache
def _introduced(command: tuple[str, ...]) -> str:
    """What is wrong with a server, "" for nothing."""
    done = _run(command, json.dumps(HELLO) + "\n")
    if isinstance(done, str):
        return done
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            return "it prints what is no message"
        if isinstance(answer, dict) and answer.get("id") == 1 and "result" in answer:
            return ""
    return _last(done.stderr) or f"no answer, exit code {done.returncode}"


@cache
def _answered(command: tuple[str, ...]) -> str:
    """What is wrong with a hook, "" for nothing."""
    done = _run(command, json.dumps(PAYLOAD))
    if isinstance(done, str):
        return done
    if done.returncode:
        return f"exit code {done.returncode}"
    if done.stderr.strip():
        return f"it says {_last(done.stderr)!r}"
    try:
        json.loads(done.stdout or "{}")
    except ValueError:
        return "it prints what is no JSON"
    return ""


def _run(command: Sequence[str], stdin: str) -> subprocess.CompletedProcess[str] | str:
    """Run it on an empty database, without a resident; a fault is a text."""
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
                env={**os.environ, **own, "ICM_NO_EMBEDDINGS": "1"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {SECONDS:.0f} s"
        except OSError as error:
            return str(error.strerror)


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""

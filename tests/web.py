"""What tests of the web surfaces share: a client in this process, the real server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.test import Client

from memories import tokens

PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Reply:
    """What came back; `body` is the JSON of it."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Api:
    """A program that speaks HTTP to us, with a token or without."""

    secret: str = ""

    def __call__(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Reply:
        if self.secret:
            headers.setdefault("Authorization", f"Bearer {self.secret}")
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        answer = Client(enforce_csrf_checks=True).generic(
            method,
            path,
            "" if body is None else data,
            content_type="application/json",
            headers={name.replace("_", "-"): text for name, text in headers.items()},
        )
        return Reply(answer.status_code, json.loads(answer.content), answer.headers)

    def get(self, path: str) -> Any:
        """The body of an answer that must be a success."""
        reply = self("GET", path)
        assert reply.status == 200, reply
        return reply.body

    def op(self, name: str, **given: Any) -> Any:
        """The result of an operation that must be a success."""
        reply = self("POST", f"/ops/{name}", given)
        assert reply.status == 200, reply
        return reply.body


def with_token(name: str = "scripts", *, read_only: bool = False) -> Api:
    return Api(tokens.create(name, read_only=read_only)[1])


@dataclass(frozen=True)
class Server:
    """A running `icm web`; `log` is what it wrote to stderr.

    `token` and `memory` are the secret of a token and the id of a memory there.
    """

    address: str
    process: subprocess.Popen[str]
    log: Path
    token: str = ""
    memory: str = ""


def _hear_interrupts() -> None:
    # A job in the background inherits that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def variables(folder: Path) -> dict[str, str]:
    """Variables of a user whose everything is below a folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ICM_")}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "icm_site.settings",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "ICM_DB": str(folder / "icm.sqlite3"),
        "ICM_NO_EMBEDDINGS": "1",
        "ICM_RESIDENT": "0",
        "PYTHONPATH": str(PROJECT),
    }


def command(folder: Path, *arguments: str) -> str:
    """What `icm ARGUMENTS` prints there."""
    done = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", *arguments],
        env=variables(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.strip()


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """The real server on a free port, ended at the end of the block."""
    log = folder / "web.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "icm_site.cli", "web", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            text=True,
            env=variables(folder),
            cwd=folder,
            preexec_fn=_hear_interrupts,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Serving http"), log.read_text()
    try:
        yield Server(line.split()[1].rstrip("/"), process, log)
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


def wait_for(path: Path, text: str, *, seconds: float = 10.0) -> None:
    """Wait until a file holds a text."""
    end = time.monotonic() + seconds
    while text not in path.read_text():
        assert time.monotonic() < end, path.read_text()
        time.sleep(0.05)


def password_in(server: Server) -> str:
    """The password that a first start showed."""
    wait_for(server.log, "password")
    found = re.search(r"as owner with the password (\S+)", server.log.read_text())
    assert found is not None
    return found[1]

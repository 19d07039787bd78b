"""A user with a resident of their own, for tests; nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from icm_site.resident import claim, place
from tests.conftest import PROJECT

TRANSPORTS = ["unix", "tcp"]
HOOK = PROJECT / "icm_site" / "hook_client.py"
WAIT_SECONDS = 30.0

Env = Mapping[str, str]
NOTHING: Env = MappingProxyType({})
Done = subprocess.CompletedProcess[bytes]


class Warm:
    """Runs commands as this user; `start` waits until the resident answers."""

    def __init__(self, folder: Path, base: dict[str, str], transport: str) -> None:
        self.work = folder / "shop"
        self.work.mkdir(parents=True, exist_ok=True)
        self.database = str(folder / "icm.sqlite3")
        kept = {k: v for k, v in base.items() if not k.startswith("ICM_")}
        places = {
            name: str(folder / name.split("_")[1].lower())
            for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
        }
        self.env = kept | {
            "HOME": str(folder / "home"),
            **places,
            "ICM_DB": self.database,
            "ICM_NO_EMBEDDINGS": "1",
            "ICM_RESIDENT_TRANSPORT": transport,
            "PYTHONPATH": str(PROJECT),
            "COLUMNS": "100",
        }

    def icm(
        self,
        *arguments: str,
        stdin: bytes = b"",
        cold: bool = False,
        env: Env = NOTHING,
    ) -> Done:
        """Run `icm ARGUMENTS` to its end."""
        command = [sys.executable, "-m", "icm_site.cli", *arguments]
        return self.run(command, stdin=stdin, cold=cold, env=env)

    def hook(
        self,
        payload: object,
        *,
        cold: bool = False,
        event: str = "prompt",
        env: Env = NOTHING,
    ) -> Done:
        """Run the installed hook command on a payload (bytes, or what becomes JSON)."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        command = [sys.executable, "-I", "-S", str(HOOK), event]
        return self.run(
            [*command, "--tool", "claude-code"], stdin=body, cold=cold, env=env
        )

    def prompt(self, text: str, *, cold: bool = False, env: Env = NOTHING) -> str:
        """The context that the hook adds to a prompt; "" for none."""
        payload = {"hook_event_name": "UserPromptSubmit", "prompt": text}
        done = self.hook({**payload, "cwd": str(self.work)}, cold=cold, env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        answer: dict[str, Any] = json.loads(done.stdout)
        return str(answer["hookSpecificOutput"]["additionalContext"])

    def run(
        self, command: Sequence[str], *, stdin: bytes, cold: bool, env: Env = NOTHING
    ) -> Done:
        switch = {place.SWITCH: "0"} if cold else {}
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            cwd=self.work,
            env={**self.env, **switch, **env},
            timeout=120,
            check=False,
        )

    def start(self) -> int:
        """Have a database and a resident; its process number."""
        if not Path(self.database).exists():
            self.icm("topics", cold=True)
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            self.icm("topics")
            pid = self.pid()
            if pid:
                return pid
            time.sleep(0.1)
        raise AssertionError("no resident: " + self.log())

    def pid(self) -> int:
        """The process that answers, 0 for none."""
        address = place.read(self.database)
        ready = address is not None and address.state == place.READY
        return address.pid if ready and address and alive(address.pid) else 0

    def served(self) -> int:
        """How many requests the resident has accepted."""
        out = self.icm("resident", "status").stdout.decode()
        return int(out.split("requests:")[1].split()[0])

    def log(self) -> str:
        """The resident's log."""
        found = Path(self.env["XDG_CACHE_HOME"]) / "icm-memory" / "resident.log"
        return found.read_text() if found.exists() else ""

    def stop(self) -> None:
        """End the resident, whatever its state."""
        pid = self.pid()
        if pid:
            os.kill(pid, signal.SIGCONT)
        assert self.icm("resident", "stop").returncode == 0
        assert not claim.is_locked(self.database)

    def wait_until_gone(self, pid: int, seconds: float = WAIT_SECONDS) -> None:
        """Wait for a resident that is to leave."""
        end = time.monotonic() + seconds
        while alive(pid):
            assert time.monotonic() < end, "it stays"
            time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be collected."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text()
        return facts.rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False

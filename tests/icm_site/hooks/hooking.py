"""A database of its own and the hooks on it, in this process and without a resident."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from icm_site.hooks import answer, bookkeeping, memory
from icm_site.hooks.answer import Done

SAMPLES = Path(__file__).with_name("samples")
# Name of a host's folder of samples -> its name in --tool.
TOOLS = {
    "amazon-q": "amazon-q",
    "claude-code": "claude-code",
    "cline": "cline",
    "codex-cli": "codex",
    "copilot-cli": "copilot",
    "cursor": "cursor",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "vscode": "vscode",
    "windsurf-cascade": "windsurf",
}


class Hooks:
    """Runs verbs on a copy of a database; `work` is the folder of a project."""

    def __init__(self, database: Path, folder: Path, **env: str) -> None:
        self.work = folder / "work" / "teapot-api"
        self.work.mkdir(parents=True, exist_ok=True)
        self.database = folder / "icm.sqlite3"
        shutil.copy(database, self.database)
        self.env: dict[str, str] = {
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "ICM_DB": str(self.database),
            "PATH": "",
            **env,
        }
        self.claimed: set[str] = set()

    def run(
        self,
        verb: str,
        payload: object,
        *options: str,
        tool: str = "claude-code",
        env: Mapping[str, str] | None = None,
    ) -> Done:
        """One run of a verb, recorded as the command records it."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        variables = {**self.env, **(env or {})}
        words = [verb, *(["--tool", tool] if tool else []), *options]
        done = answer.respond(
            words,
            body,
            env=variables,
            cwd=str(self.work),
            memory=lambda cwd: memory.cold(cwd, variables, {}),
            claim=self._claim,
        )
        with closing(memory.opened(str(self.database), "rw")) as raw:
            bookkeeping.record(raw, done, keep_days=90)
        assert done.error == "", done.error
        return done

    def said(self, verb: str, payload: object, *options: str, **given: Any) -> str:
        """The text that a verb puts before the model; "" for none."""
        return context(self.run(verb, payload, *options, **given).line)

    def _claim(self, key: str) -> bool:
        fresh = key not in self.claimed
        self.claimed.add(key)
        return fresh

    def later(self) -> None:
        """Seconds pass: what was served may come again."""
        self.claimed.clear()

    def write(self, statement: str) -> None:
        """Change the database behind its back."""
        with closing(memory.opened(str(self.database), "rw")) as raw:
            raw.execute(statement)

    def rows(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """What the database says."""
        with closing(memory.opened(str(self.database), "ro")) as raw:
            return raw.execute(statement).fetchall()


def context(line: str) -> str:
    """The text within a host's answer, whatever its form."""
    if not line.startswith("{"):
        return line.rstrip("\n")
    found = json.loads(line)
    inner = found.get("hookSpecificOutput", found)
    for name in ("additionalContext", "additional_context", "context"):
        if name in inner:
            return str(inner[name])
    return ""


def sample(name: str, **changed: object) -> dict[str, Any]:
    """A payload of the samples, by `host/event`."""
    found = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found | changed

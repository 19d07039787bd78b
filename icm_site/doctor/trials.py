"""The hooks as they are installed, each run once on a sample of what its host sends.

They run on a database of their own that holds two notes, so that there is something to
say; what comes back must be what the host documents for that event.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from icm_site.doctor import payloads, round_trips
from icm_site.doctor.findings import Finding, ok, wrong
from icm_site.doctor.payloads import Asked
from icm_site.hooks import contracts
from icm_site.hosts import program
from memories.fence import INTRODUCTION

# How our own command line ends, in whatever shell it stands.
_WORDS = re.compile(r"\b(\w+) --tool ([\w-]+)")
REPAIR = "icm init --force"


class Hook(NamedTuple):
    """A hook as a file of a tool has it; `event` as its entry or file is named."""

    event: str
    command: tuple[str, ...]
    verb: str
    host: str


def hook(event: str, command: Sequence[str]) -> Hook | None:
    """The hook that a command is; None for one of another form, as older ones are."""
    found = _WORDS.search(" ".join(command))
    if found is None:
        return None
    named = contracts.ALIASES.get(found[2], found[2])
    return Hook(event, tuple(command), found[1], named)


def plugin(host: str, python: str, file: str) -> list[Hook]:
    """What our plugin runs, by the hooks of OpenCode that it has."""
    events = {
        contract.verb: event
        for event, contract in reversed(list(contracts.HOSTS[host].items()))
    }
    base = (python, "-I", "-S", file)
    return [
        Hook(event, (*base, verb, "--tool", host), verb, host)
        for verb, event in events.items()
    ]


class Bench:
    """A database with notes, made when the first hook is tried, and a folder."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        config = folder / "config.toml"
        # Nothing that is tried is to be learned from, least of all after all this.
        config.write_text("[extraction]\nenabled = false\n", "utf-8")
        self.env = {
            "ICM_DB": str(folder / "icm.sqlite3"),
            "ICM_RESIDENT": "0",
            "ICM_NO_EMBEDDINGS": "1",
            "ICM_CONFIG": str(config),
            "XDG_RUNTIME_DIR": str(folder),
            "ICM_WORKER": "",
        }
        self._filled: str | None = None
        self._known: dict[tuple[str, ...], str] = {}

    def fill(self) -> str:
        """Store the notes once; returns why that failed."""
        if self._filled is None:
            command = [sys.executable, "-P", "-c", FILL, json.dumps(payloads.NOTES)]
            done = round_trips.run(command, "", env=self.env)
            bad = done if isinstance(done, str) else ""
            if not bad and not isinstance(done, str) and done.returncode:
                bad = round_trips.last(done.stderr) or f"exit code {done.returncode}"
            self._filled = bad
        return self._filled

    def answer(self, hook: Hook, icm: str) -> tuple[str, str]:
        """What a hook says to a sample, and what is wrong with how it says it."""
        session = f"doctor-{hook.host}-{hook.event}"
        asked = Asked(hook.event, hook.verb, session, str(self.work), f"{icm} topics")
        sent = json.dumps(payloads.payload(hook.host, asked))
        done = round_trips.run(hook.command, sent, env=self.env, cwd=self.work)
        if isinstance(done, str):
            return "", done
        if done.returncode:
            return "", f"exit code {done.returncode}"
        if done.stderr.strip():
            return "", f"it says {round_trips.last(done.stderr)!r}"
        return done.stdout, ""


FILL = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "icm_site.settings"
import django
django.setup()
from icm_site import database
from icm_site.caller import Caller
from memories import store
database.ready()
for topic, content in json.loads(sys.argv[1]):
    store.store(topic=topic, content=content, importance="high",
                caller=Caller(surface="cli"))
from django.db import connection
connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
"""


def examine(
    title: str, hooks: Sequence[Hook], bench: Bench, *, icm: str
) -> Iterator[Finding]:
    """A line for each hook: what it said, or why that is not what its host takes."""
    if hooks and (bad := bench.fill()):
        yield wrong(title, f"its hooks could not be tried: {bad}", REPAIR)
        return
    for one in dict.fromkeys(hooks):
        line, fault = bench.answer(one, icm)
        said, fault = ("", fault) if fault else checked(one, line)
        if fault:
            yield wrong(title, f"hook {one.event}: {fault}", REPAIR)
        else:
            yield ok(title, f"hook {one.event}: {said}")


def checked(hook: Hook, line: str) -> tuple[str, str]:
    """What an answer is, in words, and what is wrong with it; one of the two is ""."""
    event = (
        payloads.CLINE.get(hook.event, hook.event)
        if hook.host == "cline"
        else (hook.event)
    )
    contract = contracts.HOSTS.get(hook.host, {}).get(event)
    if contract is None or contract.verb != hook.verb:
        return "", f"{hook.host} has no event of that name for {hook.verb}"
    form = contract.form
    if form is None:
        silent = "runs and is silent, as the program wants it"
        return (silent, "") if not line else ("", f"it prints {line[:80]!r}")
    if not line:
        return _silent(hook)
    if form is contracts.plain:
        plain = line.startswith(INTRODUCTION)
        return ("answers with notes", "") if plain else ("", f"it prints {line[:80]!r}")
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "", f"it prints what is no JSON: {line[:80]!r}"
    if _shape(found) != _shape(form(event, "")):
        return "", f"it prints another form than the program takes: {line[:80]!r}"
    return ("approves icm" if hook.verb == "pre" else "answers with notes"), ""


def _silent(hook: Hook) -> tuple[str, str]:
    if hook.verb == "pre":
        return "runs, and leaves the question to the program", ""
    return "", "it says nothing, though there is something to say"


def _shape(value: Any) -> Any:
    """The keys of an answer, and those of its values that are fixed."""
    if not isinstance(value, Mapping):
        return type(value).__name__
    fixed = ("hookEventName", "permissionDecision", "behavior", "permission", "allow")
    return {k: v if k in fixed else _shape(v) for k, v in value.items()}


def shell(command: str, *, windows: bool) -> tuple[str, ...]:
    """A command as the tools give it to a shell."""
    if not windows:
        return ("sh", "-c", command)
    if command.startswith("if (("):
        return ("powershell", "-NoProfile", "-Command", command)
    return ("cmd", "/d", "/c", command)


def word(icm: str) -> str:
    """The path of our program as a word of a shell command."""
    return f'"{icm}"' if " " in icm else icm


def of_script(event: str, path: Path, *, windows: bool) -> Hook | None:
    """The hook in a file that a tool runs by itself."""
    text = path.read_text("utf-8", errors="replace")
    found = _WORDS.search(text)
    if found is None or not program.is_hook(text):
        return None
    by = ("powershell", "-NoProfile", "-File") if windows else ("sh",)
    named = contracts.ALIASES.get(found[2], found[2])
    return Hook(event, (*by, str(path)), found[1], named)

"""Homes of people who use all 17 tools, on three systems, written in many hands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from icm_site import paths
from icm_site.hosts import finding, install, manifest, removal
from icm_site.hosts.catalog import TOOLS
from icm_site.hosts.edits import Item
from icm_site.hosts.finding import Machine
from icm_site.hosts.program import Program
from icm_site.hosts.shapes import MODES, WHOLE, Setup, Target

SYSTEMS = ("linux", "darwin", "win32")
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)

# Where the program lies on each; with blanks, and letters beyond ASCII.
FOLDERS = {
    "linux": "/opt/icm 1/bin",
    "darwin": "/Users/mira/größe",
    "win32": "C:/Users/mira h",
}
PROGRAMS = {
    system: Program(
        f"{folder}/icm", f"{folder}/python", f"{folder}/icm_site/hook_client.py"
    )
    for system, folder in FOLDERS.items()
}


class Home(NamedTuple):
    """A fake home, and the program that is set up in it."""

    machine: Machine
    setup: Setup

    @property
    def data(self) -> Path:
        return paths.data_dir(self.machine.env, system=self.machine.system)

    def init(
        self, *, modes: tuple[str, ...] = MODES, force: bool = False
    ) -> install.Plan:
        """As `icm init` does it."""
        known = manifest.load(self.data)
        parts = [
            part
            for tool in finding.here(self.machine)
            for part in finding.items(tool, self.setup, self.machine, modes)
            if isinstance(part, Item)
        ]
        planned = install.plan(parts, known, force=force)
        _, failed = install.apply(planned.changes, known, now=NOW, force=force)
        assert failed == {}
        return planned

    def uninstall(self) -> list[removal.Step]:
        """As `icm uninstall` does it."""
        known = manifest.load(self.data)
        steps = removal.uninstalling(known, self.setup, self.machine)
        steps = removal.carry_out(steps)
        removal.forget(known, steps)
        return steps

    def disable_hooks(self) -> list[removal.Step]:
        """As `icm hook disable` does it."""
        known = manifest.load(self.data)
        steps = removal.disabling(known, self.setup, self.machine)
        steps = removal.carry_out(removal.keep_copies(steps, NOW))
        removal.note_disabled(known, steps)
        return steps

    def snapshot(self) -> dict[str, bytes | None]:
        """Every file with its bytes, every folder, but those of ICM's own data."""
        root = self.machine.home()
        return {
            str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
            for path in sorted(root.rglob("*"))
            if not self.data.is_relative_to(path) and not path.is_relative_to(self.data)
        }

    def targets(self) -> Iterator[tuple[Target, Path]]:
        """Every file that any tool reads."""
        for tool in TOOLS:
            for target in tool.targets:
                if not target.project:
                    yield target, finding.files(target, self.machine)[-1]


def home(root: Path, system: str = "linux", **env: str) -> Home:
    """An empty home in a folder with a blank and an umlaut in its name."""
    folder = root / "Mira Hölzl"
    folder.mkdir(exist_ok=True)
    variables = {"HOME": str(folder), "USERPROFILE": str(folder), "PATH": "", **env}
    machine = Machine(variables, system, folder)
    return Home(machine, Setup(PROGRAMS[system], system))


def with_all_tools(root: Path, system: str = "linux", **env: str) -> Home:
    """A home in which every tool has been started once."""
    made = home(root, system, **env)
    for tool in TOOLS:
        for folder in tool.folders:
            if not folder.endswith(".aider.conf.yml"):
                made.machine.path(folder).mkdir(parents=True, exist_ok=True)
    return made


# What people's files look like, by kind and by hand


def _json(keys: Mapping[str, object], indent: int | str | None = 2) -> str:
    return json.dumps({"größe": "naïve 日本", "n": [1, 2], **keys}, indent=indent,
                      ensure_ascii=False)  # fmt: skip


def _commented(text: str) -> str:
    lines = text.splitlines()
    lines[1] += " // behind it"
    return "// mine\n" + "\n  /* before\n the end */\n".join(
        ["\n".join(lines[:-1]), lines[-1] + "\n// after"]
    )


def _trailing(text: str) -> str:
    return text[: text.rindex("}")].rstrip() + ",\n}\n"


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


TOML = (
    'model = "o"  # größe\n\n[mcp_servers.other]\ncommand = "x y"\n'
    'env = { A = "1" }\n\n# before the next\n[tui]\ntheme = "日本"\n'
)
YAML = (
    "# größe\nname: Mine\nversion: 1.0.0\nmcpServers:\n  - name: other\n"
    "    command: x # c\n\n# after\nread:\n    - a b.md\nrules: []\n"
)
TEXT = "# Mine\n\nUse tabs.\n"

# hand -> (JSON from keys, TOML, YAML, Markdown)
HANDS: Mapping[str, tuple[Callable[[Mapping[str, object]], str], str, str, str]] = {
    "plain": (lambda k: _json(k) + "\n", TOML, YAML, TEXT),
    "no line end": (_json, TOML.rstrip(), YAML.rstrip(), TEXT.rstrip()),
    "tabs": (lambda k: _json(k, "\t") + "\n", TOML, YAML, TEXT),
    "crlf": (
        lambda k: _crlf(_json(k, 4) + "\n"), _crlf(TOML), _crlf(YAML), _crlf(TEXT)
    ),
    "mark": (lambda k: "\ufeff" + _json(k), "\ufeff" + TOML, "\ufeff" + YAML,
             "\ufeff" + TEXT),
    "one line": (
        lambda k: _json(k, None), "mcp_servers = { other = { command = 'x' } }\n",
        "{name: a, mcpServers: [{name: b}], read: [a.md]}\n", "one line"
    ),
    "comments": (lambda k: _commented(_json(k)), "# c\n" + TOML, YAML, TEXT),
    "trailing comma": (lambda k: _trailing(_json(k)), TOML, YAML, TEXT + "\n\n"),
    "one text": (_json, TOML, "read: a.md # c\nmcpServers: []\n", TEXT),
    "empty": (lambda k: "", "", "", ""),
    "blank": (lambda k: "\n \n", "\n", "# only\n", "\n\n"),
    "no entries": (lambda k: "{}", "[a]\n", "name: x\n", "\n"),
    "empty entries": (
        lambda k: "{ " + ", ".join(f'"{key}": {{ }}' for key in k) + " }",
        "[mcp_servers]\n", "mcpServers:\nread:\n", "x\n"
    ),
}  # fmt: skip


def fill(made: Home, hand: str) -> None:
    """Write every file that init edits in one hand."""
    as_json, toml, yaml, markdown = HANDS[hand]
    keys: dict[Path, dict[str, object]] = {}
    for target, path in made.targets():
        if target.kind in WHOLE:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if target.kind in ("json", "hooks"):
            keys.setdefault(path, {}).update(_theirs(target))
        else:
            kinds = {"toml": toml, "block": markdown}
            text = kinds.get(target.kind, yaml)
            path.write_text(text, "utf-8", newline="")
    for path, theirs in keys.items():
        path.write_text(as_json(theirs), "utf-8", newline="")


def _theirs(target: Target) -> dict[str, object]:
    """Entries of others below the key that ours goes into."""
    if target.kind == "json":
        return {target.key[0]: {"other": {"command": "their tool", "args": ["a b"]}}}
    hook = {"hooks": [{"type": "command", "command": "notify 'done'"}]}
    return {"hooks": {"SessionStart": [hook], "sessionStart": [{"command": "say x"}]}}

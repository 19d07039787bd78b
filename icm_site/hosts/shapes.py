"""What goes into the files of the AI tools: entries, instructions, skills, hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from icm_site.hosts import events, texts
from icm_site.hosts.program import Program

Mode = Literal["mcp", "cli", "skill", "hook"]
MODES: tuple[Mode, ...] = ("mcp", "cli", "skill", "hook")
Kind = Literal[
    "json", "toml", "yaml-item", "yaml-read", "hooks", "block", "file", "script"
]
# Files that are ours from the first byte to the last.
WHOLE: tuple[Kind, ...] = ("file", "script")


class Setup(NamedTuple):
    """What the content of a file depends on."""

    program: Program
    system: str
    codex_post: bool = True
    project: bool = False
    env: Mapping[str, str] = {}


class Target(NamedTuple):
    """One file of a tool and what goes into it."""

    mode: Mode
    kind: Kind
    # `{root}/rest` of places.ROOTS, or `{project}/rest`. The first that is there and
    # not empty, else the last.
    files: tuple[str, ...]
    make: Callable[[Setup], Any]
    key: tuple[str, ...] = ()
    folder: str = ""  # only where this folder is
    fallback: bool = False  # only where no target before it, of its mode, applies
    unless: str = ""  # not where this file is
    start: str = ""  # what a new file begins with
    project: bool = False  # only with --per-project


class Tool(NamedTuple):
    """A program that runs agents."""

    name: str
    title: str
    programs: tuple[str, ...]
    folders: tuple[str, ...]
    targets: tuple[Target, ...]
    advice: str = ""
    no_hooks: str = "it has no hooks"  # why, of a tool that gets none

    def instead_of_hooks(self) -> str:
        """What a tool without hooks of the person is left with; "" for others."""
        if any(row.mode == "hook" and not row.project for row in self.targets):
            return ""
        modes = [
            mode for mode in MODES if any(row.mode == mode for row in self.targets)
        ]
        left = [_LEFT[mode] for mode in modes if mode in _LEFT]
        return f"{self.no_hooks}; what works there: {', '.join(left)}"


_LEFT: Mapping[Mode, str] = {
    "mcp": "the server's tools",
    "cli": "instructions",
    "skill": "skills",
}


# Entries of MCP files


def plain(setup: Setup) -> dict[str, Any]:
    """`{command, args, env}`."""
    program = setup.program
    return {"command": program.icm, "args": program.serve(), "env": {}}


def typed(setup: Setup) -> dict[str, Any]:
    """With the type, which some tools demand."""
    return {"type": "stdio", **plain(setup)}


def cline(setup: Setup) -> dict[str, Any]:
    """With Cline's switches."""
    return {**typed(setup), "disabled": False, "autoApprove": []}


def roo(setup: Setup) -> dict[str, Any]:
    """With Roo Code's switches."""
    return {**typed(setup), "disabled": False, "alwaysAllow": []}


def kiro(setup: Setup) -> dict[str, Any]:
    """With Kiro's switches."""
    return {**plain(setup), "disabled": False, "autoApprove": []}


# Copilot CLI gives a server PATH alone; these tell where our files lie.
PASSED = (
    *("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
    *("USERPROFILE", "LOCALAPPDATA", "APPDATA", "SystemRoot"),
)


def copilot(setup: Setup) -> dict[str, Any]:
    """With the type and the tools that Copilot CLI demands."""
    env = {name: setup.env[name] for name in PASSED if setup.env.get(name)}
    return {"type": "local", **plain(setup), "env": env, "tools": ["*"]}


def in_one_list(setup: Setup) -> dict[str, Any]:
    """OpenCode and what is built on it: the command is a list with its arguments."""
    program = setup.program
    return {
        "type": "local",
        "command": [program.icm, *program.serve()],
        "enabled": True,
        "environment": {},
    }


def codex(setup: Setup) -> dict[str, Any]:
    """A table of Codex's configuration."""
    return {"command": setup.program.icm, "args": setup.program.serve()}


def listed(setup: Setup) -> dict[str, Any]:
    """An item of Continue's list."""
    return {"name": "icm", **typed(setup)}


def mcp(
    *files: str,
    make: Callable[[Setup], Any] = plain,
    key: str = "mcpServers",
    **more: Any,
) -> Target:
    """An MCP entry in a JSON file."""
    return Target("mcp", "json", files, make, (key, "icm"), **more)


# The other modes


def block(*files: str, **more: Any) -> Target:
    """The instructions as a block in a file that others write too."""
    return Target(
        "cli", "block", files, lambda setup: texts.instructions(setup.program), **more
    )


def rule(mode: Mode, file: str, template: str = "rule.md", **more: Any) -> Target:
    """The instructions as a file of their own."""
    return Target(
        mode, "file", (file,), lambda setup: texts.rule(template, setup.program), **more
    )


def _skill_text(name: str, called: str) -> Callable[[Setup], str]:
    return lambda setup: texts.skill(name, setup.program, called=called)


def _claude_skill_text(name: str) -> Callable[[Setup], str]:
    return lambda setup: texts.claude_skill(name, setup.program)


def skills(place: str, prefix: str = "", **more: Any) -> tuple[Target, ...]:
    """The skills, each a folder with a `SKILL.md` of the same name."""
    return tuple(
        Target(
            "skill",
            "file",
            (f"{place}/{prefix}{name}/SKILL.md",),
            _skill_text(name, f"{prefix}{name}"),
            **more,
        )
        for name in texts.SKILLS
    )


def claude_skills(folder: str) -> tuple[Target, ...]:
    """As `skills`, with what Claude Code alone knows."""
    return tuple(
        Target(
            "skill", "file", (f"{folder}/{name}/SKILL.md",), _claude_skill_text(name)
        )
        for name in texts.SKILLS
    )


def hooks(
    file: str,
    tool: str,
    rows: Sequence[events.Event],
    form: events.Form,
    **more: Any,
) -> Target:
    """Entries below the key `hooks`, by event."""

    def make(setup: Setup) -> tuple[events.Hook, ...]:
        return tuple(
            events.Hook(row.name, form(row, setup.program, tool, setup.system))
            for row in rows
            if setup.codex_post or (tool, row.name) != ("codex-cli", events.CODEX_POST)
        )

    return Target("hook", "hooks", (file,), make, ("hooks",), **more)


def scripts(
    place: str, tool: str, rows: Sequence[events.Event], **more: Any
) -> tuple[Target, ...]:
    """A file for each event, by its name."""

    def made(row: events.Event) -> Target:
        arguments = f"{row.verb} --tool {tool}"
        return Target(
            "hook",
            "script",
            (f"{place}/{row.name}",),
            lambda setup: texts.script(setup.program, arguments, setup.system),
            **more,
        )

    return tuple(made(row) for row in rows)


SHARED_SKILLS = skills("{agents}/skills")
CODES = ("code", "code-insiders", "vscodium")
VERSION = '{\n  "version": 1\n}\n'
# VS Code reads Copilot CLI's form too.
PROJECT_HOOKS = hooks(
    "{project}/.github/hooks/icm.json",
    "copilot-cli",
    events.COPILOT,
    events.copilot,
    start=VERSION,
    project=True,
)
# Amazon Q has hooks in agents alone: this is its usual agent, with ours.
AGENT = """{
  "name": "icm",
  "description": "The usual agent, with the memory of ICM",
  "tools": ["*"],
  "allowedTools": ["fs_read"],
  "resources": ["file://AmazonQ.md", "file://README.md", "file://.amazonq/rules/**/*.md"],
  "useLegacyMcpJson": true
}
"""


def storage(extension: str) -> tuple[str, ...]:
    """The folders in which VS Code and its kin keep the data of an extension."""
    return tuple(f"{{{root}}}/globalStorage/{extension}" for root in CODES)


def in_storage(extension: str, file: str, **more: Any) -> tuple[Target, ...]:
    """The MCP file of an extension, in each of these folders."""
    return tuple(
        mcp(f"{folder}/settings/{file}", folder=folder, **more)
        for folder in storage(extension)
    )

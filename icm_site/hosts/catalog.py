"""The 17 AI tools, a row each: how one is found, and what is written where.

The facts are those of the tools' own documentation in autumn 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from icm_site.hosts import events, texts
from icm_site.hosts.program import Program

Mode = Literal["mcp", "cli", "skill", "hook"]
MODES: tuple[Mode, ...] = ("mcp", "cli", "skill", "hook")
Kind = Literal["json", "toml", "yaml-item", "yaml-read", "hooks", "block", "file"]


class Setup(NamedTuple):
    """What the content of a file depends on."""

    program: Program
    system: str
    codex_post: bool = True
    project: bool = False


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


# Entries of MCP files


def plain(setup: Setup) -> dict[str, Any]:
    """`{command, args, env}`."""
    program = setup.program
    return {"command": program.icm, "args": program.serve(), "env": {}}


def typed(setup: Setup) -> dict[str, Any]:
    """With the type, which some tools demand."""
    return {"type": "stdio", **plain(setup)}


def _cline(setup: Setup) -> dict[str, Any]:
    return {**typed(setup), "disabled": False, "autoApprove": []}


def _roo(setup: Setup) -> dict[str, Any]:
    return {**typed(setup), "disabled": False, "alwaysAllow": []}


def _kiro(setup: Setup) -> dict[str, Any]:
    return {**plain(setup), "disabled": False, "autoApprove": []}


def _copilot(setup: Setup) -> dict[str, Any]:
    return {"type": "local", **plain(setup), "tools": ["*"]}


def _in_one_list(setup: Setup) -> dict[str, Any]:
    """OpenCode and what is built on it: the command is a list with its arguments."""
    program = setup.program
    return {
        "type": "local",
        "command": [program.icm, *program.serve()],
        "enabled": True,
        "environment": {},
    }


def _codex(setup: Setup) -> dict[str, Any]:
    return {"command": setup.program.icm, "args": setup.program.serve()}


def _listed(setup: Setup) -> dict[str, Any]:
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


def skills(folder: str, prefix: str = "", **more: Any) -> tuple[Target, ...]:
    """The skills, each a folder with a `SKILL.md` of the same name."""
    return tuple(
        Target(
            "skill",
            "file",
            (f"{folder}/{prefix}{name}/SKILL.md",),
            _skill_text(name, f"{prefix}{name}"),
            **more,
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


SHARED_SKILLS = skills("{agents}/skills")
_STORAGE = ("code", "code-insiders", "vscodium")
_VERSION = '{\n  "version": 1\n}\n'


def _storage(extension: str) -> tuple[str, ...]:
    """The folders in which VS Code and its kin keep the data of an extension."""
    return tuple(f"{{{root}}}/globalStorage/{extension}" for root in _STORAGE)


def _in_storage(extension: str, file: str, **more: Any) -> tuple[Target, ...]:
    return tuple(
        mcp(f"{folder}/settings/{file}", folder=folder, **more)
        for folder in _storage(extension)
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        "claude-code",
        "Claude Code",
        ("claude",),
        ("{claude}",),
        (
            mcp("{claude-json}", make=typed),
            block("{claude}/CLAUDE.md"),
            *(
                Target(
                    "skill",
                    "file",
                    (f"{{claude}}/skills/{name}/SKILL.md",),
                    _claude_skill_text(name),
                )
                for name in texts.SKILLS
            ),
            hooks(
                "{claude}/settings.json", "claude-code", events.CLAUDE, events.claude
            ),
        ),
        "start a new session",
    ),
    Tool(
        "claude-desktop",
        "Claude Desktop",
        (),
        ("{claude-desktop}",),
        (mcp("{claude-desktop}/claude_desktop_config.json"),),
        "restart the application",
    ),
    Tool(
        "gemini-cli",
        "Gemini CLI",
        ("gemini",),
        ("{gemini}",),
        (
            mcp("{gemini}/settings.json"),
            block("{gemini}/GEMINI.md"),
            *SHARED_SKILLS,
            hooks("{gemini}/settings.json", "gemini-cli", events.GEMINI, events.gemini),
            Target(
                "hook",
                "file",
                ("{gemini}/policies/icm.toml",),
                lambda setup: texts.gemini_policy(setup.program),
            ),
        ),
        "start a new session",
    ),
    Tool(
        "codex-cli",
        "Codex CLI",
        ("codex",),
        ("{codex}",),
        (
            Target(
                "mcp",
                "toml",
                ("{codex}/config.toml",),
                _codex,
                ("mcp_servers", "icm"),
            ),
            block("{codex}/AGENTS.override.md", "{codex}/AGENTS.md"),
            *SHARED_SKILLS,
            hooks("{codex}/hooks.json", "codex-cli", events.CODEX, events.codex),
        ),
        "type /hooks in Codex and trust the entries: until then it skips them",
    ),
    Tool(
        "copilot-cli",
        "Copilot CLI",
        ("copilot",),
        ("{copilot}",),
        (
            mcp("{copilot}/mcp-config.json", make=_copilot),
            block("{copilot}/copilot-instructions.md"),
            block("{project}/.github/copilot-instructions.md", project=True),
            *skills("{copilot-skills}/skills"),
            hooks(
                "{copilot}/hooks/icm.json",
                "copilot-cli",
                events.COPILOT,
                events.copilot,
                start=_VERSION,
            ),
        ),
        "start a new session",
    ),
    Tool(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        ("{cursor}",),
        (
            mcp("{cursor}/mcp.json", make=typed),
            *SHARED_SKILLS,
            rule(
                "skill",
                "{project}/.cursor/rules/icm.mdc",
                "cursor-rule.mdc",
                project=True,
            ),
            hooks(
                "{cursor}/hooks.json",
                "cursor",
                events.CURSOR,
                events.cursor,
                start=_VERSION,
            ),
        ),
        "restart the application",
    ),
    Tool(
        "windsurf",
        "Windsurf / Devin",
        ("windsurf", "devin"),
        ("{devin}", "{windsurf}"),
        (
            mcp("{devin}/mcp_config.json", folder="{devin}"),
            mcp("{windsurf}/mcp_config.json", folder="{windsurf}"),
            block("{devin}/AGENTS.md", folder="{devin}"),
            block("{windsurf}/memories/global_rules.md", folder="{windsurf}"),
            rule("cli", "{project}/.devin/rules/icm.md", "devin-rule.md", project=True),
        ),
        "restart the application",
    ),
    Tool(
        "vscode",
        "VS Code",
        ("code", "code-insiders", "codium"),
        ("{code}", "{code-insiders}", "{vscodium}"),
        tuple(
            mcp(f"{{{root}}}/mcp.json", make=typed, key="servers", folder=f"{{{root}}}")
            for root in _STORAGE
        ),
        "confirm the server when VS Code asks for it",
    ),
    Tool(
        "amp",
        "Amp",
        ("amp",),
        ("{amp}",),
        (
            mcp("{amp}/settings.jsonc", "{amp}/settings.json", key="amp.mcpServers"),
            *skills("{amp-skills}/skills", "icm-"),
        ),
    ),
    Tool(
        "amazon-q",
        "Amazon Q / Kiro",
        # Not `q`, which is the name of several programs.
        ("kiro-cli", "kiro"),
        ("{kiro}", "{amazon-q}"),
        (
            mcp("{kiro}/settings/mcp.json", make=_kiro, folder="{kiro}"),
            mcp("{amazon-q}/mcp.json", folder="{amazon-q}"),
        ),
    ),
    Tool(
        "cline",
        "Cline",
        ("cline",),
        ("{cline}", *_storage("saoudrizwan.claude-dev")),
        (
            mcp("{cline-settings}", make=_cline, folder="{cline}"),
            *_in_storage(
                "saoudrizwan.claude-dev",
                "cline_mcp_settings.json",
                make=_cline,
                fallback=True,
            ),
            *SHARED_SKILLS,
        ),
    ),
    # Shut down in May 2026.
    Tool(
        "roo-code",
        "Roo Code",
        (),
        ("{roo}", *_storage("rooveterinaryinc.roo-cline")),
        (
            *_in_storage("rooveterinaryinc.roo-cline", "mcp_settings.json", make=_roo),
            rule("skill", "{roo}/rules/icm.md"),
        ),
    ),
    Tool(
        "kilo-code",
        "Kilo Code",
        # Not `kilo`, which is an editor as well.
        ("kilocode",),
        ("{kilo}", *_storage("kilocode.kilo-code")),
        (
            mcp(
                "{kilo}/kilo.jsonc",
                "{kilo}/kilo.json",
                make=_in_one_list,
                key="mcp",
                folder="{kilo}",
            ),
            *_in_storage("kilocode.kilo-code", "mcp_settings.json", fallback=True),
        ),
    ),
    Tool(
        "zed",
        "Zed",
        # Not `zed`, which is a daemon of ZFS as well.
        ("zeditor",),
        ("{zed}",),
        (
            mcp("{zed}/settings.json", key="context_servers"),
            *SHARED_SKILLS,
        ),
    ),
    Tool(
        "opencode",
        "OpenCode",
        ("opencode",),
        ("{opencode}",),
        (
            mcp(
                "{opencode}/opencode.jsonc",
                "{opencode}/opencode.json",
                make=_in_one_list,
                key="mcp",
            ),
            *SHARED_SKILLS,
            Target(
                "hook",
                "file",
                ("{opencode}/plugins/icm.ts",),
                lambda setup: texts.opencode_plugin(setup.program),
            ),
        ),
        "start a new session",
    ),
    # Its last version is of June 2026.
    Tool(
        "continue",
        "Continue",
        (),
        ("{continue}",),
        (
            Target(
                "mcp",
                "yaml-item",
                ("{continue}/config.yaml",),
                _listed,
                ("mcpServers",),
                # A new config.yaml would put the older file out of force.
                unless="{continue}/config.json",
                start="name: Local Assistant\nversion: 1.0.0\nschema: v1\n",
            ),
        ),
    ),
    Tool(
        "aider",
        "Aider",
        ("aider",),
        ("{home}/.aider", "{home}/.aider.conf.yml"),
        (
            rule("cli", "{icm}/aider-conventions.md"),
            Target(
                "cli",
                "yaml-read",
                ("{home}/.aider.conf.yml",),
                lambda setup: "{icm}/aider-conventions.md",
                ("read",),
            ),
        ),
    ),
)

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}

"""The 17 AI tools, a row each: how one is found, and what is written where.

The facts are those of the tools' own documentation in autumn 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from icm_site.hosts import events, texts
from icm_site.hosts.shapes import (
    CODES,
    SHARED_SKILLS,
    VERSION,
    Target,
    Tool,
    block,
    claude_skills,
    cline,
    codex,
    copilot,
    hooks,
    in_one_list,
    in_storage,
    kiro,
    listed,
    mcp,
    roo,
    rule,
    skills,
    storage,
    typed,
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
            *claude_skills("{claude}/skills"),
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
                codex,
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
            mcp("{copilot}/mcp-config.json", make=copilot),
            block("{copilot}/copilot-instructions.md"),
            block("{project}/.github/copilot-instructions.md", project=True),
            *skills("{copilot-skills}/skills"),
            hooks(
                "{copilot}/hooks/icm.json",
                "copilot-cli",
                events.COPILOT,
                events.copilot,
                start=VERSION,
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
                start=VERSION,
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
            for root in CODES
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
            mcp("{kiro}/settings/mcp.json", make=kiro, folder="{kiro}"),
            mcp("{amazon-q}/mcp.json", folder="{amazon-q}"),
        ),
    ),
    Tool(
        "cline",
        "Cline",
        ("cline",),
        ("{cline}", *storage("saoudrizwan.claude-dev")),
        (
            mcp("{cline-settings}", make=cline, folder="{cline}"),
            *in_storage(
                "saoudrizwan.claude-dev",
                "cline_mcp_settings.json",
                make=cline,
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
        ("{roo}", *storage("rooveterinaryinc.roo-cline")),
        (
            *in_storage("rooveterinaryinc.roo-cline", "mcp_settings.json", make=roo),
            rule("skill", "{roo}/rules/icm.md"),
        ),
    ),
    Tool(
        "kilo-code",
        "Kilo Code",
        # Not `kilo`, which is an editor as well.
        ("kilocode",),
        ("{kilo}", *storage("kilocode.kilo-code")),
        (
            mcp(
                "{kilo}/kilo.jsonc",
                "{kilo}/kilo.json",
                make=in_one_list,
                key="mcp",
                folder="{kilo}",
            ),
            *in_storage("kilocode.kilo-code", "mcp_settings.json", fallback=True),
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
                make=in_one_list,
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
                listed,
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

"""The 17 AI tools, a row each: how one is found, and what is written where.

The facts are those of the tools' own documentation in autumn 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from icm_site.hosts import events, texts
from icm_site.hosts.shapes import (
    AGENT,
    CODES,
    PROJECT_HOOKS,
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
    scripts,
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
            PROJECT_HOOKS,
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
            *skills("{devin}/skills", folder="{devin}"),
            hooks(
                "{devin}/config.json",
                "devin",
                events.DEVIN,
                events.claude,
                folder="{devin}",
            ),
            # Cascade, which ended in July 2026.
            hooks(
                "{windsurf}/hooks.json",
                "windsurf",
                events.CASCADE,
                events.cascade,
                folder="{windsurf}",
            ),
        ),
        "restart the application",
    ),
    Tool(
        "vscode",
        "VS Code",
        ("code", "code-insiders", "codium"),
        ("{code}", "{code-insiders}", "{vscodium}"),
        (
            *(
                mcp(
                    f"{{{root}}}/mcp.json",
                    make=typed,
                    key="servers",
                    folder=f"{{{root}}}",
                )
                for root in CODES
            ),
            PROJECT_HOOKS,
        ),
        "confirm the server when VS Code asks for it",
        "it runs those in Claude Code's settings, and a project's (--per-project)",
    ),
    Tool(
        "amp",
        "Amp",
        ("amp",),
        ("{amp}",),
        (
            mcp("{amp}/settings.jsonc", "{amp}/settings.json", key="amp.mcpServers"),
            block("{amp}/AGENTS.md"),
            *skills("{amp-skills}/skills", "icm-"),
        ),
        no_hooks="what its plugins are given is not documented",
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
            rule("cli", "{kiro}/steering/icm.md", folder="{kiro}"),
            *skills("{kiro}/skills", folder="{kiro}"),
            # The hooks of Kiro, whose form is not documented, are not written.
            hooks(
                "{amazon-q}/cli-agents/icm.json",
                "amazon-q",
                events.AMAZON_Q,
                events.amazon_q,
                folder="{amazon-q}",
                start=AGENT,
            ),
        ),
        "in Amazon Q, take the agent with the hooks: q chat --agent icm",
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
            rule("cli", "{cline}/rules/icm.md", folder="{cline}"),
            *SHARED_SKILLS,
            *scripts("{cline}/hooks", "cline", events.CLINE, folder="{cline}"),
        ),
        "start a new task",
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
            Target(
                "hook",
                "file",
                ("{kilo}/plugins/icm.js",),
                lambda setup: texts.kilo_plugin(setup.program),
                folder="{kilo}",
            ),
        ),
        "start a new session",
    ),
    Tool(
        "zed",
        "Zed",
        # Not `zed`, which is a daemon of ZFS as well.
        ("zeditor",),
        ("{zed}",),
        (
            mcp("{zed}/settings.json", key="context_servers"),
            block("{zed}/AGENTS.md"),
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
            rule("cli", "{continue}/rules/icm.md"),
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

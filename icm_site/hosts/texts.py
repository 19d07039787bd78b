"""The texts that are written into the tools: templates with the program filled in."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from icm_site.hooks import approval
from icm_site.hosts.program import Program, in_powershell, in_sh

MARK = "written by icm init"
_PROJECT = Path(__file__).resolve().parents[2]
SKILLS = ("recall", "remember", "correct", "forget")

# What an agent may run without being asked: these, each by itself, and nothing else.
ALLOWED = tuple(" ".join(words) for words in approval.COMMANDS)


def instructions(program: Program) -> str:
    """What an agent is told to do with its memory, in Markdown."""
    return _filled("instructions.md", icm=program.word).strip()


def skill(name: str, program: Program, *, called: str = "") -> str:
    """A `SKILL.md`; `called` is its name in the tool where that is another."""
    return _filled(f"skills/{name}.md", icm=program.word, name=called or name)


def claude_skill(name: str, program: Program) -> str:
    """As `skill`, with what Claude Code alone knows: hint, and the allowed command."""
    text = skill(name, program)
    more = "argument-hint: [words]\n"
    if name == "recall" and program.word == "icm":
        more += "allowed-tools: Bash(icm recall *)\n"
    head, body = text.split("---\n", 2)[1:]
    return f"---\n{head}{more}---\n{body.rstrip()}\n"


def rule(template: str, program: Program) -> str:
    """A file of rules of its own that holds the instructions."""
    return _filled(template, instructions=instructions(program))


def opencode_plugin(program: Program) -> str:
    """The plugin for OpenCode, which takes each function of a file for one."""
    return _plugin(program, "OpenCode", "opencode", "export { IcmPlugin }")


def kilo_plugin(program: Program) -> str:
    """The same for Kilo Code, which takes the default export."""
    export = 'export default { id: "icm", server: IcmPlugin }'
    return _plugin(program, "Kilo Code", "kilo", export)


def _plugin(program: Program, title: str, tool: str, export: str) -> str:
    python, hook = json.dumps(program.python), json.dumps(program.hook)
    return _filled(
        "opencode-plugin.ts",
        title=title,
        tool=tool,
        export=export,
        python=python,
        hook=hook,
    )


def script(program: Program, arguments: str, system: str) -> str:
    """A file that runs a hook, for a tool that runs files by the names of events."""
    if system == "win32":
        return f"# {MARK}\n{in_powershell(program, arguments)}\n"
    return f"#!/bin/sh\n# {MARK}\n{in_sh(program, arguments)}\n"


def gemini_policy(program: Program) -> str:
    """Rules of Gemini CLI's policy engine: a rule for each allowed sub-command."""
    return (
        "\n".join([f"# {MARK}", *_rules(program.word), *_limits(program.word)]) + "\n"
    )


def _rules(word: str) -> list[str]:
    return [
        "\n[[rule]]\n"
        'toolName = "run_shell_command"\n'
        f"commandPrefix = {json.dumps(f'{word} {command}')}\n"
        'decision = "allow"\n'
        "priority = 100"
        for command in ALLOWED
    ]


def _limits(word: str) -> list[str]:
    """Before them: what reaches another database or writes a file is asked for."""
    name = "".join(f"\\{c}" if c in '.+"' else c for c in word)
    pattern = rf"{name}\s.*--(db|output)\b"
    return [
        "\n[[rule]]\n"
        'toolName = "run_shell_command"\n'
        f"commandRegex = {json.dumps(pattern)}\n"
        'decision = "ask_user"\n'
        "priority = 200"
    ]


@cache
def _template(name: str) -> str:
    # As installed, else as in a checkout.
    for folder in (_PROJECT / "icm_site" / "templates", _PROJECT / "templates"):
        place = folder / "hosts" / name
        if place.is_file():
            return place.read_text("utf-8")
    raise FileNotFoundError(name)


def _filled(template: str, **values: str) -> str:
    text = _template(template)
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text

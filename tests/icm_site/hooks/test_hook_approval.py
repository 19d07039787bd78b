"""Which shell commands are approved without a question: plain calls of icm alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from icm_site.hooks import approval, payload
from icm_site.registry import COMMANDS
from tests.icm_site.hooks.hooking import Hooks, sample

PROGRAM = os.path.join(os.path.dirname(sys.executable), "icm")  # noqa: PTH118, PTH120
# Not for a machine: the person says by it that a secret may be stored.
PERSONS = {"--allow-secret"}


def refused(
    command: str, *, shell: str = "posix", cwd: str = "/", path: str = ""
) -> str:
    env: Mapping[str, str] = {"PATH": path}
    return approval.refusal(command, shell=shell, cwd=cwd, env=env)


APPROVED = [
    'icm recall "brew queue"',
    'icm recall "brew queue" --limit 5',
    "icm recall 'brew queue' --limit=5 -f json",
    'icm store -t decisions-teapot-api -c "NATS on 4223"',
    "icm store -t x -c y --no-embeddings",
    "icm remember 'It costs $5 and 20 % of that is tax.' -i high",
    'icm recall "큐는 왜 NATS인가?"',
    "icm recall café",
    "icm recall src/brew.rs:41",
    "icm topics && icm stats",
    "icm topics; icm stats | icm health || icm topics",
    "icm topics\nicm stats",
    "icm topics\r\nicm stats\n",
    "  icm topics  ",
    "icm topics &",
    "icm.exe topics",
    "(icm topics)",
    "! icm topics",
    "((icm topics); icm stats)",
    "icm memoir show teapot",
    "icm memoir add-concept -m teapot -n brew -d 'What it is!'",
    "icm feedback record -t x -c c -p p --corrected q",
    "icm wake-up -p -",
    "icm recall 'wow!' -l 3",
    "icm recall 'what # is it'",
]


@pytest.mark.parametrize("command", APPROVED)
def test_plain_calls_are_approved(command: str) -> None:
    assert refused(command) == ""


REFUSED = [
    # another command beside it
    "rm -rf x && icm store -t x -c y",
    "icm recall x; rm -rf build",
    "icm recall x && rm y",
    "icm recall x || rm y",
    "icm recall x | sh",
    "icm recall x & rm y",
    "icm recall x |& sh",
    "icm recall x\nrm y",
    "icm recall x\r\nrm y",
    "icm recall x\rrm y",
    "icm recall x\x0brm y",
    "icm recall x\u2028rm y",
    "icm recall x\x85rm y",
    'icm store -t x -c "a; rm -rf y"',
    'icm store -t x -c "a\nb"',
    # substitution and redirection, in quotes too
    "icm recall $(rm y)",
    'icm recall "$(rm y)"',
    "icm recall '$(rm y)'",
    "icm recall `rm y`",
    "icm recall '`rm y`'",
    "icm recall <(rm y)",
    "icm recall >(rm y)",
    "icm recall x > y",
    "icm recall x >> y",
    "icm recall x >| y",
    "icm recall x 2>y",
    "icm recall < y",
    "icm recall << E",
    'icm recall "a > b"',
    "icm recall $HOME",
    'icm recall "$HOME"',
    "icm recall ${x}",
    'icm recall "${PS1@P}"',
    "icm recall $'x'",
    "icm recall $IFS--db=x",
    # expansion into other words
    "icm recall *",
    "icm recall ?x",
    "icm recall [ab]",
    "icm recall {--db=x,y}",
    "icm recall ~/x",
    "icm recall =ls",
    "icm recall @args",
    "icm recall %PATH%",
    "icm recall !!",
    'icm recall "!rm"',
    "icm recall a\\;b",
    "icm recall a\\\nb",
    "icm recall ^x",
    # variables and look-alikes of the name
    "ICM_DB=/x icm recall y",
    "env icm recall y",
    "PATH=/x icm recall y",
    "sudo icm recall y",
    "command icm recall y",
    "exec icm recall y",
    "nohup icm recall y",
    "icmp recall x",
    "icm-x recall x",
    "xicm recall y",
    "ICM recall x",
    "icm.sh recall x",
    "icm.exe.sh recall x",
    "іcm recall x",  # Cyrillic
    "ｉｃｍ recall x",
    "icm\u200b recall x",
    "icm\u00a0recall x",
    "icm\u2003recall x",
    "icm recall\u00a0x",
    "icm reсall x",  # Cyrillic
    "icm recall \u202ex",
    "icm recall “x”",
    "icm recall x\x00y",
    "icm recall \x1b[31m",
    "'icm' recall x",
    '"icm" recall x',
    "i'c'm recall x",
    "icm're'call x",
    "i\\cm recall x",
    "$icm recall x",
    # paths that do not lead to the program
    "./icm recall x",
    "bin/icm recall x",
    "../icm recall x",
    "~/icm recall x",
    "/tmp/icm recall x",
    "/usr/bin/../../tmp/icm recall x",
    "C:\\Temp\\icm.exe recall x",
    "\\\\host\\share\\icm.exe recall x",
    # sub-commands that are not for agents alone
    "icm",
    "icm --help",
    "icm purge --topic x --yes",
    "icm forget x",
    "icm undo x",
    "icm import x",
    "icm export x",
    "icm init",
    "icm uninstall",
    "icm config",
    "icm token create x",
    "icm web",
    "icm serve",
    "icm backup x",
    "icm consolidate -t x",
    "icm topics rename a b",
    "icm memoir delete x",
    "icm memoir export x",
    "icm memoir",
    "icm feedback apply x",
    "icm feedback delete x",
    "icm hook prompt",
    "icm trust",
    "icm pause",
    "icm learn /etc",
    "icm extract --file x",
    "icm 're'call x",
    "icm re'call' x",
    "icm 'recall' x",
    # options that reach elsewhere
    "icm recall x --db /tmp/y",
    "icm recall x --db=/tmp/y",
    "icm --db /tmp/y recall x",
    "icm recall x '--db=/tmp/y'",
    'icm recall x "--db" /tmp/y',
    "icm recall x --d'b' y",
    "icm recall x --output y",
    "icm recall x --output=y",
    "icm recall x -o y",
    "icm recall x -oy",
    "icm recall x --unheard-of",
    "icm recall -- --db",
    "icm recall x y",
    "icm recall x -l",
    "icm recall x -l --db",
    "icm store -t x -c y --allow-secret",
    "icm stats x",
    # quotes that do not end
    'icm recall "x',
    "icm recall 'x",
    'icm recall x"',
    'icm recall "x\\" ; rm y "',
    "icm() { rm y; }",
    "icm recall (x)",
    "(icm recall x",
    "icm recall x)",
    "function icm { rm y; }",
    "",
    " ",
    ";",
    "icm recall " + "x" * 30_000,
]


@pytest.mark.parametrize("command", REFUSED, ids=lambda text: repr(text)[:40])
def test_everything_else_is_left_to_the_host(command: str) -> None:
    assert refused(command) != ""


@pytest.mark.parametrize(
    "command",
    [
        "icm recall (rm y)",
        "(icm recall x)",
        "icm recall 'x (y)'",
        "icm recall {rm y}",
        "icm recall @(rm y)",
        "icm recall x –db y; icm recall ‘x’",
    ],
)
def test_powershell_allows_no_parentheses(command: str) -> None:
    assert refused(command, shell="powershell") != ""


def test_a_path_counts_if_it_leads_to_the_program(tmp_path: Path) -> None:
    link = tmp_path / "bin" / "icm"
    link.parent.mkdir()
    link.symlink_to(PROGRAM)
    assert refused(f"{PROGRAM} recall x") == ""
    assert refused(f'"{PROGRAM}" recall x') == ""
    assert refused(f"{link} recall x") == ""
    assert refused(f"'{PROGRAM}'recall x") != ""
    link.unlink()
    link.write_text("#!/bin/sh\nrm -rf y\n")
    link.chmod(0o755)
    assert refused(f"{link} recall x") != ""


def test_another_icm_that_comes_first_on_the_path_is_not_ours(tmp_path: Path) -> None:
    planted = tmp_path / "icm"
    planted.write_text("#!/bin/sh\nrm -rf y\n")
    planted.chmod(0o755)
    folder = str(Path(PROGRAM).parent)
    assert refused("icm topics", path=folder) == ""
    assert refused("icm topics", path=f"{folder}:{tmp_path}") == ""
    assert refused("icm topics", path=f"{tmp_path}:{folder}") != ""
    # A relative entry is one of the folder that is worked in.
    assert refused("icm topics", path=".", cwd=str(tmp_path)) != ""
    assert refused("icm topics", path="", cwd=str(tmp_path)) != ""


def test_the_table_knows_each_option_of_its_sub_commands() -> None:
    for words, known in approval.COMMANDS.items():
        operation, command = COMMANDS[words]
        alone, options = 0, set[str]()
        for name in operation.params.model_fields.keys() - command.hidden:
            flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
            alone += not flags
            options |= set(flags)
        assert known.alone == alone, words
        assert known.options == options - PERSONS, words


def test_a_switch_of_the_table_takes_no_value() -> None:
    for words in approval.COMMANDS:
        operation, command = COMMANDS[words]
        for name, info in operation.params.model_fields.items():
            flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
            known = set(flags) & approval.COMMANDS[words].options
            if name not in command.hidden and known:
                is_switch = info.annotation is bool
                assert bool(known & approval.SWITCHES) == is_switch, (words, name)


def test_icm_mentioned_by_another_tool_is_not_approved(hooks: Hooks) -> None:
    read = sample("claude-code/PreToolUse", tool_name="Read")
    assert hooks.run("pre", read).line == ""
    with_path = {"command": "icm topics", "env": {"PATH": "/tmp"}}
    for given in (with_path, {"command": ["icm", "topics"]}):
        asked = sample("claude-code/PreToolUse", tool_input=given)
        assert hooks.run("pre", asked).line == ""


def test_tool_input_may_come_as_a_string(hooks: Hooks) -> None:
    text = '{"command": "icm topics"}'
    asked = sample("copilot-cli/preToolUse", toolArgs=text)
    assert "allow" in hooks.run("pre", asked, tool="copilot").line
    read = payload.read(
        b'{"tool_name": "powershell", "toolArgs": "{\\"command\\": 7}"}'
    )
    assert read is not None
    assert read.command == ""


def test_an_approval_needs_no_database(hooks: Hooks) -> None:
    hooks.env["ICM_DB"] = "/nowhere/icm.sqlite3"
    assert "allow" in hooks.run("pre", sample("claude-code/PreToolUse"), tool="").line

"""Completion: the scripts as the shells themselves run them."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from icm_site import cli, command_modules, completion
from icm_site.hooks import contracts
from icm_site.registry import COMMANDS

BASH = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_icm
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
source {script}
setopt ksharrays
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_icm
print -l -- "${{COMPREPLY[@]}}"
"""
# What is typed, and what is offered.
CASES = [
    (("rec",), {"recall", "recall-context", "recall-project"}),
    (("memoir", "re"), {"refine"}),
    (("recall", "x", "--format", "t"), {"toon", "toml"}),
    (("recall", "x", "-f", "t"), {"toon", "toml"}),
    (("recall", "--topic", "s"), set()),
    (("--db", "store", "rec"), {"recall", "recall-context", "recall-project"}),
    (("init", "--mode", "s"), {"standard", "skill"}),
    (("init", "--dry"), {"--dry-run"}),
    (("hook", "p"), {"prompt", "pre", "post"}),
    (("resident", "st"), {"status", "stop"}),
    (("completion", "f"), {"fish"}),
    (("compl",), {"completion"}),
    (("store", "--impo"), {"--importance"}),
    (("store", "-i", "c"), {"critical"}),
    (("tui", "--rea"), {"--read-only"}),
]

Offer = Callable[[tuple[str, ...]], set[str]]


def script(shell: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        assert completion.main([shell]) == 0
    return out.getvalue()


def offered(done: str) -> set[str]:
    return {line.partition("\t")[0] for line in done.splitlines() if line}


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_offers_what_may_follow(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on the PATH")
    file = tmp_path / "script"
    file.write_text(script(shell))
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, expected in CASES:
        line = " ".join(("icm", *words))
        frame = {"bash": BASH, "zsh": ZSH}.get(shell, "")
        command = frame.format(script=file, words=line) or (
            f'source {file}; complete -C "{line}"'
        )
        done = subprocess.run(
            [program, "-c", command],
            stdin=subprocess.DEVNULL,
            cwd=empty,  # fish offers files where a value is free
            capture_output=True,
            encoding="utf-8",
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            timeout=60,
            check=True,
        )
        found = offered(done.stdout)
        if shell == "zsh":  # its own completion filters what a function offers
            found = {word for word in found if word.startswith(words[-1])}
        assert found == expected, line


def test_every_command_and_every_option_is_known() -> None:
    found = completion.tree()
    for words in COMMANDS:
        assert "/" + "/".join(words) in found
    for name in command_modules.COMMANDS:
        assert name in found[""].commands
        flags = {flag for option in found[f"/{name}"].options for flag in option.flags}
        assert flags > cli.GLOBALS.keys(), name
    assert set(completion.HOOK_WORDS) == {*contracts.VERBS, "disable"}


def test_no_word_of_a_script_can_do_anything_in_a_shell() -> None:
    for where, place in completion.tree().items():
        words = [where, *completion._all(place)]
        words += [value for option in place.options for value in option.values]
        assert all(re.fullmatch(r"[/a-zA-Z0-9_.-]*", word) for word in words), where


@pytest.mark.parametrize("arguments", [[], ["tcsh"], ["bash", "more"]])
def test_another_shell_is_refused_in_a_sentence(arguments: list[str]) -> None:
    with pytest.raises(Exception, match="icm completion --help"):
        completion.main(arguments)

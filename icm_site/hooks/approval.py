"""Which shell commands are plain calls of `icm` that change nothing a person minds.

Whatever is in doubt is refused, which only means that the host asks as ever. The rules
hold for POSIX shells, PowerShell and cmd alike, since a payload does not always tell.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from icm_site import later

LONGEST = 20_000
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = ("icm", "icm.exe")
# Options that name no file and reach no other database.
GLOBAL = frozenset(("--no-embeddings", "--read-only", "-f", "--format"))


class Refused(Exception):
    """Why a command is not approved."""


class Known(NamedTuple):
    """A sub-command that is approved: how many words stand alone, and its options."""

    alone: int
    options: frozenset[str]


# What erases, takes a path, opens a server, changes the configuration or answers for
# a person (`--allow-secret`) is not here.
_KNOWN = {
    "recall": "1 -t --topic -k --keyword -p --project -l --limit --max-tokens"
    " --min-score --min-relevance --explain --engine",
    "recall-context": "1 -p --project -l --limit --min-relevance",
    "recall-project": "0 -p --project -l --limit",
    "store": "0 -t --topic -c --content -i --importance -k --keywords -r --raw"
    " --supersedes",
    "remember": "1 -t --topic -i --importance -k --keywords -r --raw --supersedes",
    "save-project": "1 -i --importance -k --keywords -p --project",
    "list": "0 -t --topic -a --all -s --sort -l --limit",
    "show": "1",
    "history": "1",
    "topics": "0",
    "stats": "0",
    "health": "0 -t --topic",
    "wake-up": "0 -p --project -t --max-tokens --no-preferences",
    "context": "0 -p --project -t --max-tokens",
    "memoir list": "0",
    "memoir show": "1",
    "memoir search": "1 -m --memoir -L --label -l --limit",
    "memoir search-all": "1 -l --limit",
    "memoir inspect": "1 -m --memoir -D --depth",
    "memoir add-concept": "0 -m --memoir -n --name -d --definition -l --labels"
    " -s --sources",
    "memoir refine": "0 -m --memoir -n --name -d --definition -s --sources",
    "memoir link": "0 --from --to -m --memoir -r --relation -w --weight",
    "feedback record": "0 -t --topic -c --context -p --predicted --corrected"
    " -r --reason -s --source --memory --correction --store-correction",
    "feedback search": "1 -t --topic -l --limit",
    "feedback list": "0 -t --topic -l --limit",
    "feedback stats": "0",
}
COMMANDS: Mapping[tuple[str, ...], Known] = {
    tuple(words.split()): Known(int(facts[0]), frozenset(facts.split()[1:]))
    for words, facts in _KNOWN.items()
}
# Options that take no value.
SWITCHES = frozenset(
    ("-a", "--all", "--explain", "--store-correction", "--no-preferences")
) | frozenset(("--no-embeddings", "--read-only"))

# Where they occur, in quotes too: substitution, redirection, expansion of history.
_NOWHERE = later.pattern(r"[`<>\\^]|\$\(|!(?=[\w!?#:$*@%~^-])")
# What changes no call: a group, and the word that turns an exit code around.
_LEAD = later.pattern(r"(?:\(|![ \t]|[ \t])*")
# Characters that outside quotes stand for themselves in every shell.
_BARE = later.pattern(r"[A-Za-z0-9_\-.,:/%+@=#~\w]*\Z")
# PowerShell reads them as quotes; also what looks like a quote to a person.
_QUOTES = frozenset("‘’‚‛“”„‟＂＇«»‹›")


class Word(NamedTuple):
    """A word of a command, and whether a part of it was in quotes."""

    text: str
    quoted: bool


def refusal(command: str, *, shell: str, cwd: str, env: Mapping[str, str]) -> str:
    """Why a command is not approved, "" if it is. `shell`: posix or powershell."""
    try:
        _check(command, shell == "powershell", cwd, env)
    except Refused as refused:
        return str(refused)
    return ""


def _check(command: str, powershell: bool, cwd: str, env: Mapping[str, str]) -> None:
    if len(command) > LONGEST:
        raise Refused("too long")
    command = command.replace("\r\n", "\n").strip(" \t\n")
    _only_visible(command)
    if powershell and re.search(r"[(){}]", command):
        raise Refused("parentheses")
    parts = [part.strip(" \t") for part in re.split(r"[&|;\n]", command)]
    parts = [part for part in parts if part]
    if not parts:
        raise Refused("no command")
    depth = 0
    for part in parts:
        # In PowerShell a parenthesis was refused.
        inner, depth = _without_group(part, depth)
        _check_call(inner, cwd, env)
    if depth:
        raise Refused("parentheses")


def _only_visible(command: str) -> None:
    """No control, format or odd space characters, nor look-alikes of quotes."""
    for char in command:
        if char in "\t\n" or " " <= char <= "~":
            continue
        if char in _QUOTES or unicodedata.category(char)[0] in "CZ":
            raise Refused("an odd character")


def _check_call(part: str, cwd: str, env: Mapping[str, str]) -> None:
    """One call of icm. Raises Refused."""
    program, rest = _program(part)
    if _NOWHERE.search(rest):
        raise Refused("substitution, redirection or escape")
    _check_program(program, cwd, env)
    words = list(_words(rest))
    for length in (2, 1):
        name = tuple(word.text for word in words[:length])
        if name in COMMANDS and not any(word.quoted for word in words[:length]):
            _check_arguments(words[length:], COMMANDS[name])
            return
    raise Refused("not a sub-command that is approved")


def _without_group(part: str, depth: int) -> tuple[str, int]:
    """A part without the `(`, `!` and `)` around it, and how many are still open."""
    lead = _LEAD.match(part)
    assert lead is not None
    inner, depth = part[lead.end() :], depth + lead[0].count("(")
    while depth and inner.endswith(")"):
        inner, depth = inner[:-1].rstrip(" \t"), depth - 1
    return inner, depth


def _program(part: str) -> tuple[Word, str]:
    """The first word, which alone may have backslashes, and the rest."""
    if part[:1] in ("'", '"'):
        end = part.find(part[0], 1)
        if end < 0 or part[end + 1 : end + 2] not in ("", " ", "\t"):
            raise Refused("quotes")
        return Word(part[1:end], True), part[end + 1 :]
    first = re.match(r"[^\s'\"]*", part)
    assert first is not None
    rest = part[first.end() :]
    if rest[:1] not in ("", " ", "\t"):
        raise Refused("quotes")
    return Word(first[0], False), rest


def _check_program(program: Word, cwd: str, env: Mapping[str, str]) -> None:
    """Whether the first word leads to the installed program. Raises Refused."""
    text = program.text
    name = re.split(r"[/\\]", text)[-1]
    if name not in NAMES:
        raise Refused("another program")
    if re.search(r"[$`<>%*?\[\]{}^!~]", text):
        raise Refused("another program")
    if name == text:
        if program.quoted:
            raise Refused("quotes")
        if not _is_found(name, cwd, env):
            raise Refused("another program of that name comes first on the PATH")
        return
    if not program.quoted and "\\" in text and sys.platform != "win32":
        raise Refused("another program")
    if not os.path.isabs(text) or not _is_ours(text):
        raise Refused("the path does not lead to the installed program")


def _is_found(name: str, cwd: str, env: Mapping[str, str]) -> bool:
    """Whether the PATH leads to our program, or, as in the host's PATH, to none."""
    windows = sys.platform == "win32"
    folders = env.get("PATH", "").split(os.pathsep)
    # cmd looks in the working folder first.
    places = [cwd, *folders] if windows else folders
    names = (name, "icm.exe", "icm.cmd", "icm.bat", "icm.com") if windows else (name,)
    for folder in places:
        for candidate in names:
            path = os.path.join(cwd, folder, candidate)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return _is_ours(path)
    return True


def _is_ours(path: str) -> bool:
    """Whether a file is the `icm` of this installation, or a copy of it."""
    try:
        return any(
            os.path.isfile(own)
            and (os.path.samefile(own, path) or _same_bytes(own, path))
            for own in _own()
        )
    except (OSError, ValueError):
        return False


def _own() -> Iterator[str]:
    """Where an installer puts the program: beside the interpreter, or near us."""
    folders = [os.path.dirname(sys.executable)]
    if os.path.basename(ROOT) in ("site-packages", "dist-packages"):
        above = (("..", "..", "..", "bin"), ("..", "..", "Scripts"), ("..", "Scripts"))
        folders += [os.path.join(ROOT, *steps) for steps in above]
    for folder in folders:
        yield from (os.path.join(folder, name) for name in NAMES)


def _same_bytes(one: str, other: str) -> bool:
    """Some installers copy the program to where the PATH leads."""
    if os.path.getsize(one) != os.path.getsize(other):
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()


def _words(rest: str) -> Iterator[Word]:
    """The words after the program, as every shell would read them. Raises Refused."""
    at, text, quoted = 0, "", False
    started = False
    while at < len(rest):
        char = rest[at]
        if char in " \t":
            if started:
                yield Word(text, quoted)
            text, quoted, started = "", False, False
            at += 1
        elif char in "'\"":
            end = rest.find(char, at + 1)
            if end < 0:
                raise Refused("quotes")
            inside = rest[at + 1 : end]
            if char == '"' and "$" in inside:
                raise Refused("an expansion")
            text, quoted, started, at = text + inside, True, True, end + 1
        else:
            _check_bare(char, first=not started)
            text, started, at = text + char, True, at + 1
    if started:
        yield Word(text, quoted)


def _check_bare(char: str, *, first: bool) -> None:
    """Whether a character outside quotes stands for itself. Raises Refused."""
    if not _BARE.match(char) or (first and char in "~=@%#"):
        raise Refused("an expansion")


def _check_arguments(words: list[Word], known: Known) -> None:
    """Whether these are options and values that the sub-command is known to take."""
    alone, left = 0, iter(words)
    for word in left:
        if not word.text.startswith("-"):
            alone += 1
            continue
        option, equals, _ = word.text.partition("=")
        if word.quoted and not equals:
            raise Refused("an option in quotes")
        if option not in known.options and option not in GLOBAL:
            raise Refused(f"the option {option[:30]}")
        if equals or option in SWITCHES:
            continue
        value = next(left, None)
        if value is None or (value.text.startswith("-") and value.text != "-"):
            raise Refused(f"the option {option} without a value")
    if alone > known.alone:
        raise Refused("more words than the sub-command takes")

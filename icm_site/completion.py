"""Completion for the shells: scripts that know every command and option by heart.

They hold all words themselves, as a program started at each Tab would be slow. What
shtab and argcomplete offer lacks fish, or starts Python at each Tab.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple

from icm_site import help_page
from icm_site.arguments import Parser
from icm_site.command_modules import COMMANDS, run
from icm_site.errors import IcmError

# What comes after `icm hook`; its help is for people.
HOOK_WORDS = ("start", "prompt", "pre", "post", "compact", "end", "disable")
# An option in the help of a command, and the words that it takes, if they are given.
HELP_OPTION = re.compile(
    r"^  (?:(-\w)[^-\n]*?, )?(--[a-z][a-z-]*)(?: (?:\{([^}]*)\}|([A-Z]+)))?", re.M
)
HELP_WORDS = re.compile(r"^  \{([a-z,-]+)\}", re.M)

BASH = """\
_icm() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local place= word= i=1
    COMPREPLY=()
    while [ "$i" -lt "$COMP_CWORD" ]; do
        word=${COMP_WORDS[i]}
        i=$((i + 1))
        case $word in --db) i=$((i + 1)); continue ;; esac
        case $place/$word in
            @PLACES@) place=$place/$word ;;
        esac
    done
    case "$place $prev" in
@VALUES@
    esac
    case $place in
@WORDS@
    esac
}
complete -o default -F _icm icm
"""
ZSH = """\
autoload -U +X compinit && { (( $+functions[compdef] )) || compinit; }
autoload -U +X bashcompinit && bashcompinit
"""
FISH = """\
function __icm_place
    set -l place ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if test "$word" = --db
            set skip 1
            continue
        end
        if contains -- "$place/$word" @PLACES@
            set place "$place/$word"
        end
    end
    echo "$place"
end
function __icm_at
    test (__icm_place) = "$argv[1]"
end
"""


class Option(NamedTuple):
    """An option: its spellings, whether a value follows, and the values it may have."""

    flags: tuple[str, ...]
    takes: bool
    values: tuple[str, ...] = ()


class Place(NamedTuple):
    """What may follow a command: sub-commands, other words, options."""

    commands: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


Tree = Mapping[str, Place]


def main(arguments: Sequence[str]) -> int:
    """`icm completion SHELL`: print the script that the shell is to read."""
    parser = Parser(
        prog="icm completion",
        description="Print the script by which a shell completes the commands of icm: "
        "in bash, source <(icm completion bash) tries it out.",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=list(SHELLS), help="the shell that reads it")
    try:
        shell = parser.parse_args(list(arguments)).shell
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    print(SHELLS[shell](tree()), end="")
    return 0


def tree() -> Tree:
    """Each command by its place, as `/memoir/link`; `` is `icm` itself."""
    found = dict(_of_parser("", _operations()))
    root = found[""]
    *every, version = _options(help_page.GLOBALS)
    found[""] = root._replace(
        commands=(*root.commands, *COMMANDS),
        options=(*root.options, version),
    )
    for name in COMMANDS:
        found[f"/{name}"] = _of_help(name)
    return {
        where: place._replace(options=(*place.options, *every))
        for where, place in found.items()
    }


def _operations() -> Parser:
    from icm_site import terminal
    from icm_site.command_line import whole_parser

    return whole_parser(terminal.DEFAULT_COLUMNS)


def _of_parser(
    where: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, Place]]:
    options: list[Option] = []
    commands: list[str] = []
    words: list[str] = []
    for action in parser._actions:
        values = tuple(str(choice) for choice in action.choices or ())
        if isinstance(action, argparse._SubParsersAction):
            commands += values
            for name, inner in action.choices.items():
                yield from _of_parser(f"{where}/{name}", inner)
        elif action.option_strings:
            values = values or _braced(action.metavar)
            takes = action.nargs != 0
            options.append(Option(tuple(action.option_strings), takes, values))
        else:
            words += values or _braced(action.metavar)
    yield where, Place(tuple(commands), tuple(words), tuple(options))


def _braced(metavar: object) -> tuple[str, ...]:
    """The choices that stand as `{a,b}` for a value."""
    text = metavar if isinstance(metavar, str) else ""
    return tuple(text[1:-1].split(",")) if text.startswith("{") else ()


def _of_help(name: str) -> Place:
    """What the help of a command that is no operation tells."""
    if name == "completion":
        return Place(words=tuple(SHELLS), options=(Option(("-h", "--help"), False),))
    out = io.StringIO()
    try:
        with redirect_stdout(out):
            run(name, ["--help"])
    except (IcmError, SystemExit):
        return Place()
    text = out.getvalue()
    words = ",".join(HELP_WORDS.findall(text)).split(",")
    return Place(
        words=HOOK_WORDS if name == "hook" else tuple(filter(None, words)),
        options=_options(text),
    )


def _options(text: str) -> tuple[Option, ...]:
    """The options that a help tells."""
    return tuple(
        Option(
            tuple(filter(None, (short, long))),
            bool(values or value),
            tuple(values.split(",")) if values else (),
        )
        for short, long, values, value in HELP_OPTION.findall(text)
    )


def bash(found: Tree) -> str:
    """The script for bash."""
    values = [
        f"        {'|'.join(_quoted(f'{where} {flag}') for flag in option.flags)}) "
        + (_offer(option.values) if option.values else ":")
        + "; return ;;"
        for where, place in found.items()
        for option in place.options
        if option.takes
    ]
    words = [
        f"        {_quoted(where)}) {_offer(_all(place))} ;;"
        for where, place in found.items()
    ]
    return (
        BASH.replace("@PLACES@", "|".join(filter(None, found)))
        .replace("@VALUES@", "\n".join(values))
        .replace("@WORDS@", "\n".join(words))
    )


def _offer(words: Sequence[str]) -> str:
    return f'COMPREPLY=($(compgen -W {_quoted(" ".join(words))} -- "$cur"))'


def _all(place: Place) -> list[str]:
    flags = [flag for option in place.options for flag in option.flags]
    return [*place.commands, *place.words, *flags]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(found: Tree) -> str:
    """The script for zsh, which reads bash's."""
    return ZSH + bash(found)


def fish(found: Tree) -> str:
    """The script for fish."""
    lines = [FISH.replace("@PLACES@", " ".join(filter(None, found)))]
    for where, place in found.items():
        at = f"complete -c icm -n '__icm_at \"{where}\"'"
        if words := [*place.commands, *place.words]:
            lines.append(f"{at} -f -a {_quoted(' '.join(words))}\n")
        for option in place.options:
            flags = " ".join(_fish_flag(flag) for flag in option.flags)
            value = " -r" if option.takes else ""
            if option.values:
                value = f" -x -a {_quoted(' '.join(option.values))}"
            lines.append(f"{at} {flags}{value}\n")
    return "".join(lines)


def _fish_flag(flag: str) -> str:
    return f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"


SHELLS: Mapping[str, Callable[[Tree], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

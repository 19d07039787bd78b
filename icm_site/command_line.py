"""The commands that are operations: argparse built from the registry."""

from __future__ import annotations

import argparse
import difflib
import functools
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from icm_site import conf, help_page, startup, terminal
from icm_site.arguments import Parser
from icm_site.errors import IcmError, UsageError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from icm_site.operation import Command, Operation

Formatter = Callable[[str], argparse.HelpFormatter]


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Where a command was typed; `warm`: the database has been made ready before."""

    env: Mapping[str, str]
    cwd: str
    columns: int
    warm: bool = False


def here() -> Shell:
    """The shell of this process."""
    columns = terminal.columns(os.environ)
    return Shell(env=os.environ, cwd=str(Path.cwd()), columns=columns)


def main(arguments: Sequence[str], *, shell: Shell | None = None) -> int:
    """Run one operation's command; returns the exit code.

    `shell` is that of another process which asks; None: this one's.
    """
    shell = shell or here()
    known = commands()
    _refuse_unknown(arguments, {words[0] for words in known})
    try:
        parsed, unknown = whole_parser(shell.columns).parse_known_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    given = vars(parsed)
    words, group = given.pop("words_", ()), given.pop("group_", ())
    see = f"(see `{' '.join(['icm', *(words or group)])} --help`)"
    operation, command = known.get(words, (None, None))
    if unknown:
        raise UsageError(f"{_left_over(unknown, command)} {see}")
    if operation is None or command is None:
        raise UsageError(f"a sub-command is missing {see}")
    return _run(operation, command, given, shell)


@functools.cache
def commands() -> Mapping[tuple[str, ...], tuple[Operation, Command]]:
    """The commands by their words; the first call sets Django up."""
    with startup.importing():
        startup.set_up_django()
        from icm_site.registry import COMMANDS

    return COMMANDS


@functools.cache
def whole_parser(columns: int) -> Parser:
    """The parser of all commands, whose help is as wide as the terminal."""
    return parser(commands(), columns=columns)


def _refuse_unknown(arguments: Sequence[str], known: set[str]) -> None:
    """A sentence with the nearest command, where argparse would list them all."""
    word = arguments[0] if arguments else ""
    if not word or word.startswith("-") or word in known:
        return
    near = difflib.get_close_matches(word, help_page.LINES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see `icm --help`"
    raise UsageError(f"unknown command {word!r}: {hint}")


def _left_over(words: Sequence[str], command: Command | None) -> str:
    """A sentence on arguments that nothing takes: often a text without its quotes."""
    text = f"unrecognized arguments: {' '.join(words)}"
    bare = not any(word.startswith("-") for word in words)
    if bare and command is not None and () in command.flags.values():
        text += ": put quotes around a text of several words"
    return text


def _run(
    operation: Operation, command: Command, given: dict[str, Any], shell: Shell
) -> int:
    from icm_site import database
    from memories import outgoing
    from memories.origin import aliases_in_force, detect

    # A format before the sub-command (`topics -f json rename`) may be none of its own.
    default = next(iter(command.formats.values()))
    render = command.formats.get(given.pop("format_", None) or "", default)
    config = conf.current()
    caller = detect(
        shell.env,
        surface="cli",
        cwd=shell.cwd,
        name=config.project.name,
        aliases=aliases_in_force(config),
    )
    params = operation.parse(
        given, caller=caller, ranges=command.ranges, fill=command.fill
    )
    try:
        if not shell.warm:
            database.ready()
        result = _with_progress(operation, params, caller)
        if operation.masked:
            result = outgoing.masked(result)
    except IcmError:
        raise
    # The driver's own errors are conditions of the file or disk; what `explain` does
    # not know is a fault of ours and may crash.
    except Exception as error:
        explained = database.explain(error)
        if explained is None:
            raise
        raise explained from error
    if command.note and (note := command.note(result)):
        print(note, file=sys.stderr)
    terminal.show(render(result), shell.env, width=shell.columns)
    return command.exit_code(result) if command.exit_code else 0


def _with_progress(operation: Operation, params: Any, caller: Any) -> Any:
    if "progress" not in operation.run.__annotations__:
        return operation.run(params, caller)
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(operation.name.replace("_", " "), total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return operation.run(params, caller, progress=progress)


def parser(
    commands: Mapping[tuple[str, ...], tuple[Operation, Command]],
    *,
    columns: int = terminal.DEFAULT_COLUMNS,
) -> Parser:
    """The whole command line of the operations, its help this wide."""

    def formatter(prog: str) -> argparse.HelpFormatter:
        # The margin that argparse itself leaves.
        return argparse.RawDescriptionHelpFormatter(prog, width=columns - 2)

    root = Parser(
        prog="icm",
        usage="icm COMMAND ...",
        description=help_page.ABOUT,
        epilog=help_page.EPILOG,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    groups: dict[tuple[str, ...], Any] = {
        (): root.add_subparsers(prog="icm", help=argparse.SUPPRESS)
    }
    parsers: dict[tuple[str, ...], Parser] = {}
    for words, (operation, command) in sorted(commands.items()):
        for depth in range(1, len(words)):
            _group(groups, parsers, words[:depth], formatter)
        group = groups[words[:-1]]
        about = command.about or operation.description
        sub = parsers.get(words) or _subparser(group, words, about, formatter)
        parsers[words] = sub
        _arguments(sub, operation, command)
        sub.set_defaults(words_=words)
    return root


def _group(
    groups: dict[tuple[str, ...], Any],
    parsers: dict[tuple[str, ...], Parser],
    words: tuple[str, ...],
    formatter: Formatter,
) -> None:
    if words in groups:
        return
    if words not in parsers:
        about = help_page.LINES[words[-1]]
        about = f"{about[:1].upper()}{about[1:]}."
        parsers[words] = _subparser(groups[words[:-1]], words, about, formatter)
        parsers[words].set_defaults(group_=words)
    groups[words] = parsers[words].add_subparsers(metavar="SUB-COMMAND")


def _subparser(
    group: Any, words: tuple[str, ...], about: str, formatter: Formatter
) -> Parser:
    # The page of all commands is written by hand.
    shown = {"help": about.split("\n\n")[0].replace("\n", " ")} if words[1:] else {}
    made: Parser = group.add_parser(
        words[-1],
        description=about,
        formatter_class=formatter,
        allow_abbrev=False,
        **shown,
    )
    return made


def _arguments(sub: Parser, operation: Operation, command: Command) -> None:
    for name, info in operation.params.model_fields.items():
        if name not in command.hidden:
            _argument(sub, name, info, command)
    if len(command.formats) > 1:
        first = next(iter(command.formats))
        sub.add_argument(
            "-f",
            "--format",
            dest="format_",
            choices=list(command.formats),
            help=f"form of the output (default: {first})",
        )


def _argument(sub: Parser, name: str, info: FieldInfo, command: Command) -> None:
    flags = command.flags.get(name, (f"--{name.replace('_', '-')}",))
    required = info.is_required() and name not in command.fill
    options: dict[str, Any] = {"help": _help(info, command.ranges.get(name))}
    kind = _plain(info.annotation)
    if kind is bool:
        action = "store_false" if info.default is True else "store_true"
        options["help"] = switch(info)
        sub.add_argument(*flags, dest=name, action=action, **options)
        return
    if get_origin(kind) is Literal:
        options["metavar"] = "{" + ",".join(get_args(kind)) + "}"
    elif not flags:
        options["metavar"] = name.upper()
    if flags:
        sub.add_argument(*flags, dest=name, required=required, **options)
    else:
        sub.add_argument(name, nargs=None if required else "?", **options)


def switch(info: FieldInfo) -> str:
    """What a switch does, told from what its field means."""
    text = info.description or ""
    left_out = info.default is True
    return f"Without {text[:1].lower()}{text[1:]}" if left_out else text


def _plain(annotation: Any) -> Any:
    """The type without `None` beside it."""
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        return _plain(parts[0])
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    return annotation


def _help(info: FieldInfo, bounds: tuple[int, int] | None) -> str:
    text = info.description or ""
    if get_origin(_plain(info.annotation)) is list:
        text += ", comma-separated"
    if bounds:
        text += f" ({bounds[0]} to {bounds[1]})"
    if _shows(info.default):
        text += f" (default: {info.default})"
    return text.replace("%", "%%")


def _shows(default: object) -> bool:
    """Whether a default says something: an absent switch or text says nothing."""
    if isinstance(default, bool):
        return False
    return isinstance(default, str | int | float) and default != ""

"""The entry of `icm`: next to nothing is imported before the resident was asked."""

from __future__ import annotations

import errno
import os
import sys

from icm_site import __version__
from icm_site.errors import IcmError, InvalidInput, Unavailable, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Global options may stand before or after the command: option -> key of the
# configuration, the variable by which it reaches the processes we start, and the
# value that a switch stands for (None: the option takes one).
GLOBALS: dict[str, tuple[str, str, bool | None]] = {
    "--db": ("store.path", "ICM_DB", None),
    "--no-embeddings": ("embeddings.enabled", "ICM_NO_EMBEDDINGS", False),
    "--read-only": ("store.read_only", "ICM_READONLY", True),
}

# Commands with an option of their own that is spelled like a global one.
OWN: Mapping[tuple[str, ...], frozenset[str]] = {
    ("token", "create"): frozenset({"--read-only"}),
}

# With these `icm hook` is no event of a host.
HOOK_OPTIONS = frozenset(("--help", "-h", "disable"))

INTERRUPTED = 130
# A full disk, a broken one, or a closed descriptor behind stdout. What the database
# meets comes as an error of SQLite, not as one of these.
OUTPUT_LOST = frozenset({errno.ENOSPC, errno.EIO, errno.EBADF})
# What is wrong with a path, wherever it was given: the first look at it fails.
PATH_WRONG = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 for an error at run time, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    try:
        code = _dispatch(*_take_globals(arguments))
        sys.stdout.flush()
        return code
    except IcmError as error:
        event = arguments[:1] == ["hook"] and not HOOK_OPTIONS & set(arguments)
        return 0 if event else _fail(error)
    except BrokenPipeError:
        # The reader of our output has left (`icm … | head`); nothing is to be said.
        _drop_output()
        return 0
    except OSError as error:
        if error.errno in PATH_WRONG and arguments[:1] != ["hook"]:
            return _fail(InvalidInput(f"{error.strerror}: {error.filename}"))
        if error.errno not in OUTPUT_LOST:
            raise
        _drop_output()
        return _fail(Unavailable(f"the output could not be written: {error.strerror}"))
    except KeyboardInterrupt:
        return INTERRUPTED


def _open_closed_streams() -> None:
    """A stream that was closed (`icm … >&-`) becomes the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, null)


def _drop_output() -> None:
    """Let Python's flush at exit find nothing to complain of."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: IcmError) -> int:
    from icm_site import terminal

    return terminal.fail(error)


def _speak_utf8() -> None:
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            errors = "strict" if stream is sys.stdin else "backslashreplace"
            reconfigure(encoding="utf-8", errors=errors)


def _take_globals(arguments: list[str]) -> tuple[dict[str, str | bool], list[str]]:
    """The values of global options by key, and the arguments that are left.

    Everything after `--` is left alone. Raises UsageError, InvalidInput where an
    option that may stand once stands twice.
    """
    flags: dict[str, str | bool] = {}
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
            break
        option, equals, value = word.partition("=")
        if option not in GLOBALS or option in OWN.get(tuple(rest[:2]), ()):
            rest.append(word)
            continue
        key, _, switch = GLOBALS[option]
        if switch is not None:
            if equals:
                raise UsageError(f"{option} takes no value")
            flags[key] = switch
            continue
        if not equals:
            value = next(words, "")
        if not value or value.partition("=")[0] in GLOBALS:
            raise UsageError(f"{option} needs a value")
        if key in flags:
            raise InvalidInput(f"{option} is given more than once")
        flags[key] = value
    return flags, rest


def _dispatch(flags: Mapping[str, str | bool], arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    arguments = arguments or ["--help"]
    command = arguments[0]
    if command in ("-V", "--version", "version"):
        print(f"icm {__version__}")
        return 0
    if command == "hook" and not HOOK_OPTIONS & set(arguments):
        from icm_site import hook_client

        # Before the configuration is read: no mistake in it may stop a host.
        return hook_client.main(arguments[1:], flags=flags)
    from icm_site.command_modules import COMMANDS, run

    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        if command != "serve":
            raise Unavailable("the current folder does not exist any more") from None
        # A client's memory is worth more than the project of a folder that is gone.
        os.chdir(os.path.abspath(os.sep))
        cwd = os.getcwd()
    is_operation = command not in COMMANDS
    if is_operation or command == "serve":
        code = _through_resident(flags, arguments, cwd)
        if code is not None:
            return code
    try:
        _configure(flags, cwd)
    except IcmError:
        # What is wrong with the configuration is one of the things that it tells.
        if command != "doctor":
            raise
    if command != "serve":
        # It flushes stdout, which the server must take aside before anything else.
        _speak_utf8()
    if is_operation:
        from icm_site.command_line import main as operation

        return operation(arguments)
    return run(command, arguments[1:])


def _through_resident(
    flags: Mapping[str, str | bool], arguments: list[str], cwd: str
) -> int | None:
    """Have the warm process do it; None where this one is to."""
    from icm_site.resident import place

    if not place.wanted(os.environ) or "store.read_only" in flags:
        return None
    if arguments[0] == "serve":
        from icm_site.resident import bridge

        return bridge.main(arguments[1:], env=os.environ, cwd=cwd, flags=flags)
    from icm_site.resident import warm_command

    return warm_command.run(arguments, env=os.environ, cwd=cwd, flags=flags)


def _configure(flags: Mapping[str, str | bool], cwd: str) -> None:
    from icm_site import conf

    config = conf.load(os.environ, cwd, flags=flags)
    conf.use(config)
    for key, variable, switch in GLOBALS.values():
        if key in flags:
            path = str(config.database_path)
            os.environ[variable] = path if switch is None else "1"


if __name__ == "__main__":
    sys.exit(main())

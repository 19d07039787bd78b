"""The entry of `icm`: the standard library alone until Django is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from icm_site import __version__
from icm_site.errors import IcmError, InvalidInput

# Global options may stand before or after the command: option -> (variable, takes a
# value). They reach everything below as variables, children included.
GLOBALS = {
    "--db": ("ICM_DB", True),
    "--no-embeddings": ("ICM_NO_EMBEDDINGS", False),
    "--read-only": ("ICM_READONLY", False),
}

USAGE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 for an error at run time, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    try:
        return _dispatch(*_take_globals(arguments))
    except IcmError as error:
        return fail(error)
    except BrokenPipeError:
        # The reader of our output has left (`icm … | head`); nothing is to be said,
        # also not by Python's flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def fail(error: IcmError) -> int:
    """Say an error in one line on stderr; returns the exit code."""
    text = " ".join(error.message.split())
    print(f"Error: {text}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else 1


class UsageError(InvalidInput):
    """The command line itself is wrong."""


def _speak_utf8() -> None:
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            errors = "strict" if stream is sys.stdin else "backslashreplace"
            reconfigure(encoding="utf-8", errors=errors)


def _take_globals(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Global options as variables, and the arguments that are left.

    Everything after `--` is left alone. Raises UsageError.
    """
    variables: dict[str, str] = {}
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
            break
        option, equals, value = word.partition("=")
        if option not in GLOBALS:
            rest.append(word)
            continue
        variable, takes_value = GLOBALS[option]
        if not takes_value and equals:
            raise UsageError(f"{option} takes no value")
        if takes_value and not equals:
            value = next(words, "")
        if takes_value and not value:
            raise UsageError(f"{option} needs a value")
        if variable in variables and takes_value:
            raise UsageError(f"{option} is given more than once")
        variables[variable] = value if takes_value else "1"
    return variables, rest


def _dispatch(variables: dict[str, str], arguments: list[str]) -> int:
    if variables.get("ICM_DB"):
        variables["ICM_DB"] = os.path.abspath(variables["ICM_DB"])  # noqa: PTH100
    os.environ.update(variables)
    command = arguments[0] if arguments else "--help"
    if command in ("-V", "--version"):
        print(f"icm {__version__}")
        return 0
    return COMMANDS.get(command, _operation)(arguments)


def _config(arguments: list[str]) -> int:
    from icm_site.config_command import main as config_main

    return config_main(arguments[1:])


def _backup(arguments: list[str]) -> int:
    from icm_site.backup_command import main as backup_main

    return backup_main(arguments[1:])


def _serve(arguments: list[str]) -> int:
    from icm_site.mcp_server import main as serve_main

    return serve_main(arguments[1:])


def _bench_quality(arguments: list[str]) -> int:
    from icm_site.benchmarks.quality import main as bench_main

    return bench_main(arguments[1:])


def _operation(arguments: list[str]) -> int:
    from icm_site.command_line import main as operation_main

    return operation_main(arguments)


# Commands that are no operations; each imports what it needs by itself.
COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "backup": _backup,
    "config": _config,
    "serve": _serve,
    "bench-quality": _bench_quality,
}

if __name__ == "__main__":
    sys.exit(main())

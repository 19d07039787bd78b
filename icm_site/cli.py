"""The entry of `icm`: the standard library alone until Django is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from icm_site import __version__, conf
from icm_site.conf_keys import KEYS
from icm_site.errors import IcmError, InvalidInput, Unavailable, UsageError

# Global options may stand before or after the command: option -> key of the
# configuration, and the variable by which it reaches the processes we start.
GLOBALS = {
    "--db": (KEYS["store.path"], "ICM_DB"),
    "--no-embeddings": (KEYS["embeddings.enabled"], "ICM_NO_EMBEDDINGS"),
    "--read-only": (KEYS["store.read_only"], "ICM_READONLY"),
}

# Commands with an option of their own that is spelled like a global one.
OWN: Mapping[tuple[str, ...], frozenset[str]] = {
    ("token", "create"): frozenset({"--read-only"}),
}

USAGE = 2
# Characters of an error that are shown; it may quote what was given.
MESSAGE = 400


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 for an error at run time, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(*_take_globals(arguments))
        sys.stdout.flush()
        return code
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
    shown = text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"
    print(f"Error: {shown}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else 1


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
        key, _ = GLOBALS[option]
        takes_value = key.kind is not bool
        if not takes_value and equals:
            raise UsageError(f"{option} takes no value")
        if takes_value and not equals:
            value = next(words, "")
        if takes_value and (not value or value.partition("=")[0] in GLOBALS):
            raise UsageError(f"{option} needs a value")
        if key.name in flags and takes_value:
            raise InvalidInput(f"{option} is given more than once")
        flags[key.name] = value if takes_value else not key.inverted
    return flags, rest


def _dispatch(flags: Mapping[str, str | bool], arguments: list[str]) -> int:
    arguments = arguments or ["--help"]
    command = arguments[0]
    if command in ("-V", "--version"):
        print(f"icm {__version__}")
        return 0
    try:
        cwd = os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        raise Unavailable("the current folder does not exist any more") from None
    config = conf.load(os.environ, cwd, flags=flags)
    conf.use(config)
    for key, variable in GLOBALS.values():
        if key.name in flags:
            switch = key.kind is bool
            os.environ[variable] = "1" if switch else str(config.database_path)
    if command != "serve":
        # It flushes stdout, which the server must take aside before anything else.
        _speak_utf8()
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


def _web(arguments: list[str]) -> int:
    from icm_site.web_command import main as web_main

    return web_main(arguments[1:])


def _bench(arguments: list[str]) -> int:
    from icm_site.benchmarks.storage import main as bench_main

    return bench_main(arguments[1:])


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
    "web": _web,
    "bench": _bench,
    "bench-quality": _bench_quality,
}

if __name__ == "__main__":
    sys.exit(main())

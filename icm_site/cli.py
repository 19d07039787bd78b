"""The entry of `icm`: next to nothing is imported before the resident was asked."""

from __future__ import annotations

import errno
import os
import sys

from icm_site import __version__
from icm_site.errors import IcmError, InvalidInput, Unavailable, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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

USAGE = 2
# Characters of an error that are shown; it may quote what was given.
MESSAGE = 400
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
        return 0 if event else fail(error)
    except BrokenPipeError:
        # The reader of our output has left (`icm … | head`); nothing is to be said.
        _drop_output()
        return 0
    except OSError as error:
        if error.errno in PATH_WRONG and arguments[:1] != ["hook"]:
            return fail(InvalidInput(f"{error.strerror}: {error.filename}"))
        if error.errno not in OUTPUT_LOST:
            raise
        _drop_output()
        return fail(Unavailable(f"the output could not be written: {error.strerror}"))
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


def fail(error: IcmError) -> int:
    """Say an error in one line on stderr; returns the exit code."""
    text = error.message
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
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        if command != "serve":
            raise Unavailable("the current folder does not exist any more") from None
        # A client's memory is worth more than the project of a folder that is gone.
        os.chdir(os.path.abspath(os.sep))
        cwd = os.getcwd()
    if command in WARM or command not in COMMANDS:
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
    return COMMANDS.get(command, _operation)(arguments)


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


def _config(arguments: list[str]) -> int:
    from icm_site.config_command import main as config_main

    return config_main(arguments[1:])


def _backup(arguments: list[str]) -> int:
    from icm_site.backup_command import main as backup_main

    return backup_main(arguments[1:])


def _restore(arguments: list[str]) -> int:
    from icm_site.restore_command import main as restore_main

    return restore_main(arguments[1:])


def _repair(arguments: list[str]) -> int:
    from icm_site.repair_command import main as repair_main

    return repair_main(arguments[1:])


def _export(arguments: list[str]) -> int:
    from icm_site.exchange.export_command import main as export_main

    return export_main(arguments[1:])


def _import(arguments: list[str]) -> int:
    from icm_site.exchange.import_command import main as import_main

    return import_main(arguments[1:])


def _trust(arguments: list[str]) -> int:
    from icm_site.trust_command import main as trust_main

    return trust_main(arguments[1:])


def _init(arguments: list[str]) -> int:
    from icm_site.hosts.init_command import main as init_main

    return init_main(arguments[1:])


def _doctor(arguments: list[str]) -> int:
    from icm_site.doctor.command import main as doctor_main

    return doctor_main(arguments[1:])


def _uninstall(arguments: list[str]) -> int:
    from icm_site.hosts.uninstall_command import main as uninstall_main

    return uninstall_main(arguments[1:])


def _serve(arguments: list[str]) -> int:
    from icm_site.mcp_server import main as serve_main

    return serve_main(arguments[1:])


def _web(arguments: list[str]) -> int:
    from icm_site.web_command import main as web_main

    return web_main(arguments[1:])


def _dashboard(arguments: list[str]) -> int:
    from icm_site.dashboard.command import main as dashboard_main

    return dashboard_main(arguments[1:])


def _bench(arguments: list[str]) -> int:
    from icm_site.benchmarks.storage import main as bench_main

    return bench_main(arguments[1:])


def _hook(arguments: list[str]) -> int:
    from icm_site import hook_client

    if arguments[1:2] == ["disable"]:
        from icm_site.hosts.uninstall_command import disable_hooks

        return disable_hooks(arguments[2:])
    # All but the help was done before.
    print(hook_client.USAGE)
    return 0


def _resident(arguments: list[str]) -> int:
    from icm_site.resident.command import main as resident_main

    return resident_main(arguments[1:])


def _bench_latency(arguments: list[str]) -> int:
    from icm_site.benchmarks.latency import main as bench_main

    return bench_main(arguments[1:])


def _bench_web(arguments: list[str]) -> int:
    from icm_site.benchmarks.web import main as bench_main

    return bench_main(arguments[1:])


def _bench_quality(arguments: list[str]) -> int:
    from icm_site.benchmarks.quality import main as bench_main

    return bench_main(arguments[1:])


def _bench_scale(arguments: list[str]) -> int:
    from icm_site.benchmarks.scale import main as bench_main

    return bench_main(arguments[1:])


def _bench_format(arguments: list[str]) -> int:
    from icm_site.benchmarks.formats import main as bench_main

    return bench_main(arguments[1:])


def _bench_recall(arguments: list[str]) -> int:
    from icm_site.benchmarks.recalling import main as bench_main

    return bench_main(arguments[1:])


def _bench_agent(arguments: list[str]) -> int:
    from icm_site.benchmarks.working import main as bench_main

    return bench_main(arguments[1:])


def _completion(arguments: list[str]) -> int:
    from icm_site.completion import main as completion_main

    return completion_main(arguments[1:])


def _bench_agents(arguments: list[str]) -> int:
    from icm_site.benchmarks.sharing import main as bench_main

    return bench_main(arguments[1:])


def _operation(arguments: list[str]) -> int:
    from icm_site.command_line import main as operation_main

    return operation_main(arguments)


# Commands that are no operations; each imports what it needs by itself.
COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "backup": _backup,
    "restore": _restore,
    "repair": _repair,
    "export": _export,
    "import": _import,
    "config": _config,
    "init": _init,
    "uninstall": _uninstall,
    "doctor": _doctor,
    "serve": _serve,
    "web": _web,
    "dashboard": _dashboard,
    "tui": _dashboard,
    "bench": _bench,
    "bench-quality": _bench_quality,
    "bench-latency": _bench_latency,
    "bench-scale": _bench_scale,
    "bench-format": _bench_format,
    "bench-web": _bench_web,
    "bench-recall": _bench_recall,
    "bench-agent": _bench_agent,
    "bench-agents": _bench_agents,
    "hook": _hook,
    "resident": _resident,
    "trust": _trust,
    "completion": _completion,
}
# Those of them that the resident does, or helps with.
WARM = ("serve",)

if __name__ == "__main__":
    sys.exit(main())

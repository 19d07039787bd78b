"""How the resident does what a command or a hook asks: in a lane, into memory."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from icm_site import afterwards, command_line, terminal
from icm_site.conf import Config
from icm_site.errors import IcmError
from icm_site.registry import COMMANDS
from icm_site.resident import streams, wire
from icm_site.resident.requests import Declined, Request

Job = Callable[[], bytes]

# Writes of their own that nobody waits for come after their answer.
LONGEST = max(map(len, COMMANDS))


def job(request: Request, config: Config) -> tuple[Job, bool]:
    """What to run for a request, and whether it writes. Raises Declined."""
    if request.kind == "hook":
        return lambda: _hook(request, config), False
    if request.kind != "command":
        raise Declined(f"unknown kind {request.kind}")
    return lambda: _command(request), _writes(request.arguments)


def _writes(arguments: list[str]) -> bool:
    """Whether a command writes. Raises Declined for one that takes long."""
    words = tuple(word for word in arguments if not word.startswith("-"))
    for length in range(LONGEST, 0, -1):
        if words[:length] in COMMANDS:
            operation, _ = COMMANDS[words[:length]]
            if operation.long:
                raise Declined("long work")
            return operation.writes
    return False


def _command(request: Request) -> bytes:
    captured = streams.Captured(
        out_is_terminal=request.out_is_terminal,
        err_is_terminal=request.err_is_terminal,
    )
    shell = command_line.Shell(
        env=request.env, cwd=request.cwd, columns=request.columns, warm=True
    )
    with streams.capturing(captured):
        try:
            code = command_line.main(request.arguments, shell=shell)
        except IcmError as error:
            code = terminal.fail(error)
        # As in a process of its own: a fault of ours ends the command, told in full.
        except Exception:
            traceback.print_exc()
            code = 1
    out, err = streams.encoded(captured.out), streams.encoded(captured.err)
    return wire.pack([str(code).encode(), out, err])


def _hook(request: Request, config: Config) -> bytes:
    from icm_site.hooks import answer, memory, once, warm

    done = answer.respond(
        request.arguments,
        request.body,
        env=request.env,
        cwd=request.cwd,
        memory=lambda cwd: memory.warm(cwd, request.env, config),
        claim=once.in_process,
    )
    afterwards.do(lambda: warm.finish(done, config))
    out, err = (text.encode("utf-8", "replace") for text in (done.line, done.error))
    return wire.pack([b"0", out, err])

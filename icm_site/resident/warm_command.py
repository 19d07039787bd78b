"""A command of `icm`, done by the resident: same output, same exit code."""

from __future__ import annotations

import os
import sys

from icm_site import terminal
from icm_site.errors import Unavailable
from icm_site.resident import client, place, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def run(
    arguments: list[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    flags: Mapping[str, str | bool],
) -> int | None:
    """Have a command done; its exit code, or None where this process is to do it.

    Without a resident one is started for the next time. Raises Unavailable where it
    was lost and the outcome is not known, BrokenPipeError.
    """
    database = place.database(env, cwd, flags)
    if not database:
        return None
    asked = client.request(
        "command",
        env=env,
        cwd=cwd,
        flags=flags,
        arguments=arguments,
        terminal=_terminal(env),
    )
    try:
        answer = client.ask(database, asked)
    except client.Lost:
        raise Unavailable(
            "the resident ended before it answered; whether the command took effect "
            "is not known, so look before you repeat it"
        ) from None
    if answer is None:
        start.start(database, env)
        return None
    code, out, err = answer
    _write(sys.stderr, err)
    _write(sys.stdout, out)
    return code


def _terminal(env: Mapping[str, str]) -> str:
    ends = "o" * _is_terminal(1) + "e" * _is_terminal(2)
    return f"{terminal.columns(env)}:{ends}"


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _write(stream: object, data: bytes) -> None:
    """Write bytes to where a stream goes; one that is no file gets the text."""
    buffer = getattr(stream, "buffer", None)
    if not data or stream is None:
        return
    if buffer is None:
        stream.write(data.decode())  # type: ignore[attr-defined]
        return
    buffer.write(data)
    buffer.flush()

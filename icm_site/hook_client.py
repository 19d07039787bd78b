"""The file that installed hook commands run: `python -I -S hook_client.py EVENT`.

It asks the resident, and without one searches the words by itself and starts one for
the next time. Whatever happens, the host's work goes on: the exit code is 0.
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    # Last: nothing beside the packages may come before the standard library.
    sys.path.append(ROOT)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USAGE = """\
usage: icm hook EVENT [--tool HOST]

Answer one event of an agent's program: its payload on standard input, the answer on
standard output. Events: prompt. The exit code is always 0.

options:
  --tool HOST  the program that calls, default claude-code"""
INPUT_LIMIT = 32 << 20
DEBUG = "ICM_HOOK_DEBUG"


def main(
    arguments: Sequence[str], *, flags: Mapping[str, str | bool] | None = None
) -> int:
    """Answer one event of a host: its payload on stdin, the answer on stdout."""
    try:
        _answer(list(arguments), flags or {})
    # A hook that fails must not stop the person it is to help.
    except Exception:
        if os.environ.get(DEBUG, "") not in ("", "0"):
            import traceback

            traceback.print_exc()
    return 0


def _answer(arguments: list[str], flags: Mapping[str, str | bool]) -> None:
    body = _input()
    if body is None:
        return
    from icm_site.resident import client, place, start

    env, cwd = os.environ, os.getcwd()
    # Repositories that carry a database of their own are told by the payload; the
    # resident and the search below look there.
    database = place.database(env, cwd, flags) if place.wanted(env) else ""
    if database:
        asked = client.request(
            "hook", env=env, cwd=cwd, flags=flags, arguments=arguments, body=body
        )
        answer = client.ask(database, asked)
        if answer is not None:
            _say(answer[1])
            return
    from icm_site import later

    later.put_off()
    from icm_site import hook_recall, hooks

    text = hooks.respond(
        arguments,
        body,
        env=env,
        cwd=cwd,
        find=lambda ask: hook_recall.cold(ask, flags),
    )
    _say(text.encode("utf-8", "replace"))
    if database:
        start.start(database, env)


def _input() -> bytes | None:
    """All of stdin, None where that is more than a payload can be, or nothing."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > INPUT_LIMIT:
            return None
    return b"".join(parts) or None


def _say(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

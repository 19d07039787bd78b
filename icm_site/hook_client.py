"""The file that installed hook commands run: `python -I -S hook_client.py VERB`.

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

    from icm_site.hooks.answer import Done

USAGE = """\
usage: icm hook VERB [--tool HOST] [--event NAME] [--max-tokens N]
       icm hook disable    (take the hooks out of all AI tools)

Answer one event of an agent's program: its payload on standard input, the answer on
standard output. The exit code is always 0.

verbs:
  start         a session begins: what is known of the project
  prompt        a person has asked something: what bears on it
  pre           a tool is to run: approve plain calls of icm
  post          a tool has run
  compact       the conversation is to be shortened
  end           the session ends

options:
  --tool HOST     the program that calls; without it, told from the payload
  --event NAME    the event's name, where the payload does not say it
  --max-tokens N  budget of start, instead of wakeup.max_tokens"""
INPUT_LIMIT = 32 << 20
DEBUG = "ICM_HOOK_DEBUG"
WORKER = "ICM_WORKER"
# Seconds after which a hook ends without an answer: some hosts wait for no hook longer
# than that at the end of a session.
DEADLINES = {"start": 5.0, "end": 1.4}
DEADLINE = 2.0


def main(
    arguments: Sequence[str], *, flags: Mapping[str, str | bool] | None = None
) -> int:
    """Answer one event of a host: its payload on stdin, the answer on stdout."""
    if os.environ.get(WORKER, "") not in ("", "0"):
        return 0
    if os.isatty(0):  # a person: no host has a terminal to send a payload from
        _say(2, f"{USAGE}\n".encode())
        return 0
    try:
        _keep_deadline(arguments)
        _answer(list(arguments), flags or {})
    # A hook that fails must not stop the person it is to help.
    except Exception:
        if _debugs():
            import traceback

            traceback.print_exc()
    return 0


def _debugs() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def _keep_deadline(arguments: Sequence[str]) -> None:
    """Let this process end in time, whatever it may be waiting for."""
    import _thread
    import time

    verb = next((word for word in arguments if word in DEADLINES), "")
    seconds = DEADLINES.get(verb, DEADLINE)

    def end() -> None:
        time.sleep(seconds)
        os._exit(0)

    _thread.start_new_thread(end, ())


def _answer(arguments: list[str], flags: Mapping[str, str | bool]) -> None:
    body = _input()
    if body is None:
        return
    from icm_site.resident import client, place, start

    env, cwd = os.environ, _folder()
    # Repositories that carry a database of their own are told by the payload; the
    # resident and the search below look there.
    database = place.database(env, cwd, flags) if place.wanted(env) else ""
    if database:
        asked = client.request(
            "hook", env=env, cwd=cwd, flags=flags, arguments=arguments, body=body
        )
        answer = client.ask(database, asked)
        if answer is not None:
            _say(1, answer[1])
            if _debugs():
                _say(2, answer[2])
            return
    done = _answer_alone(arguments, body, cwd, flags)
    if database:
        start.start(database, env)
    _finish_alone(done, cwd, flags)


def _answer_alone(
    arguments: list[str], body: bytes, cwd: str, flags: Mapping[str, str | bool]
) -> Done:
    import gc

    from icm_site import later

    # What is loaded from here on stays to the end, which is near.
    gc.disable()
    later.put_off()
    from icm_site.hooks import answer, memory, once

    env = os.environ
    done = answer.respond(
        arguments,
        body,
        env=env,
        cwd=cwd,
        memory=lambda place: memory.cold(place, env, flags),
        claim=lambda key: once.by_file(key, env),
    )
    _say(1, done.line.encode("utf-8", "replace"))
    if done.error and _debugs():
        _say(2, done.error.encode("utf-8", "replace"))
    return done


def _finish_alone(done: Done, cwd: str, flags: Mapping[str, str | bool]) -> None:
    """Note the run, if the database can be written without waiting."""
    from contextlib import closing

    from icm_site.hooks import bookkeeping, memory

    known = done.run.memory.settings if done.run else None
    settings = known or memory.settings_at(cwd, os.environ, flags)
    if settings.read_only:
        return
    try:
        with closing(memory.opened(settings.database, "rw")) as raw:
            bookkeeping.record(raw, done, keep_days=settings.keep_days)
    finally:
        bookkeeping.after(done)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed; the payload names another one
        return os.sep


def _input() -> bytes | None:
    """All of stdin, None where that is more than a payload can be, or nothing."""
    parts, size = [], 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > INPUT_LIMIT:
            return None
    return b"".join(parts) or None


def _say(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    code = main(sys.argv[1:])
    # All is written, and Python would take some milliseconds to tidy up.
    os._exit(code)

"""One run of `icm hook` from arguments and payload to the answer and its record."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from icm_site.hooks import contracts, payload, verbs
from icm_site.hooks.memory import Memory
from icm_site.hooks.notes import NOTHING
from icm_site.hooks.payload import Payload
from icm_site.hooks.run import Reply, Run
from memories import pause
from memories.hook_log import Event

# Whatever a hook starts has this set; a hook below it has nothing to do.
WORKER = "ICM_WORKER"
# A memory for a folder.
Open = Callable[[str], Memory]
# Whether this is the first run of this key within seconds.
Claim = Callable[[str], bool]


class Asked(NamedTuple):
    """The arguments of `icm hook`; unknown words mean nothing."""

    verb: str = ""
    tool: str = ""
    event: str = ""
    max_tokens: int = 0


class Done(NamedTuple):
    """What came of a run: `line` for stdout, and the rest for afterwards."""

    line: str
    event: Event
    run: Run | None = None
    reply: Reply = Reply()
    error: str = ""


def respond(
    arguments: Sequence[str],
    body: bytes,
    *,
    env: Mapping[str, str],
    cwd: str,
    memory: Open,
    claim: Claim,
) -> Done:
    """Answer a payload. Raises nothing: a failure is told by the record."""
    begun = time.perf_counter()
    asked = arguments_of(arguments)
    event = Event(asked.verb, asked.tool, payload_size=len(body))
    run, reply, line, error = None, Reply(), "", ""
    try:
        run, note = understood(asked, body, env=env, cwd=cwd, memory=memory)
        if run is None:
            reply = Reply(note=note)
        else:
            event = _named(event, run)
            reply = _reply(run, claim)
            line = _line(run, reply)
    # A hook that fails must not stop the person it is to help.
    except Exception as failed:
        import traceback

        reply, line = Reply(note=f"error: {type(failed).__name__}: {failed}"), ""
        error = traceback.format_exc()
    if not line:
        reply = reply._replace(block=NOTHING)
    event = event._replace(
        duration_ms=1e3 * (time.perf_counter() - begun),
        injected=tuple(reply.block.costs),
        tokens=reply.block.tokens,
        note=payload.clean(reply.note),
    )
    return Done(line, event, run, reply, error)


def arguments_of(arguments: Sequence[str]) -> Asked:
    """What the words of a command line ask for."""
    found: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if option in ("--tool", "--event", "--max-tokens"):
            found[option] = value if equals else next(words, "")
        elif not word.startswith("-"):
            found.setdefault("verb", word)
    number = found.get("--max-tokens", "")
    return Asked(
        verb=payload.clean(found.get("verb", "")),
        tool=payload.clean(found.get("--tool", "")),
        event=found.get("--event", ""),
        max_tokens=int(number[:9]) if number.isdecimal() else 0,
    )


def understood(
    asked: Asked, body: bytes, *, env: Mapping[str, str], cwd: str, memory: Open
) -> tuple[Run | None, str]:
    """The run that a payload asks for, or why there is none."""
    if asked.verb not in verbs.VERBS:
        return None, "unknown verb"
    if env.get(WORKER, "") not in ("", "0"):
        return None, "started by a hook"
    read = payload.read(body)
    if read is None:
        return None, "no payload"
    host = contracts.host_of(asked.tool, read, env)
    found = contracts.contract_of(host, asked.verb, read, event=asked.event)
    if found is None:
        return None, f"unknown event {read.event[:60]}"
    event, contract = found
    place = _place(read, cwd)
    run = Run(
        host=host,
        verb=asked.verb,
        event=event,
        payload=read,
        cwd=place,
        env=env,
        memory=memory(place),
        form=contracts.form_of(contract, env),
        fresh=contract.fresh,
        max_tokens=asked.max_tokens,
    )
    return run, ""


def _place(read: Payload, cwd: str) -> str:
    """The folder that is worked in; one that is relative means nothing to us."""
    return read.cwd if os.path.isabs(read.cwd) else cwd


def _named(event: Event, run: Run) -> Event:
    return event._replace(
        host=run.host,
        project=run.memory.project,
        agent_session=run.payload.session,
        tool_name=run.payload.tool if run.verb in ("pre", "post") else "",
    )


def _reply(run: Run, claim: Claim) -> Reply:
    if _rests(run):
        return Reply(note="paused")
    verb = verbs.VERBS[run.verb]
    if verb.once and run.payload.session and not claim(key(run)):
        return Reply(note="served already")
    if run.form is None:
        return Reply(anew=verb.anew)
    return verb.answer(run)


def _rests(run: Run) -> bool:
    try:
        return pause.is_paused(run.memory.raw, run.memory.project)
    except Exception:
        # An approval needs no database; whatever does will say what is wrong with it.
        if run.verb == "pre":
            return False
        raise


def key(run: Run) -> str:
    """What is the same when a host runs one event from several of its files."""
    read = run.payload
    asked = json.dumps(read.tool_input, sort_keys=True, default=str)[:10_000]
    parts = [read.session, run.verb, read.prompt, read.tool, asked, read.call]
    parts += [read.source, read.error]
    return "\0".join(parts)


def _line(run: Run, reply: Reply) -> str:
    if run.form is None or not (reply.allow or reply.block.text):
        return ""
    answer = run.form(run.event, reply.block.text)
    if isinstance(answer, str):
        return answer + "\n"
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"

"""A language model that a person asked for: a program, or Ollama on this machine."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from icm_site.arguments import whole
from icm_site.errors import InvalidInput, Unavailable
from icm_site.loopback import is_loopback
from memories.standing import CHARS_PER_TOKEN

# Programs by name; the prompt goes to stdin, the answer comes from stdout.
PROGRAMS = {
    "claude": ("claude", "-p", "--output-format", "json"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "-"),
    "gemini": ("gemini",),
}
OLLAMA = "ollama:"
OLLAMA_PLACE = "http://127.0.0.1:11434"
TIMEOUT = range(1, 3601)
REPLY_CHARS = 100_000
SHOWN_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered and what it took.

    `tokens` of input as the model counts them, else estimated from the prompt
    (`counted` False). `turns` is 1 and `dollars` 0 where the model does not say.
    """

    text: str
    seconds: float
    tokens: int
    counted: bool
    turns: int = 1
    dollars: float = 0.0


# Arguments: the prompt, the folder to work in.
Ask = Callable[[str, Path], Reply]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model by the name that the figures carry."""

    name: str
    ask: Ask


def add_options(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """The options by which a person asks for a model."""
    action = "append" if several else "store"
    names = ", ".join(PROGRAMS)
    parser.add_argument(
        *("-m", "--model"),
        action=action,
        help=f"ask this model, which may cost money: {names}, or {OLLAMA}NAME",
    )
    parser.add_argument(
        "--model-command",
        action=action,
        metavar="COMMAND",
        help="ask this program: prompt on stdin, answer on stdout",
    )
    parser.add_argument(
        "--timeout",
        type=whole(TIMEOUT),
        default=180,
        help="seconds for one answer of a model",
    )


def chosen(
    *, name: str | None, command: str | None, timeout: int, database: Path
) -> Model | None:
    """The model that was asked for, None for none.

    What the program starts sees `database` as ICM's, so that a model with ICM set up
    reads and writes nothing of the user's. Raises InvalidInput, Unavailable.
    """
    if name and command:
        raise InvalidInput("give either --model or --model-command")
    if name and name.startswith(OLLAMA):
        return _ollama(name, timeout)
    if name and name not in PROGRAMS:
        known = ", ".join(PROGRAMS)
        raise InvalidInput(f"unknown model {name!r}: {known} or {OLLAMA}NAME")
    words = PROGRAMS[name] if name else _words(command)
    if not words:
        return None
    if shutil.which(words[0]) is None:
        raise Unavailable(f"there is no program {words[0]!r}")
    env = {**os.environ, "ICM_DB": str(database)}
    ask = partial(_ask_program, words=words, timeout=timeout, env=env)
    return Model(name=name or Path(words[0]).name, ask=ask)


def _words(command: str | None) -> tuple[str, ...]:
    if command is None:
        return ()
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidInput(f"--model-command cannot be read: {error}") from None
    if not words:
        raise InvalidInput("--model-command is empty")
    return words


def _ask_program(
    prompt: str,
    folder: Path,
    *,
    words: tuple[str, ...],
    timeout: int,
    env: dict[str, str],
) -> Reply:
    start = time.perf_counter()
    # A session of its own, so that all it started ends with it.
    program = subprocess.Popen(
        words,
        cwd=folder,
        env=env,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = program.communicate(prompt, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{words[0]} gave no answer in {timeout} s") from None
    finally:
        _end(program)
    if program.returncode:
        said = (err.strip() or out.strip() or "nothing").splitlines()[-1][:SHOWN_CHARS]
        raise Unavailable(f"{words[0]} ended with {program.returncode}: {said}")
    return _reply(out, prompt=prompt, seconds=time.perf_counter() - start)


def plain(text: str) -> Reply:
    """A text that is only read: its estimated tokens, no time and no money."""
    return Reply(text=text, seconds=0.0, tokens=_estimated(text), counted=False)


def _end(program: subprocess.Popen[str]) -> None:
    if program.poll() is not None:
        return
    if os.name == "posix":
        os.killpg(program.pid, signal.SIGKILL)
    else:
        program.kill()
    program.wait()


def _reply(out: str, *, prompt: str, seconds: float) -> Reply:
    """A plain text, or an object with `result`, as Claude Code prints it."""
    told = _object(out)
    usage = told.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    # What came from the provider's cache was read by the model as well.
    counts = [_number(usage[key]) for key in usage if key.endswith("input_tokens")]
    return Reply(
        text=str(told.get("result", out))[:REPLY_CHARS],
        seconds=seconds,
        tokens=int(sum(counts)) or _estimated(prompt),
        counted=sum(counts) > 0,
        turns=int(_number(told.get("num_turns"))) or 1,
        dollars=_number(told.get("total_cost_usd")),
    )


def _object(out: str) -> dict[str, Any]:
    try:
        told = json.loads(out)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) and "result" in told else {}


def _number(value: object) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return max(0.0, float(value)) if plain else 0.0  # type: ignore[arg-type]


def _estimated(prompt: str) -> int:
    return -(-len(prompt) // CHARS_PER_TOKEN)


def _ollama(name: str, timeout: int) -> Model:
    place = os.environ.get("OLLAMA_HOST") or OLLAMA_PLACE
    parts = urlsplit(place if "://" in place else f"http://{place}")
    if not is_loopback(parts.hostname or ""):
        raise InvalidInput(f"OLLAMA_HOST is not on this machine: {place!r}")
    address = f"http://{parts.netloc}/api/generate"
    model = name.removeprefix(OLLAMA)
    ask = partial(_ask_ollama, address=address, model=model, timeout=timeout)
    return Model(name=name, ask=ask)


def _ask_ollama(
    prompt: str, _folder: Path, *, address: str, model: str, timeout: int
) -> Reply:
    body = json.dumps({"model": model, "prompt": prompt, "stream": False}).encode()
    request = urllib.request.Request(
        address, body, {"Content-Type": "application/json"}
    )
    # No proxy of the environment: it is this machine that is asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    start = time.perf_counter()
    try:
        with opener.open(request, timeout=timeout) as response:
            told = json.loads(response.read())
        text = str(told["response"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unavailable(f"Ollama did not answer for {model!r}: {error}") from None
    tokens = int(_number(told.get("prompt_eval_count")))
    return Reply(
        text=text[:REPLY_CHARS],
        seconds=time.perf_counter() - start,
        tokens=tokens or _estimated(prompt),
        counted=tokens > 0,
    )

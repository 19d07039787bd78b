"""Runs of `icm` as processes that need not import the libraries again.

A process of its own, with its own environment, folder and streams, forked from one
that has imported what does not depend on any of these. `tests/icm_site/
test_cli_process.py` runs the command as the shell does.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SECONDS = 120
LIBRARIES = "tests.forked_libraries"
# These are read when an interpreter starts.
AT_START = ("PYTHON", "DJANGO", "LC_", "LANG")
AVAILABLE = "forkserver" in multiprocessing.get_all_start_methods()


def run(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    changed: Mapping[str, str],
    cwd: Path,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run `icm ARGUMENTS`, as `subprocess.run` with captured UTF-8 streams does.

    A variable of `changed` that an interpreter or Django reads at its start means one
    that is started anew.
    """
    env = {**environment, **changed}
    if not AVAILABLE or any(key.startswith(AT_START) for key in changed):
        return _spawned(arguments, env=env, cwd=cwd, stdin=stdin)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([LIBRARIES])
    with tempfile.TemporaryDirectory(prefix="icm-streams-") as folder:
        streams = [Path(folder) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin, "utf-8")
        process = context.Process(
            target=_child, args=(list(arguments), env, cwd, streams)
        )
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(list(arguments), SECONDS)
        _, out, err = (stream.read_bytes().decode() for stream in streams)
        code = process.exitcode if process.exitcode is not None else -1
        return subprocess.CompletedProcess(list(arguments), code, out, err)


def _spawned(
    arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdin: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "icm_site.cli", *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=env,
        timeout=SECONDS,
        check=False,
    )


def _child(
    arguments: list[str], env: dict[str, str], cwd: Path, streams: list[Path]
) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(cwd)
    flags = (os.O_RDONLY, *2 * [os.O_WRONLY | os.O_CREAT])
    for number, (path, flag) in enumerate(zip(streams, flags, strict=True)):
        os.dup2(os.open(path, flag, 0o600), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    from icm_site import cli

    sys.argv = [str(cli.__file__), *arguments]
    try:
        sys.exit(cli.main())
    finally:
        atexit._run_exitfuncs()

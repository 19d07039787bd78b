"""Mutated payloads through the hook command as it is installed, cold and warm.

    python -m tests.fault_runs hooks 2000

Each payload is one process; a hundredth of them holds 30 MB.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.icm_site.hooks import test_hook_fuzz as fuzz
from tests.icm_site.hooks.conftest import FILL, MEMORIES
from tests.icm_site.hooks.hooking import SAMPLES
from tests.icm_site.warm import HOOK, Warm

HUGE_EVERY, HUGE_BYTES = 100, 30 << 20


def hooks(rounds: int) -> dict[str, Any]:
    """Every payload without a resident, then every one with it."""
    folder = Path(os.environ["ICM_DB"]).parent
    made = Warm(folder, dict(os.environ) | {"PATH": "/usr/bin:/bin"}, "unix")
    config = folder / "config.toml"
    # What is learned has tests of its own; here it would be a process for each payload.
    config.write_text("[extraction]\nenabled = false\n")
    made.env |= {"XDG_RUNTIME_DIR": str(folder), "ICM_CONFIG": str(config)}
    env = made.env | {"ICM_RESIDENT": "0"}
    command = [sys.executable, "-c", FILL, json.dumps(MEMORIES)]
    subprocess.run(command, env=env, check=True)
    result = {"cold": one_way(made, rounds, cold=True)}
    made.start()
    try:
        result["warm"] = one_way(made, rounds, cold=False)
        result["warm"]["served"] = made.served()
    finally:
        made.stop()
    return result


def one_way(made: Warm, rounds: int, *, cold: bool) -> dict[str, Any]:
    """What became of each payload."""
    counts, faults, times = Counter[str](), [], []
    begun = time.monotonic()
    for verb, tool, body in payloads(rounds):
        command = [sys.executable, "-I", "-S", str(HOOK), verb]
        start = time.perf_counter()
        done = made.run(
            [*command, *(["--tool", tool] if tool else [])], stdin=body, cold=cold
        )
        times.append(time.perf_counter() - start)
        line = done.stdout.decode("utf-8", "replace")
        good = (done.returncode, done.stderr) == (0, b"")
        if not good or not fuzz.is_contract(verb, line):
            said = [done.returncode, line[:200], done.stderr.decode()[:500]]
            faults.append([verb, tool, body[:300].decode("utf-8", "replace"), *said])
        counts["answered" if line else "silent"] += 1
    times.sort()
    return {
        **counts,
        "faults": faults[:3],
        "fault count": len(faults),
        "p50_ms": round(1000 * times[len(times) // 2], 1),
        "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1),
        "seconds": round(time.monotonic() - begun),
    }


def payloads(rounds: int) -> Iterator[tuple[str, str, bytes]]:
    """Verb, host and bytes; the same for the same number."""
    chance = random.Random(fuzz.SEED)
    samples = [
        ("prompt", "claude-code/UserPromptSubmit", "prompt"),
        ("post", "claude-code/PostToolUse", "tool_response"),
    ]
    for number, case in enumerate(fuzz.cases(rounds), 1):
        if number % HUGE_EVERY:
            yield case
            continue
        verb, name, field = samples[number // HUGE_EVERY % 2]
        found = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
        found[field] = "brew queue " * (HUGE_BYTES // 11)
        body = json.dumps(found).encode()
        yield verb, "claude-code", body[: chance.choice((None, len(body) // 2))]

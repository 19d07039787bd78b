"""Faults on purpose, many in a row, each in a child process that is forked off.

    python -m tests.fault_runs kills 500
    python -m tests.fault_runs disk 50
    python -m tests.fault_runs damage 100
    python -m tests.fault_runs load 300
    python -m tests.fault_runs hooks 2000

The last number is of rounds, for `load` of seconds. ICM_DB names a file in an empty
folder. Prints one JSON object; the suite runs small numbers of each.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults import (
    DATABASE,
    SEED,
    Ack,
    attempt,
    forked,
    opened,
    result,
    state,
    tally,
    write,
)


def kills(rounds: int) -> dict[str, Any]:
    """Kill -9 at random moments; every tenth round while the tables are being made."""
    chance = random.Random(SEED)
    kept, said, crashes = set[str](), Counter[str](), list[str]()
    fresh, faults = 0, []
    for number in range(rounds):
        if number % 10 == 9:
            fresh += 1
            faults += killed_migration(chance)
            continue
        own = random.Random(chance.random())
        moment = (chance.randint(0, 5), chance.uniform(0, 0.2))
        acks = forked(partial(write, chance=own), kill=moment)
        tally(acks, kept, said, crashes)
        if number % 25 == 24:
            faults += state()["faults"]
    done = result(kept, said, crashes)
    return done | {
        "kills": rounds,
        "in migrations": fresh,
        "faults": faults + done["faults"],
    }


def killed_migration(chance: random.Random) -> list[Any]:
    """Kill while the tables of a new file are made, in place of the old one."""
    aside = DATABASE.with_name("aside")
    for ending in ("", "-wal", "-shm"):
        part = Path(f"{DATABASE}{ending}")
        if part.exists():
            part.rename(f"{aside}{ending}")
    forked(opened, kill=(0, chance.uniform(0.02, 4.0)))
    faults: list[Any] = state()["faults"]
    for path in DATABASE.parent.glob(f"{DATABASE.name}*"):
        path.unlink()
    for ending in ("", "-wal", "-shm"):
        part = Path(f"{aside}{ending}")
        if part.exists():
            part.rename(f"{DATABASE}{ending}")
    return faults


def disk(rounds: int) -> dict[str, Any]:
    """Half of the rounds with a full disk, half with a file made read-only midway."""
    chance = random.Random(SEED)
    kept, said, crashes = set[str](), Counter[str](), list[str]()

    def full(ack: Ack) -> None:
        size = chance.randrange(40_000, DATABASE.stat().st_size)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        write(ack, random.Random(chance.random()), rounds=40)

    def read_only(ack: Ack) -> None:
        from icm_site import database

        own = random.Random(chance.random())
        write(ack, own, rounds=10)
        database.close()
        if not os.geteuid():
            os.setgid(65534)
            os.setuid(65534)
        write(ack, own, rounds=10)

    forked(lambda ack: write(ack, random.Random(1), rounds=60))
    for number in range(rounds):
        before = DATABASE.stat().st_mode
        if number % 2:
            DATABASE.chmod(0o444)
            DATABASE.parent.chmod(0o555)
        tally(forked(read_only if number % 2 else full), kept, said, crashes)
        DATABASE.parent.chmod(0o755)
        DATABASE.chmod(before)
        chance.random()
    return result(kept, said, crashes) | {"rounds": rounds}


def load(seconds: int, *, each: int = 8) -> dict[str, Any]:
    """Writers and readers at once."""
    forked(lambda ack: write(ack, random.Random(1), rounds=60))
    pipes = []
    for number in range(2 * each):
        reading, writing = os.pipe()
        if not os.fork():
            os.close(reading)
            with os.fdopen(writing, "w") as stream:
                stream.write(json.dumps(one_client(number, number < each, seconds)))
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    told = []
    for reading in pipes:
        with os.fdopen(reading) as stream:
            told.append(json.loads(stream.read()))
    for _ in pipes:
        os.wait()
    kept = {text for one in told for text in one["kept"]}
    errors = [text for one in told for text in one["errors"]]
    after = state()
    figures = {}
    for name, part in (("writes", told[:each]), ("reads", told[each:])):
        times = sorted(t for one in part for t in one["times"])
        figures[name] = {
            "count": len(times),
            "p50_ms": round(1000 * times[len(times) // 2], 1),
            "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1),
        }
    return {
        "errors": errors[:3],
        "error count": len(errors),
        "acknowledged": len(kept),
        "lost": len(kept - after["texts"]),
        "faults": after["faults"],
        **figures,
    }


def one_client(number: int, writes: bool, seconds: int) -> dict[str, list[Any]]:
    done: dict[str, list[Any]] = {"kept": [], "errors": [], "times": []}

    def ack(kind: str, *values: Any) -> None:
        done["errors"].append([kind, *values])

    if not opened(ack):
        return done
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += 1
        start = time.perf_counter()
        if writes:
            text = f"writer {number} wrote {count} at the shop"
            if attempt(ack, "memory_store", topic=f"w{number}", content=text):
                done["kept"].append(text)
        else:
            attempt(ack, "memory_recall", query=f"what wrote {count} at the shop")
        done["times"].append(time.perf_counter() - start)
    return done


def main() -> None:
    """Run one kind of fault so many times."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "icm_site.settings")
    import django

    django.setup()
    from memories import embedder
    from tests import damage_runs, hook_runs
    from tests.factories import FakeEmbedder, perform

    del perform
    embedder.MODELS = embedder.Models(loader=lambda name: FakeEmbedder())
    embedder.PACKAGED = FakeEmbedder.name
    kind, number = sys.argv[1], int(sys.argv[2])
    runs: dict[str, Any] = {
        "kills": kills,
        "disk": disk,
        "damage": damage_runs.damage,
        "load": load,
        "hooks": hook_runs.hooks,
    }
    print(json.dumps(runs[kind](number), ensure_ascii=False))


if __name__ == "__main__":
    main()

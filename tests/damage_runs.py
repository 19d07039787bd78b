"""Files that are damaged at random, then used, examined and mended.

    python -m tests.fault_runs damage 100

A round depends on its number and ICM_TEST_SEED alone. The damaged file of one in which
something is wrong is kept beside ICM_DB as `round-NUMBER`.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

from icm_site.sqlite import failures
from tests.faults import DATABASE, SEED, Ack, attempt, forked, opened, write

# What must come of no round.
WRONG = frozenset({"crash", "rows missing", "not whole", "errors after", "silent"})


def damage(rounds: int) -> dict[str, Any]:
    """Overwrite random parts; use, examine and mend the file."""
    forked(lambda ack: write(ack, random.Random(1), rounds=120))
    with closing(sqlite3.connect(DATABASE)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    good = DATABASE.read_bytes()
    counts, said = Counter[str](), Counter[str]()
    wrong: list[Any] = []
    for number in range(rounds):
        for path in DATABASE.parent.glob(f"{DATABASE.name}*"):
            path.unlink()
        data = spoiled(good, random.Random(f"{SEED} {number}"))
        DATABASE.write_bytes(data)
        one = Round(said)
        one.run()
        counts.update(one.notes)
        if WRONG & one.notes:
            wrong.append([number, sorted(one.notes), one.crashes])
            DATABASE.with_name(f"round-{number}").write_bytes(data)
    return {"rounds": rounds, "counts": dict(counts), "errors": dict(said),
            "wrong": wrong}  # fmt: skip


def spoiled(good: bytes, chance: random.Random) -> bytes:
    """The bytes with one to six parts overwritten, behind the header of the file."""
    data = bytearray(good)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(100, len(data))
        length = len(data[at : at + chance.choice((1, 16, 300, 4096))])
        data[at : at + length] = chance.randbytes(length)
    return bytes(data)


class Round:
    """What one damaged file comes to; `notes` are words for it, each once."""

    def __init__(self, said: Counter[str]) -> None:
        self.said, self.notes = said, set[str]()
        self.crashes: list[str] = []

    def run(self) -> None:
        from icm_site.doctor import database_state

        found = database_state.examine(DATABASE)
        bad = any(finding.level == "wrong" for finding in found)
        self.notes.add("noticed by doctor" if bad else "not noticed by doctor")
        reachable = scanned()
        if self._errors(use):
            self.notes.add("an error said")
        if self._errors(mend):
            self.notes.add("hopeless")
            if reachable:
                self.notes.add("rows missing")
            return
        self.notes.add("mended")
        if not bad and "not all saved" in self.notes:
            self.notes.add("silent")
        if reachable - scanned() - set_apart():
            self.notes.add("rows missing")
        if not state_of_mended():
            self.notes.add("not whole")
        if self._errors(use):
            self.notes.add("errors after")

    def _errors(self, work: Any) -> bool:
        acks = forked(work)
        crashes = [f"{work.__name__}: {ack[1]}" for ack in acks if ack[0] == "crash"]
        self.notes |= {"crash"} if crashes else set()
        self.notes |= {"not all saved"} if ["code", 1] in acks else set()
        self.crashes += crashes
        errors = [ack[1] for ack in acks if ack[0] == "error"]
        self.said.update(errors)
        return bool(errors)


def use(ack: Ack) -> None:
    if opened(ack):
        attempt(ack, "memory_list", all=True)
        attempt(ack, "memory_recall", query="fact of the shop")
        attempt(ack, "memory_stats")
        attempt(ack, "memory_store", topic="t", content=f"new {time.time()}")


def mend(ack: Ack) -> None:
    from icm_site import conf, repair_command
    from icm_site.errors import IcmError

    conf.use(None)
    with Path(os.devnull).open("w") as null, redirect_stdout(null):
        try:
            ack("code", int(repair_command.main([])))
        except IcmError as error:
            ack("error", error.message)


def scanned() -> set[int]:
    """The rows that plain scans from both ends reach, and of which one column is read.

    Not the ids that surfaces show: a broken one is replaced.
    """
    found: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            with closing(sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True)) as raw:
                raw.text_factory = bytes
                for rowid, _ in raw.execute(
                    f"SELECT id, ulid FROM memories NOT INDEXED ORDER BY rowid {order}"
                ):
                    found.add(rowid)
        except failures.DAMAGE:
            continue
    return found


def set_apart() -> set[int]:
    lines = [
        json.loads(line)
        for path in DATABASE.parent.glob("*.salvaged-*")
        for line in path.read_text("utf-8").splitlines()
    ]
    return {e["row"]["id"] for e in lines if e["table"] == "memories"}


def state_of_mended() -> bool:
    try:
        with closing(sqlite3.connect(DATABASE)) as raw:
            return bool(raw.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
    except failures.DAMAGE:
        return False

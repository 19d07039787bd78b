"""Work in child processes that faults may end, and a look at what is left of it."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

DATABASE = Path(os.environ["ICM_DB"])
SEED = int(os.environ.get("ICM_TEST_SEED", "5"))
Ack = Callable[..., None]


def forked(
    work: Callable[[Ack], object], *, kill: tuple[int, float] | None = None
) -> list[Any]:
    """What a child acknowledged.

    With `kill` it is killed so many seconds after that number of acknowledgements.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        _child(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as stream:
        data = b""
        if kill is not None:
            while data.count(b"\n") < kill[0] and (part := stream.read(65536)):
                data += part
            time.sleep(kill[1])
            os.kill(pid, signal.SIGKILL)
        while part := stream.read(65536):
            data += part
    os.waitpid(pid, 0)
    # The last line may be cut off by the kill: then nothing was acknowledged.
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def _child(work: Callable[[Ack], object], writing: int) -> None:
    def ack(*values: object) -> None:
        os.write(writing, json.dumps(values).encode() + b"\n")

    try:
        work(ack)
    except BaseException:
        ack("crash", traceback.format_exc()[-1500:])
    os._exit(0)


def attempt(ack: Ack, name: str, **given: Any) -> Any:
    """Run an operation; an error must be one that the surfaces can say."""
    from icm_site import database
    from icm_site.errors import IcmError
    from tests.factories import perform

    try:
        return perform(name, **given)
    except IcmError as error:
        ack("error", error.message)
    except Exception as error:
        explained = database.explain(error)
        if explained is None:
            ack("crash", name + traceback.format_exc()[-1500:])
        else:
            ack("error", explained.message)
    return None


def opened(ack: Ack) -> bool:
    from icm_site import database
    from icm_site.errors import IcmError

    try:
        database.ready()
        return True
    except IcmError as error:
        ack("error", error.message)
    except Exception as error:
        explained = database.explain(error)
        ack(*(("error", explained.message) if explained else
              ("crash", traceback.format_exc()[-1500:])))  # fmt: skip
    return False


def write(ack: Ack, chance: random.Random, *, rounds: int | None = None) -> None:
    """Store, update, consolidate, embed, forget at random; each is acknowledged."""
    if not opened(ack):
        return
    known: list[str] = []
    number = 0
    while rounds is None or number < rounds:
        number += 1
        text = f"fact {chance.randrange(10**12)} of the shop"
        topic = f"t{chance.randrange(3)}"
        act = chance.random()
        if act < 0.6 or not known:
            if done := attempt(ack, "memory_store", topic=topic, content=text):
                known.append(done.id)
                ack("kept", text)
        elif act < 0.8:
            if attempt(ack, "memory_update", id=known[-1], content=text):
                ack("kept", text)
        elif act < 0.9:
            attempt(ack, "memory_consolidate", topic=topic, summary=text)
        elif act < 0.95:
            attempt(ack, "memory_embed_all")
        else:
            attempt(ack, "memory_forget", id=known.pop())


def state() -> dict[str, Any]:
    """Whether file and indexes are whole, and every text that is or was."""

    def look(ack: Ack) -> None:
        if not opened(ack):
            return
        from django.db import connection

        from icm_site import database
        from memories import indexes
        from memories.models import Metadata

        with connection.cursor() as cursor:

            def one(statement: str, *values: Any) -> Any:
                cursor.execute(statement, values)
                return cursor.fetchone()[0]

            ack("integrity", one("PRAGMA integrity_check"))
            for name in ("memories_fts", "concepts_fts", "feedback_fts"):
                cursor.execute(
                    f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)"
                )
            if "vec_memories" in indexes._names():
                model = Metadata.objects.read("embedding_model") or ""
                base = one(
                    "SELECT count(*) FROM memory_vectors v JOIN memories m "
                    "ON m.id = v.memory_id WHERE v.model = %s "
                    "AND m.state IN ('live', 'superseded')",
                    model,
                )
                ack("vectors", base, one("SELECT count(*) FROM vec_memories_rowids"))
        database.close()

    answers = forked(look)
    found = {answer[0]: answer[1:] for answer in answers}
    with closing(sqlite3.connect(DATABASE)) as raw:
        rows = raw.execute("SELECT summary FROM memories").fetchall()
        past = raw.execute("SELECT before FROM memory_revisions").fetchall()
    texts = {row[0] for row in rows}
    texts |= {json.loads(row[0]).get("summary") for row in past if row[0]}
    faults = [answer for answer in answers if answer[0] in ("crash", "error")]
    if found.get("integrity") != ["ok"]:
        faults.append(["integrity", found.get("integrity")])
    if "vectors" in found and len(set(found["vectors"])) != 1:
        faults.append(["vectors", found["vectors"]])
    return {"texts": texts, "faults": faults}


def tally(
    acks: list[Any], kept: set[str], said: Counter[str], crashes: list[str]
) -> None:
    for kind, *values in acks:
        if kind == "kept":
            kept.add(values[0])
        elif kind == "error":
            said[values[0]] += 1
        elif kind == "crash":
            crashes.append(values[0])


def result(kept: set[str], said: Counter[str], crashes: list[str]) -> dict[str, Any]:
    after = state()
    return {
        "acknowledged": len(kept),
        "lost": len(kept - after["texts"]),
        "faults": after["faults"],
        "errors": dict(said),
        "crashes": crashes[:3],
    }

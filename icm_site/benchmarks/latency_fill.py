"""Memories for the latency benchmark, in a process with its own database."""

from __future__ import annotations

import random
from dataclasses import replace

from icm_site import conf, startup


def main(count: str, kind: str) -> None:
    """Store `count` memories; of the kind `vectors` each gets a random one.

    Of no kind ("") they are other texts than those before.
    """
    startup.set_up_django()
    from django.db import transaction

    from icm_site import database

    database.ready()
    config = conf.current()
    with transaction.atomic():
        with conf.within(
            replace(config, embeddings=replace(config.embeddings, enabled=False))
        ):
            _store(int(count), seed=1 if kind else 2)
        if kind == "vectors":
            _vectors()


def _store(count: int, *, seed: int) -> None:
    from icm_site.benchmarks.latency_user import User
    from icm_site.caller import Caller
    from memories import store

    chance, caller = random.Random(seed), Caller(surface="cli", project="shop")
    for number in range(count):
        words = " ".join(chance.sample(User.WORDS, 5))
        store.store(
            topic=f"{chance.choice(('decisions', 'context'))}-shop",
            content=f"Note {number}: {words} is kept at {chance.randrange(10**9)}.",
            caller=caller,
        )


def _vectors() -> None:
    import numpy as np

    from memories import embedder, embedding
    from memories.models import Memory, MemoryVector

    model = embedder.get(embedding.database_model())
    if model is None or not embedding.claim_model(model):
        return
    chance = np.random.default_rng(1)
    rows = [
        MemoryVector(memory_id=key, piece=0, model=model.name, vector=_blob(unit))
        for key in Memory.objects.values_list("pk", flat=True)
        for unit in [chance.standard_normal(model.dimensions)]
    ]
    MemoryVector.objects.bulk_create(rows, batch_size=500)


def _blob(vector: object) -> bytes:
    import numpy as np

    unit = np.asarray(vector, np.float32)
    unit /= np.linalg.norm(unit)
    return unit.astype("<f4").tobytes()

"""Databases with something of everything in them, made through the product's paths."""

from __future__ import annotations

import contextlib
import io
import random
from dataclasses import replace

import numpy as np
from django.utils import timezone

from feedback import write as feedback
from icm_site.errors import IcmError
from icm_site.exchange import exporting, loading, reading
from icm_site.exchange.kinds import KINDS
from memoirs import links as memoir_links
from memoirs import write as memoirs
from memories import consolidate, history, store, suggestions
from memories.models import (
    Memory,
    MemoryLink,
    MemoryVector,
    Metadata,
    Project,
    Suggestion,
)
from tests.factories import AGENT, CALLER

TOPICS = ("decisions-shop", "errors-resolved-shop", "préférences", "決定-店")
WORDS = ("redis", "postgres", "cache", "naïve", "東京", "retry", "🙂", "index", "9.8")


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(2, 9))) + rng.choice(".!\n\"'")


def fill(seed: int, acts: int = 12) -> None:
    """Do random acts; what the product refuses is passed over."""
    rng = random.Random(seed)
    for _ in range(acts):
        try:
            rng.choice(ACTS)(rng)
        except IcmError:
            continue


def _store(rng: random.Random) -> None:
    done = store.store(
        topic=rng.choice(TOPICS),
        content=text(rng),
        caller=replace(CALLER, origin=rng.choice(("user", "agent", "hook", "import"))),
        importance=rng.choice(("critical", "high", "medium", "low")),
        keywords=rng.sample(WORDS, 2),
        raw_excerpt=rng.choice((None, text(rng))),
        occurred_at=rng.choice((None, timezone.now())),
        metadata=rng.choice(({}, {"a": [1, {"ü": None}]})),
    )
    suggestions.keep_close(done)


def _one(rng: random.Random) -> Memory:
    found = list(Memory.objects.order_by("pk"))
    if not found:
        _store(rng)
        found = list(Memory.objects.all())
    return rng.choice(found)


def _update(rng: random.Random) -> None:
    store.update(_one(rng).ulid, content=text(rng), caller=CALLER)


def _supersede(rng: random.Random) -> None:
    store.store(
        topic=TOPICS[0], content=text(rng), supersedes=_one(rng).ulid, caller=CALLER
    )


def _forget(rng: random.Random) -> None:
    store.forget(_one(rng).ulid, caller=CALLER)


def _undo(rng: random.Random) -> None:
    history.undo(_one(rng).ulid, caller=CALLER, now=timezone.now())


def _consolidate(rng: random.Random) -> None:
    consolidate.consolidate(topic=rng.choice(TOPICS), caller=CALLER, now=timezone.now())


def _hang_on(rng: random.Random) -> None:
    """What searches, merges and models leave behind."""
    one, other = _one(rng), _one(rng)
    if one.pk == other.pk:
        return
    history.set_hashes(one, [f"{rng.getrandbits(256):064x}"])
    MemoryLink.objects.get_or_create(source=one, target=other, kind="related")
    vector = np.asarray([rng.random() for _ in range(384)], "<f4").tobytes()
    for key, value in (("embedding_model", "fake/groups"), ("embedding_dims", "384")):
        Metadata.objects.get_or_create(key=key, defaults={"value": value})
    MemoryVector.objects.get_or_create(
        memory=one, model="fake/groups", piece=0, defaults={"vector": vector}
    )
    Suggestion.objects.get_or_create(
        source=one, target=other, kind="duplicate", defaults={"score": rng.random()}
    )


def _feedback(rng: random.Random) -> None:
    feedback.record(
        topic=rng.choice(TOPICS),
        context=text(rng),
        predicted=text(rng),
        corrected=text(rng),
        caller=CALLER,
        memory=_one(rng).ulid,
        store_correction=rng.random() < 0.5,
    )


def _memoir(rng: random.Random) -> None:
    name = rng.choice(("architecture", "店"))
    with contextlib.suppress(IcmError):
        memoirs.create_memoir(name, description=text(rng))
    names = rng.sample(("api", "web", "db", "队列"), 2)
    for each in names:
        try:
            memoirs.add_concept(
                name, name=each, definition=text(rng), labels=["a:b"], caller=CALLER
            )
        except IcmError:
            memoirs.refine(name, each, definition=text(rng), caller=AGENT)
    memoir_links.link(
        name, source=names[0], target=names[1], relation="related_to", caller=CALLER
    )


def _project(rng: random.Random) -> None:
    Project.objects.update_or_create(
        name=rng.choice(("shop", "café")),
        defaults={"aliases": ["old", {"name": "x", "change": "y"}], "paths": ["/a"]},
    )


ACTS = (
    *(_store, _store, _store, _update, _supersede, _forget, _undo, _consolidate),
    *(_hang_on, _feedback, _memoir, _project),
)


def wipe() -> None:
    """Leave a database with nothing of ours in it."""
    for kind in reversed(KINDS):
        rows = kind.model._default_manager.all()
        if kind.name == "metadata":
            rows = rows.filter(key__in=("embedding_model", "embedding_dims"))
        rows.delete()


def same(value: str) -> str:
    return value


def exported(choice: exporting.Choice | None = None) -> bytes:
    with exporting.one_state():
        return b"".join(exporting.lines(choice or exporting.Choice(), same))


def imported(data: bytes, *, dry_run: bool = False) -> loading.Loaded:
    stream = io.BytesIO(data)
    checked = reading.check(stream)
    stream.seek(0)
    return loading.load(stream, checked, mask=same, dry_run=dry_run)

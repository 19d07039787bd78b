"""Whatever is done can be taken back: random acts, then their undos in reverse."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from icm_site.errors import Conflict, IcmError
from memories import consolidate, history, prune, store, suggestions
from memories.models import Change, Memory, MemoryLink, MemoryUsage, State
from tests.factories import CALLER

TOPICS = ["decisions-shop", "errors-resolved-shop", "context-shop", "preferences"]
LEVELS = ["critical", "high", "medium", "low"]
WORDS = ["redis", "postgres", "cache", "queue", "login", "token", "retry", "index"]

World = dict[str, Any]


def world() -> World:
    """All that search can see: texts, topics, keywords, importance, state, links."""
    rows = Memory.objects.filter(state__in=[State.LIVE, State.SUPERSEDED])
    keys = [memory.pk for memory in rows]
    links = MemoryLink.objects.filter(source_id__in=keys, target_id__in=keys)
    return {
        "memories": {
            memory.ulid: (
                memory.topic,
                memory.summary,
                memory.raw_excerpt,
                tuple(memory.keywords),
                memory.importance,
                memory.state,
                memory.superseded_by.ulid if memory.superseded_by else None,
                memory.summary_hash,
                tuple(sorted(h.summary_hash for h in memory.hashes.all())),
            )
            for memory in rows.select_related("superseded_by").prefetch_related(
                "hashes"
            )
        },
        "links": sorted((link.source_id, link.target_id, link.kind) for link in links),
    }


class Acts:
    """The acts, drawn by whoever runs them; each leaves at most one change."""

    def __init__(self, choose: Callable[[list[Any]], Any]) -> None:
        self.choose = choose
        self.changes: list[str] = []

    def note(self, change: Change | None) -> None:
        if change is not None and change.pk is not None:
            self.changes.append(change.ulid)

    def text(self) -> str:
        words = [self.choose(WORDS) for _ in range(4)]
        return f"The {words[0]} {words[1]} uses {words[2]} number {self.number()}"

    def number(self) -> int:
        return int(self.choose(list(range(40))))

    def live(self) -> Memory | None:
        rows = list(Memory.objects.live().order_by("id"))
        return self.choose(rows) if rows else None

    def store(self) -> None:
        done = store.store(
            topic=self.choose(TOPICS),
            content=self.text(),
            importance=self.choose(LEVELS),
            keywords=[self.choose(WORDS)],
            caller=CALLER,
        )
        self.note(done.change)

    def store_variant(self) -> None:
        """The same fact again in another form: merged or recognised."""
        memory = self.live()
        if memory is None:
            return
        text = self.choose([memory.summary.upper(), f" {memory.summary}!"])
        raw = self.choose([None, "verbatim"])
        done = store.store(
            topic=memory.topic, content=text, raw_excerpt=raw, caller=CALLER
        )
        self.note(done.change)

    def supersede(self) -> None:
        memory = self.live()
        if memory is None:
            return
        done = store.store(
            topic=memory.topic,
            content=self.text(),
            supersedes=memory.ulid,
            caller=CALLER,
        )
        self.note(done.change)

    def update(self) -> None:
        memory = self.live()
        if memory is None:
            return
        fields: dict[str, Any] = self.choose(
            [
                {"content": self.text()},
                {"topic": self.choose(TOPICS)},
                {"importance": self.choose(LEVELS), "keywords": ["new"]},
            ]
        )
        self.note(store.update(memory.ulid, caller=CALLER, **fields).change)

    def forget(self) -> None:
        memory = self.live()
        if memory is not None:
            self.note(store.forget(memory.ulid, caller=CALLER)[1])

    def forget_topic(self) -> None:
        self.note(store.forget_topic(self.choose(TOPICS), caller=CALLER)[1])

    def rename(self) -> None:
        old, new = self.choose(TOPICS), self.choose(TOPICS)
        self.note(store.rename_topic(old, new, caller=CALLER)[2])

    def consolidate(self) -> None:
        done = consolidate.consolidate(
            topic=self.choose(TOPICS),
            summary=self.choose([None, self.text()]),
            keep_originals=self.choose([False, False, True]),
            caller=CALLER,
            now=timezone.now(),
        )
        self.note(done.change)

    def prune(self) -> None:
        memory = self.live()
        if memory is None:
            return
        MemoryUsage.objects.filter(pk=memory.pk).update(weight=0.01)
        self.note(prune.prune(threshold=0.1, caller=CALLER, now=timezone.now())[1])

    def accept(self) -> None:
        rows = suggestions.listed()
        if rows:
            chosen = self.choose(rows)
            _, change = suggestions.accept(
                chosen.ulid, caller=CALLER, now=timezone.now()
            )
            self.note(change)

    def run(self, name: str) -> None:
        """Do one act; one that the rules refuse must change nothing."""
        before = world()
        count = len(self.changes)
        try:
            with transaction.atomic():
                getattr(self, name)()
        except IcmError:
            assert world() == before
            assert len(self.changes) == count

    def undo_all(self) -> None:
        for change in reversed(self.changes):
            history.undo(change, caller=CALLER, now=timezone.now())
        self.changes.clear()


ACTS = [
    *["store"] * 6,
    *["store_variant"] * 2,
    *["supersede"] * 2,
    *["update"] * 4,
    "forget",
    "forget_topic",
    "rename",
    "consolidate",
    "prune",
    "accept",
]


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, 2])
def test_a_long_random_history_is_undone_to_the_first_state(seed: int) -> None:
    steps = int(os.environ.get("ICM_TEST_STEPS", "300"))
    rng = random.Random(seed)
    acts = Acts(rng.choice)
    for _ in range(20):
        acts.store()
    acts.changes.clear()
    first = world()
    for _ in range(steps):
        acts.run(rng.choice(ACTS))
    assert len(acts.changes) > steps / 3
    acts.undo_all()
    assert world() == first


class Machine(RuleBasedStateMachine):
    """Acts and undos in any order that hypothesis thinks of."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.worlds: list[tuple[str, World]] = []

    @rule(data=st.data(), name=st.sampled_from(ACTS))
    def act(self, data: st.DataObject, name: str) -> None:
        acts = Acts(lambda rows: data.draw(st.sampled_from(rows)))
        before = world()
        acts.run(name)
        self.worlds += [(change, before) for change in acts.changes]

    @precondition(lambda self: self.worlds)
    @rule()
    def undo(self) -> None:
        change, before = self.worlds.pop()
        history.undo(change, caller=CALLER, now=timezone.now())
        assert world() == before

    @precondition(lambda self: self.worlds)
    @rule()
    def undo_and_redo(self) -> None:
        change, before = self.worlds[-1]
        now = world()
        undone, _ = history.undo(change, caller=CALLER, now=timezone.now())
        assert world() == before
        redone, _ = history.undo(undone.ulid, caller=CALLER, now=timezone.now())
        assert world() == now
        with pytest.raises(Conflict):
            history.undo(undone.ulid, caller=CALLER, now=timezone.now())
        assert redone.undoes is not None

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.django_db
def test_any_sequence_of_acts_and_undos_keeps_its_word() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=15,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

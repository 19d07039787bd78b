"""Memories that become concepts: distilled one by one, or as patterns."""

from __future__ import annotations

from typing import Any

import pytest

from icm_site.errors import NotFound
from memoirs import distill, patterns, write
from memoirs.models import Concept
from memories import store
from memories.models import Memory, MemoryUsage
from tests.factories import CALLER, make_memory
from tests.memoirs.memoir_factories import NAME, make_concept, make_memoir

pytestmark = pytest.mark.django_db
TOPIC = "decisions-shop"


def run() -> distill.Distilled:
    return distill.distill(TOPIC, into=NAME, caller=CALLER)


def test_each_memory_becomes_a_concept_named_by_its_first_keyword() -> None:
    make_memoir()
    memory = make_memory("We chose Postgres.", keywords=["postgres", "database"])
    make_memory("elsewhere", topic="other")
    done = run()
    concept = Concept.objects.get()
    assert (done.created, done.memories) == (["postgres"], 1)
    assert concept.definition == "We chose Postgres."
    assert concept.labels == ["tag:postgres", "tag:database"]
    assert concept.source_memory_ids == [memory.ulid]


def test_without_keywords_topic_and_id_make_a_name_of_its_own() -> None:
    make_memoir()
    memories = [make_memory(f"fact {n}") for n in range(3)]
    run()
    names = {concept.name for concept in Concept.objects.all()}
    assert len(names) == 3
    assert f"{TOPIC}-{memories[0].ulid[:8]}" in names


def test_a_known_concept_is_refined_with_the_text_below_its_own() -> None:
    make_concept("postgres", "A database.")
    memory = make_memory("We run 16.", keywords=["postgres"])
    assert run().refined == ["postgres"]
    concept = Concept.objects.get()
    assert concept.definition == "A database.\n---\nWe run 16."
    assert (concept.revision, concept.confidence) == (2, 0.6)
    assert concept.source_memory_ids == [memory.ulid]
    assert concept.revisions.get().operation == "distill"


def test_distilling_again_adds_only_what_is_new() -> None:
    make_memoir()
    make_memory("one", keywords=["a"])
    make_memory("two")
    run()
    before = list(Concept.objects.values_list("definition", "revision"))
    again = run()
    assert (again.created, again.refined, again.unchanged) == ([], [], 2)
    assert list(Concept.objects.values_list("definition", "revision")) == before
    make_memory("three", keywords=["a"])
    assert run().refined == ["a"]


def test_hidden_memories_are_left_out() -> None:
    make_memoir()
    make_memory("kept")
    store.forget(make_memory("gone").ulid, caller=CALLER)
    assert run().memories == 1


def test_a_text_without_room_is_named_and_the_others_go_on() -> None:
    make_memoir()
    make_memory("x" * 9_000, keywords=["a"])
    second = make_memory("y" * 2_000, keywords=["a"])
    make_memory("z" * 60_000, keywords=["b"])
    done = run()
    assert (done.created, done.skipped) == (["a", "b"], [second.ulid])
    assert len(Concept.objects.get(name="b").definition) == 10_000


def test_odd_keywords_make_sound_names() -> None:
    make_memoir()
    make_memory("text", keywords=["two\nlines\tlong", "k" * 255])
    run()
    concept = Concept.objects.get()
    assert concept.name == "two lines long"
    assert len(concept.labels[1].encode()) == 255


@pytest.mark.parametrize(
    ("topic", "into", "message"),
    [
        (TOPIC, "nowhere", "memoir not found: nowhere"),
        ("empty", NAME, "no memories in topic: empty"),
    ],
)
def test_distilling_says_what_is_missing(topic: str, into: str, message: str) -> None:
    make_memoir()
    make_memory("fact")
    with pytest.raises(NotFound, match=message):
        distill.distill(topic, into=into, caller=CALLER)


def make_pattern(*keywords: str, count: int = 3, start: str = "fact") -> list[Memory]:
    return [
        make_memory(f"{start} {n} of {keywords[0]}", keywords=list(keywords))
        for n in range(count)
    ]


def extract(**how: Any) -> patterns.Found:
    return patterns.extract(TOPIC, least=3, caller=CALLER, **how)


def test_memories_that_share_most_keywords_are_a_pattern() -> None:
    make_pattern("docker", "network", "compose", count=4)
    make_pattern("css", "grid")
    make_pattern("lonely", "pair", count=2)
    make_memory("no keywords")
    found = extract().patterns
    assert [len(cluster.memories) for cluster, _ in found] == [4, 3]
    assert found[0][0].keywords == ["compose", "docker", "network"]
    assert all(name is None for _, name in found)
    assert not Concept.objects.exists()


@pytest.mark.parametrize(
    ("keywords", "joins"),
    [
        (["A", "b", "c"], True),
        (["a", "b", "c", "d", "e"], True),
        (["a", "b", "c", "d", "e", "f"], False),
        (["a", "b"], True),
        (["a"], False),
    ],
)
def test_more_than_half_of_all_keywords_must_be_shared(
    keywords: list[str], joins: bool
) -> None:
    first = make_memory("first", keywords=["a", "b", "c"])
    other = make_memory("second", keywords=keywords)
    found = patterns.clusters([first, other], least=2)
    assert bool(found) is joins


def test_a_pattern_speaks_through_its_heaviest_memory() -> None:
    rows = make_pattern("docker", "network")
    MemoryUsage.objects.exclude(pk=rows[1].pk).update(weight=0.5)
    cluster, _ = extract().patterns[0]
    assert cluster.summary == "fact 1 of docker"
    assert cluster.definition == "fact 1 of docker (3 memories)"


@pytest.mark.parametrize(("count", "confidence"), [(2, 0.6), (6, 0.8), (40, 0.9)])
def test_confidence_grows_with_the_memories(count: int, confidence: float) -> None:
    rows = make_pattern("a", "b", count=count)
    assert patterns.Cluster(memories=tuple(rows)).confidence == confidence


def test_with_a_memoir_each_pattern_becomes_a_concept() -> None:
    make_memoir()
    rows = make_pattern("docker", "network", "compose", "yaml", "ports", "dns")
    assert [name for _, name in extract(memoir=NAME).patterns] == ["compose-dns-docker"]
    concept = Concept.objects.get()
    assert concept.labels == [
        "pattern:compose",
        "pattern:dns",
        "pattern:docker",
        "pattern:network",
        "pattern:ports",
    ]
    assert concept.confidence == 0.65
    assert set(concept.source_memory_ids) == {row.ulid for row in rows}


def test_extracting_again_changes_only_what_has_grown() -> None:
    make_memoir()
    make_pattern("docker", "network")
    extract(memoir=NAME)
    extract(memoir=NAME)
    assert Concept.objects.get().revision == 1
    make_pattern("docker", "network", count=1, start="late")
    extract(memoir=NAME)
    concept = Concept.objects.get()
    assert (concept.revision, len(concept.source_memory_ids)) == (2, 4)
    assert concept.definition.endswith("(4 memories)")


def test_a_concept_made_by_hand_is_never_taken_for_a_pattern() -> None:
    make_concept("docker", "Runs containers.")
    make_pattern("docker")
    assert [name for _, name in extract(memoir=NAME).patterns] == ["docker-2"]
    assert Concept.objects.get(name="docker").definition == "Runs containers."
    write.refine(NAME, "docker-2", definition="By hand", caller=CALLER)
    extract(memoir=NAME)
    assert Concept.objects.count() == 2


def test_an_unknown_memoir_is_refused_before_anything_is_read() -> None:
    with pytest.raises(NotFound, match="memoir not found: x"):
        extract(memoir="x")

"""Memories and concepts in one ranked answer."""

from __future__ import annotations

import json
import re

import pytest

from memoirs import operations, search_all, search_texts
from memoirs.schemas import SearchAllParams
from memories import embedding
from memories.models import MemoryUsage
from tests.factories import CALLER, FakeEmbedder, make_memory
from tests.memoirs.memoir_factories import make_concept, make_pair, text

pytestmark = pytest.mark.django_db


def test_search_ranks_memories_and_concepts_together() -> None:
    make_pair()
    make_memory("Postgres holds the orders of the shop.")
    make_memory("The gateway was slow on Monday.", topic="context-shop")
    hits, _ = search_all.search_all(
        "gateway routes requests", project="shop", limit=10, max_tokens=None
    )
    assert [hit.kind for hit in hits] == ["concept", "memory"]
    assert hits[0].score > hits[1].score > 0
    assert all(0 < hit.score <= 1 for hit in hits)


def test_one_limit_and_one_budget_hold_for_both() -> None:
    make_memory("Engine part seven hums.")
    for place in range(20):
        make_concept(f"part {place}", f"engine {'y' * 200}", memoir="shop")
    found = search_all.search_all(
        "seven engine part", project=None, limit=5, max_tokens=None
    )
    assert [hit.kind for hit in found[0]].count("concept") == 4
    shown = text("icm_search", query="seven engine part", max_tokens=300)
    kinds = re.findall(r"^--- (memory|concept) ", shown, re.MULTILINE)
    assert 2 <= len(kinds) < 10
    assert set(kinds) == {"memory", "concept"}
    assert len(shown) <= 4 * 300 + len(kinds)


def test_memories_that_a_search_shows_count_as_accessed() -> None:
    shown, left_out = make_memory("The engine hums."), make_memory("It rains.")
    text("icm_search", query="engine")
    counts = dict(MemoryUsage.objects.values_list("pk", "access_count"))
    assert (counts[shown.pk], counts[left_out.pk]) == (1, 0)


def test_inside_a_project_other_memoirs_must_answer_well() -> None:
    question = "which database engine holds the orders of each customer"
    make_concept("engine", "turns fuel into motion", memoir="cars")
    make_concept("engine", "turns fuel into motion", memoir="shop-parts")
    hits, _ = search_all.search_all(question, project="shop", limit=10, max_tokens=None)
    assert [hit.concept.memoir for hit in hits if hit.concept] == ["shop-parts"]
    hits, _ = search_all.search_all(question, project=None, limit=10, max_tokens=None)
    assert len(hits) == 2


def test_meaning_finds_memories_beside_the_words_of_concepts(
    model: FakeEmbedder,
) -> None:
    memory = make_memory("The vehicle is parked outside.")
    embedding.embed_memories([memory], embedding.database_embedder())
    make_concept("garage", "holds one car", memoir="house")
    hits, _ = search_all.search_all("car", project=None, limit=5, max_tokens=None)
    assert {hit.kind for hit in hits} == {"memory", "concept"}


def test_the_json_form_holds_either_record() -> None:
    make_memory("The engine hums.")
    make_concept("engine", "turns fuel into motion")
    params = SearchAllParams(query="engine", project=None, max_tokens=None)
    result = operations.search_all(params, CALLER)
    rows = json.loads(search_texts.found_json(result))
    assert {row["kind"] for row in rows} == {"memory", "concept"}
    for row in rows:
        assert 0 < row["score"] <= 1
        assert ("topic" in row) == (row["kind"] == "memory")
        assert ("definition" in row) == (row["kind"] == "concept")


def test_a_blank_query_finds_nothing() -> None:
    make_concept("engine")
    hits, _ = search_all.search_all("  ", project=None, limit=5, max_tokens=None)
    assert hits == []

"""Walks: neighbours, neighbourhoods, successors; each with few queries."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoirs import graph, operations
from memoirs.models import Concept, ConceptLink
from memoirs.relations import Relation
from memoirs.schemas import ConceptParams, InspectParams, MemoirParams, NeighborsParams
from tests.factories import CALLER
from tests.memoirs.memoir_factories import NAME, make_concept, make_graph, make_memoir


def inspect(name: str, depth: int = 1) -> Any:
    params = InspectParams(memoir=NAME, name=name, depth=depth)
    return operations.memoir_inspect(params, CALLER)


def edges(result: Any) -> list[str]:
    return [f"{link.source} {link.relation} {link.target}" for link in result.links]


def make_large(concepts: int, links: int) -> None:
    """A memoir of random links, written in bulk."""
    memoir = make_memoir()
    rows = [
        Concept(memoir=memoir, name=f"c{n}", definition=f"Part {n} of the engine")
        for n in range(concepts)
    ]
    for row in rows:
        row.derive()
    made = Concept.objects.bulk_create(rows)
    chance = random.Random(7)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < links:
        one, other = chance.sample(range(concepts), 2)
        pairs[one, other] = None
    ConceptLink.objects.bulk_create(
        ConceptLink(source=made[a], target=made[b], relation=Relation.RELATED_TO)
        for a, b in pairs
    )


@pytest.mark.django_db
def test_inspect_goes_both_ways_one_step_by_default() -> None:
    make_graph("a depends_on b", "c part_of a", "b depends_on d")
    found = inspect("a")
    assert edges(found) == ["a depends_on b", "c part_of a"]
    assert {node.name: node.distance for node in found.nodes} == {
        "a": 0,
        "b": 1,
        "c": 1,
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (1, ["a depends_on b"]),
        (2, ["a depends_on b", "b depends_on c"]),
        (3, ["a depends_on b", "b depends_on c", "c depends_on d"]),
    ],
)
def test_inspect_goes_as_far_as_asked(depth: int, expected: list[str]) -> None:
    make_graph("a depends_on b", "b depends_on c", "c depends_on d", "d depends_on e")
    assert edges(inspect("a", depth)) == expected


@pytest.mark.django_db
def test_each_node_and_link_comes_once_and_rings_end() -> None:
    make_graph(
        "a related_to b",
        "b related_to c",
        "c related_to a",
        "b related_to a",
        "a contradicts b",
    )
    found = inspect("a", 3)
    assert len(found.links) == len(set(edges(found))) == 5
    assert sorted(node.name for node in found.nodes) == ["a", "b", "c"]


@pytest.mark.django_db
def test_a_concept_without_links_has_an_empty_graph() -> None:
    make_concept("alone")
    found = inspect("alone", 3)
    assert (found.links, [node.name for node in found.nodes]) == ([], ["alone"])


@pytest.mark.django_db
def test_links_of_other_memoirs_are_not_met() -> None:
    make_graph("a depends_on b")
    make_concept("a", memoir="other")
    assert edges(inspect("a", 3)) == ["a depends_on b"]


@pytest.mark.django_db
def test_a_walk_with_too_many_links_says_so() -> None:
    make_graph("a related_to b", "a related_to c", "a related_to d")
    start = Concept.objects.get(name="a").pk
    walk = graph.neighbourhood(start, depth=2, limit=2)
    assert (len(walk.edges), walk.truncated) == (2, True)
    assert not graph.neighbourhood(start, depth=2, limit=3).truncated


@pytest.mark.django_db
def test_a_superseded_concept_shows_the_current_one_first() -> None:
    make_graph("v1 superseded_by v2", "v2 superseded_by v3", "v1 part_of shop")
    old = inspect("v1")
    assert [c.name for c in old.current] == ["v3"]
    assert old.concept.superseded_by == ["v3"]
    assert old.current[0].replaces == ["v2", "v1"]
    assert (inspect("v3").current, inspect("v3").concept.replaces) == ([], ["v2", "v1"])


@pytest.mark.django_db
def test_a_ring_of_successors_that_came_from_elsewhere_ends() -> None:
    make_graph("a superseded_by b")
    link = ConceptLink.objects.get()
    ConceptLink.objects.create(
        source=link.target, target=link.source, relation=Relation.SUPERSEDED_BY
    )
    assert inspect("a").concept.name == "a"
    assert graph.current([link.source_id]) == {}


@pytest.mark.django_db
def test_neighbors_are_given_by_relation_the_current_ones_first() -> None:
    make_graph(
        "a depends_on old", "old superseded_by new", "b depends_on a", "a part_of shop"
    )

    def near(relation: str | None) -> list[str]:
        params = NeighborsParams(memoir=NAME, name="a", relation=relation)
        found = operations.memoir_neighbors(params, CALLER).neighbors
        return [pair.concept.name for pair in found]

    assert near(None) == ["b", "shop", "old"]
    assert near("dependsOn") == ["b", "old"]
    assert near("part-of") == ["shop"]
    assert near("caused_by") == []


@pytest.mark.django_db
def test_closing_a_ring_is_seen_before_it_is_closed() -> None:
    chain: Sequence[tuple[str, str]] = [("a", "b"), ("b", "c")]
    assert graph.closes_ring(chain, "c", "a")
    assert graph.closes_ring(chain, "a", "a")
    assert not graph.closes_ring(chain, "a", "c")


@pytest.mark.django_db
def test_show_counts_labels_links_and_confidence() -> None:
    make_concept("a", labels=["x:1", "y:2"])
    make_concept("b", labels=["x:1"])
    make_graph("c depends_on d")
    shown = operations.memoir_show(MemoirParams(name=NAME), CALLER)
    assert [(row.label, row.count) for row in shown.labels] == [("x:1", 2), ("y:2", 1)]
    assert (shown.memoir.concepts, shown.links) == (4, 1)
    assert shown.average_confidence == 0.5
    assert [concept.name for concept in shown.concepts] == ["a", "b", "c", "d"]


@pytest.mark.django_db
def test_views_take_the_same_number_of_queries_for_any_size() -> None:
    make_large(1_000, 5_000)
    make_graph_of_two()
    calls: dict[str, Callable[[str, str], object]] = {
        "inspect": lambda m, n: operations.memoir_inspect(
            InspectParams(memoir=m, name=n, depth=3), CALLER
        ),
        "neighbors": lambda m, n: operations.memoir_neighbors(
            NeighborsParams(memoir=m, name=n, relation=None), CALLER
        ),
        "show": lambda m, n: operations.memoir_show(MemoirParams(name=m), CALLER),
        "history": lambda m, n: operations.memoir_history(
            ConceptParams(memoir=m, name=n), CALLER
        ),
    }
    for name, call in calls.items():
        counts = []
        for memoir, concept in [("small", "a"), (NAME, "c5")]:
            with CaptureQueriesContext(connection) as queries:
                call(memoir, concept)
            counts.append(len(queries))
        # A walk asks once a step and has no further steps in the small graph.
        assert counts[1] <= counts[0] + 2 * (name == "inspect"), (name, counts)
        assert counts[1] <= 9, (name, counts)


def make_graph_of_two() -> None:
    make_concept("a", memoir="small")
    make_concept("b", memoir="small")
    one, other = Concept.objects.filter(memoir__name="small")
    ConceptLink.objects.create(source=one, target=other, relation=Relation.PART_OF)

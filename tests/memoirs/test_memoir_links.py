"""Links between concepts: relations, rings, doubles, weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from icm_site.errors import Conflict, IcmError, InvalidInput, NotFound
from memoirs import links, relations
from memoirs.models import ConceptLink
from memoirs.relations import DIRECTIONAL, Relation
from tests.factories import AGENT, CALLER
from tests.memoirs.memoir_factories import (
    NAME,
    make_concept,
    make_graph,
    make_link,
    make_memoir,
)

SPELLINGS = [
    (spelling, relation)
    for relation in Relation
    for spelling in (
        relation.value,
        relation.value.replace("_", "-"),
        relation.value.replace("_", ""),
        relation.value.upper(),
        relation.value.title().replace("_", ""),
        relation.value[0] + relation.value.title().replace("_", "")[1:],
        f" {relation.value} ",
    )
]


@pytest.mark.parametrize(("spelling", "relation"), SPELLINGS)
def test_a_relation_is_known_in_every_spelling(
    spelling: str, relation: Relation
) -> None:
    assert relations.parse(spelling) is relation


@pytest.mark.parametrize("name", ["", "likes", "depends", "part of x"])
def test_an_unknown_relation_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInput, match="unknown relation .*part_of, depends_on"):
        relations.parse(name)


def test_the_command_line_shows_hyphens() -> None:
    assert relations.kebab(Relation.SUPERSEDED_BY) == "superseded-by"


@pytest.mark.django_db
def test_a_link_has_weight_one_unless_it_is_given() -> None:
    for name in "ab":
        make_concept(name)
    made = make_link("a", "depends-on", "b", caller=AGENT)
    assert (made.relation, made.weight, made.origin) == ("depends_on", 1.0, "agent")
    assert make_link("b", "related_to", "a", weight=0.25).weight == 0.25


@pytest.mark.django_db
@pytest.mark.parametrize("relation", Relation)
def test_only_directional_relations_refuse_a_ring(relation: Relation) -> None:
    make_graph(f"a {relation} b", f"b {relation} c")
    if relation not in DIRECTIONAL:
        assert make_link("c", relation, "a").pk
        assert make_link("b", relation, "a").pk
        return
    with pytest.raises(Conflict) as caught:
        make_link("c", relation, "a")
    assert caught.value.message == (
        f"c --{relation}--> a would close a cycle: {relation} links lead from a to c "
        "already"
    )


@pytest.mark.django_db
def test_a_ring_is_looked_for_within_one_relation() -> None:
    make_graph("a depends_on b")
    assert make_link("b", "part_of", "a").pk
    assert make_link("b", "caused_by", "a").pk


@pytest.mark.django_db
def test_two_ways_to_one_place_are_no_ring() -> None:
    make_graph("a part_of b", "b part_of d", "a part_of c", "c part_of d")
    assert make_link("a", "part_of", "d").pk


@pytest.mark.django_db
def test_a_link_takes_another_weight_or_goes() -> None:
    make_graph("a depends_on b")
    edge: dict[str, Any] = {"source": "a", "target": "b", "relation": "dependsOn"}
    assert links.update_link(NAME, **edge, weight=0.5, caller=AGENT).weight == 0.5
    kept = ConceptLink.objects.get()
    assert (kept.weight, kept.origin) == (0.5, "agent")
    gone = links.delete_link(NAME, **edge)
    assert (gone.source.name, gone.target.name) == ("a", "b")
    assert not ConceptLink.objects.exists()


def _change(target: str, relation: str = "depends_on") -> Callable[[], object]:
    return lambda: links.update_link(
        NAME, source="a", target=target, relation=relation, weight=0.1, caller=CALLER
    )


REFUSED: list[tuple[Callable[[], object], type[IcmError], str]] = [
    (lambda: make_link("a", "depends_on", "a"), InvalidInput, "linked to itself: a"),
    (lambda: make_link("a", "likes", "b"), InvalidInput, "unknown relation 'likes'"),
    (lambda: make_link("a", "depends_on", "zz"), NotFound, "concept not found: zz"),
    (lambda: make_link("zz", "depends_on", "a"), NotFound, "concept not found: zz"),
    (
        lambda: make_link("a", "depends_on", "far"),
        NotFound,
        "concept not found: far",
    ),
    (
        lambda: make_link("a", "depends_on", "b", memoir="nowhere"),
        NotFound,
        "memoir not found: nowhere",
    ),
    (
        lambda: make_link("a", "dependson", "b"),
        Conflict,
        "link already exists: a --depends_on--> b",
    ),
    (_change("c"), NotFound, "link not found: a --depends_on--> c"),
    (_change("b", "part_of"), NotFound, "link not found: a --part_of--> b"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_a_bad_link_is_refused(
    act: Callable[[], object], kind: type[IcmError], message: str
) -> None:
    make_graph("a depends_on b")
    make_concept("c")
    make_memoir("elsewhere")
    make_concept("far", memoir="elsewhere")
    with pytest.raises(kind, match=message):
        act()
    assert ConceptLink.objects.count() == 1


@pytest.mark.django_db
def test_the_database_itself_refuses_self_links_and_doubles() -> None:
    make_graph("a depends_on b")
    known = ConceptLink.objects.get()
    for target in (known.source_id, known.target_id):
        with pytest.raises(IntegrityError), transaction.atomic():
            ConceptLink.objects.create(
                source_id=known.source_id, target_id=target, relation="depends_on"
            )

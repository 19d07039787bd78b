"""Memoirs and concepts as they are written, and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from icm_site import conf
from icm_site.conf_keys import Redaction
from icm_site.errors import Conflict, IcmError, InvalidInput, NotFound
from memoirs import lookup, write
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from tests.factories import AGENT, CALLER, make_memory
from tests.memoirs.memoir_factories import NAME, make_concept, make_graph, make_memoir

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_a_memoir_starts_empty_with_the_usual_threshold() -> None:
    memoir = make_memoir(description="System design decisions", now=NOON)
    assert (memoir.name, memoir.description) == (NAME, "System design decisions")
    assert (memoir.consolidation_threshold, memoir.concepts.count()) == (50, 0)
    assert memoir.created_at == memoir.updated_at == NOON


def test_outer_blanks_of_a_name_do_not_count() -> None:
    make_memoir("  shop ")
    assert lookup.memoir(" shop  ").name == "shop"


def test_given_fields_of_a_memoir_change_and_others_stay() -> None:
    make_memoir(description="old")
    write.update_memoir(NAME, new_name="arch", threshold=9)
    memoir = lookup.memoir("arch")
    assert (memoir.description, memoir.consolidation_threshold) == ("old", 9)
    write.update_memoir("arch", description="")
    assert lookup.memoir("arch").description == ""


def test_a_memoir_may_keep_its_own_name() -> None:
    make_memoir()
    assert write.update_memoir(NAME, new_name=NAME)[0].name == NAME


def test_deleting_a_memoir_takes_concepts_links_and_history_with_it() -> None:
    make_graph("a depends_on b", "b part_of c")
    write.refine(NAME, "a", definition="better", caller=CALLER)
    make_concept("other", memoir="other")
    memoir, concepts, links = write.delete_memoir(NAME)
    assert (memoir.name, concepts, links) == (NAME, 3, 2)
    assert list(Concept.objects.values_list("name", flat=True)) == ["other"]
    assert ConceptLink.objects.count() == ConceptRevision.objects.count() == 0


def test_a_concept_starts_with_confidence_one_half_and_revision_one() -> None:
    source = make_memory()
    concept = make_concept(
        "auth-service",
        "Handles JWT tokens and OAuth2 flows",
        labels=["domain:auth", " type : service ", "edge", "", "domain:auth"],
        sources=[source.ulid.lower()],
        caller=AGENT,
    )
    assert (concept.confidence, concept.revision) == (0.5, 1)
    assert concept.labels == ["domain:auth", "type:service", "tag:edge"]
    assert concept.source_memory_ids == [source.ulid]
    assert concept.origin == "agent"


def test_one_name_may_stand_in_two_memoirs() -> None:
    assert make_concept("a").pk != make_concept("a", memoir="other").pk


def test_refining_keeps_the_old_definition_and_raises_confidence() -> None:
    first, second = make_memory("one"), make_memory("two")
    make_concept("a", "old", sources=[first.ulid], now=NOON)
    done = write.refine(
        NAME, "a", definition="new", sources=[second.ulid, first.ulid], caller=AGENT
    )
    concept = done.concept
    assert (concept.definition, concept.revision) == ("new", 2)
    assert concept.confidence == pytest.approx(0.6)
    assert concept.source_memory_ids == [first.ulid, second.ulid]
    before = concept.revisions.get()
    assert (before.definition, before.revision, before.confidence) == ("old", 1, 0.5)
    assert (before.operation, before.surface, before.origin) == (
        "refine",
        "mcp",
        "agent",
    )
    assert (before.written_by, before.written_at) == ("user", NOON)


def test_confidence_stops_at_one() -> None:
    make_concept("a")
    for number in range(7):
        done = write.refine(NAME, "a", definition=f"take {number}", caller=CALLER)
    assert (done.concept.confidence, done.concept.revision) == (1.0, 8)
    assert done.concept.revisions.count() == 7


def test_an_update_changes_what_is_given_and_keeps_the_revision() -> None:
    make_concept("a", labels=["x:y"])
    done = write.update_concept(NAME, "a", new_name="b", confidence=0.9, caller=CALLER)
    assert (done.concept.name, done.concept.labels) == ("b", ["x:y"])
    assert (done.concept.confidence, done.concept.revision) == (0.9, 1)
    assert done.concept.revisions.get().name == "a"
    assert (
        write.update_concept(NAME, "b", labels=[], caller=CALLER).concept.labels == []
    )


def test_deleting_a_concept_takes_its_links_with_it() -> None:
    make_graph("a depends_on b", "c depends_on a", "b part_of c")
    concept, links = write.delete_concept(NAME, "a")
    assert (concept.name, links) == ("a", 2)
    assert ConceptLink.objects.count() == 1


def test_a_change_of_a_concept_dates_its_memoir() -> None:
    make_memoir(now=NOON)
    make_concept("a")
    assert lookup.memoir(NAME).updated_at > NOON


def test_secrets_are_masked_everywhere_and_named() -> None:
    memoir, found = write.create_memoir(f"m {SECRET}", description=f"d {SECRET}")
    assert found == ("github-token",)
    assert SECRET not in memoir.name + memoir.description
    done = write.add_concept(
        memoir.name,
        name=f"n {SECRET}",
        definition=f"uses {SECRET}",
        labels=[f"key:{SECRET}"],
        caller=CALLER,
    )
    kept = done.concept
    assert SECRET not in f"{kept.name}{kept.definition}{kept.labels}"
    assert done.redacted == ("github-token",)


def test_a_person_may_keep_a_secret_by_flag_or_by_configuration() -> None:
    make_memoir()
    done = write.add_concept(
        NAME, name="a", definition=SECRET, allow_secret=True, caller=CALLER
    )
    assert (done.concept.definition, done.redacted) == (SECRET, ())
    allowed = Redaction(allow=("^ghp_",))
    conf.use(dataclasses.replace(conf.current(), redaction=allowed))
    assert write.refine(NAME, "a", definition=SECRET, caller=CALLER).redacted == ()


def add(**fields: Any) -> object:
    given: dict[str, Any] = {"name": "n", "definition": "d", "caller": CALLER}
    return write.add_concept(NAME, **(given | fields))


def refine(**fields: Any) -> object:
    given: dict[str, Any] = {"memoir": NAME, "name": "known", "definition": "d"}
    return write.refine(caller=CALLER, **(given | fields))


def update(**fields: Any) -> object:
    return write.update_concept(
        NAME, fields.pop("old", "known"), caller=CALLER, **fields
    )


REFUSED: list[tuple[Callable[[], object], type[IcmError], str]] = [
    (lambda: make_memoir(NAME), Conflict, f"memoir already exists: {NAME}"),
    (lambda: make_memoir("  "), InvalidInput, "name must not be empty"),
    (
        lambda: make_memoir("n" * 256),
        InvalidInput,
        "name is too long: 256 bytes given, 255 allowed",
    ),
    (
        lambda: make_memoir("é" * 128),
        InvalidInput,
        "name is too long: 256 bytes given, 255 allowed",
    ),
    (
        lambda: make_memoir("a\nb"),
        InvalidInput,
        "name must be one line without NUL, tab or the like",
    ),
    (lambda: make_memoir("\ud800"), InvalidInput, "name is not valid Unicode text"),
    (
        lambda: make_memoir("m", description="d" * 10_001),
        InvalidInput,
        "description is too long: 10001 bytes given, 10000 allowed",
    ),
    (
        lambda: make_memoir("m", description="\0"),
        InvalidInput,
        "description must not contain NUL characters",
    ),
    (
        lambda: write.update_memoir(NAME),
        InvalidInput,
        "nothing to update: give a new name or another field",
    ),
    (
        lambda: write.update_memoir(NAME, new_name="other"),
        Conflict,
        "memoir already exists: other",
    ),
    (
        lambda: write.update_memoir("sistem-architecture", threshold=3),
        NotFound,
        "memoir not found: sistem-architecture (did you mean 'system-architecture'?)",
    ),
    (lambda: write.delete_memoir("\ud800"), NotFound, "memoir not found: ?"),
    (lambda: write.delete_memoir(" "), NotFound, "memoir not found: (empty)"),
    (
        lambda: add(name="known"),
        Conflict,
        f"concept already exists in '{NAME}': known (refine it instead)",
    ),
    (lambda: add(name=""), InvalidInput, "name must not be empty"),
    (lambda: add(definition=" \n"), InvalidInput, "definition must not be empty"),
    (
        lambda: add(definition="d" * 10_001),
        InvalidInput,
        "definition is too long: 10001 bytes given, 10000 allowed",
    ),
    (
        lambda: add(labels=["domain:"]),
        InvalidInput,
        "label must look like namespace:value, not 'domain:'",
    ),
    (
        lambda: add(labels=[f"n:{place}" for place in range(51)]),
        InvalidInput,
        "at most 50 labels are kept, 51 given",
    ),
    (
        lambda: add(labels=["n:" + "v" * 254]),
        InvalidInput,
        "label is too long: 256 bytes given, 255 allowed",
    ),
    (lambda: add(sources=["x"]), NotFound, "memory not found: X"),
    (
        lambda: add(sources=["01JZZZZZZZZZZZZZZZZZZZZZZZ"]),
        NotFound,
        "memory not found: 01JZZZZZZZZZZZZZZZZZZZZZZZ",
    ),
    (
        lambda: refine(name="knwon"),
        NotFound,
        "concept not found: knwon (did you mean 'known'?)",
    ),
    (lambda: refine(name="x"), NotFound, "concept not found: x"),
    (lambda: refine(memoir="x"), NotFound, "memoir not found: x"),
    (lambda: refine(definition=""), InvalidInput, "definition must not be empty"),
    (
        lambda: update(),
        InvalidInput,
        "nothing to update: give a new name, labels or confidence",
    ),
    (
        lambda: update(new_name="taken"),
        Conflict,
        f"concept already exists in '{NAME}': taken (refine it instead)",
    ),
    (lambda: update(old="x", labels=[]), NotFound, "concept not found: x"),
    (lambda: write.delete_concept(NAME, "x"), NotFound, "concept not found: x"),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_a_bad_input_is_refused_in_one_sentence_and_changes_nothing(
    act: Callable[[], object], kind: type[IcmError], message: str
) -> None:
    make_concept("known", now=NOON)
    make_concept("taken", now=NOON)
    make_memoir("other", now=NOON)
    with pytest.raises(kind) as caught:
        act()
    assert caught.value.message == message
    assert Concept.objects.count() == Memoir.objects.count() == 2
    assert set(Memoir.objects.values_list("updated_at", flat=True)) == {NOON}


def test_the_longest_texts_are_kept_whole() -> None:
    make_memoir("n" * 255, description="d" * 10_000)
    concept = make_concept("n" * 255, "d" * 10_000, memoir="n" * 255)
    assert len(concept.definition) == 10_000


def test_markup_and_statements_are_kept_verbatim() -> None:
    text = "<b>\u202e\u200b'; DROP TABLE concepts; -- %s {} \\n"
    assert Concept.objects.get(pk=make_concept("a", text).pk).definition == text


def test_the_database_itself_refuses_a_confidence_out_of_range() -> None:
    concept = make_concept("a")
    with pytest.raises(IntegrityError), transaction.atomic():
        Concept.objects.filter(pk=concept.pk).update(confidence=1.5)

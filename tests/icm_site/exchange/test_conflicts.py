"""Rows of a file that are here with other content: what is written is kept."""

from __future__ import annotations

import json
import math
import os
from itertools import pairwise
from typing import Any

import pytest

from icm_site.errors import InvalidInput
from icm_site.exchange import outcome
from memoirs import links, write
from memoirs.models import Concept, ConceptLink, ConceptRevision, Memoir
from memories import store
from memories.models import Memory, MemoryLink
from tests.factories import CALLER, make_memory, perform
from tests.icm_site.exchange import worlds

pytestmark = pytest.mark.django_db
WORLDS = int(os.environ.get("ICM_TEST_WORLDS", "6"))


def changed(data: bytes, kind: str, **fields: Any) -> bytes:
    """The export with other fields in the rows of one type."""
    rows = [json.loads(line) for line in data.splitlines()]
    new = [row | fields if row["type"] == kind else row for row in rows]
    return b"".join(json.dumps(row).encode() + b"\n" for row in new)


def test_another_text_of_a_memory_is_kept_behind_the_one_that_is_here() -> None:
    memory = make_memory("Orders live in Postgres.", topic="t")
    file = changed(worlds.exported(), "memory", summary="Orders live in MySQL.")
    done = worlds.imported(file)
    assert (done.tallies["memory"].differing, done.tallies["memory"].kept) == (1, 1)
    assert Memory.objects.get(ulid=memory.ulid).summary == "Orders live in Postgres."
    other = Memory.objects.get(summary="Orders live in MySQL.")
    assert (other.state, other.superseded_by_id) == ("archived", memory.pk)
    said = "\n".join(outcome.said(done, dry_run=False, backup=None))
    assert "1 with other content here, 1 of these kept beside" in said
    again = worlds.imported(file)
    assert (again.new, again.tallies["memory"].kept) == (0, 0)


def test_an_earlier_text_that_the_history_has_is_not_kept_twice() -> None:
    memory = make_memory("Orders live in MySQL.", topic="t")
    file = worlds.exported()
    store.update(memory.ulid, content="Orders live in Postgres.", caller=CALLER)
    done = worlds.imported(file)
    assert (done.tallies["memory"].differing, done.new) == (1, 0)


def test_other_feedback_of_the_same_id_becomes_a_row_of_its_own() -> None:
    perform("feedback_record", topic="t", context="c", predicted="p", corrected="q")
    file = changed(worlds.exported(), "feedback", corrected="r")
    assert worlds.imported(file).tallies["feedback"].kept == 1
    assert worlds.imported(file).new == 0
    found = perform("feedback_list").feedback
    assert sorted(row.corrected for row in found) == ["q", "r"]


def test_an_earlier_text_with_another_excerpt_is_kept() -> None:
    memory = make_memory("Orders live in MySQL.", topic="t", raw_excerpt="here")
    file = changed(worlds.exported(), "memory", raw_excerpt="elsewhere")
    store.update(memory.ulid, content="Orders live in Postgres.", caller=CALLER)
    assert worlds.imported(file).tallies["memory"].kept == 1
    assert Memory.objects.filter(raw_excerpt="elsewhere", state="archived").exists()
    assert worlds.imported(file).new == 0


def graph(*names: str) -> None:
    """A memoir with concepts, each linked to the one before."""
    write.create_memoir("shop", description="How the shop works")
    for name in names:
        write.add_concept("shop", name=name, definition=f"{name}.", caller=CALLER)
    for one, other in pairwise(names):
        links.link("shop", source=one, target=other, relation="part_of", caller=CALLER)


def test_another_definition_of_a_concept_is_kept_in_its_history() -> None:
    graph("till")
    file = changed(worlds.exported(), "concept", definition="A drawer.", revision=4)
    done = worlds.imported(file)
    assert (done.tallies["concept"].differing, done.tallies["concept"].kept) == (1, 1)
    here = Concept.objects.get()
    kept = here.revisions.get()
    assert (here.definition, kept.definition) == ("till.", "A drawer.")
    assert (kept.revision, kept.operation, kept.origin) == (4, "import", "import")
    said = "\n".join(outcome.said(done, dry_run=False, backup=None))
    assert "1 of these kept beside, in the history of the concept" in said
    assert "Nothing new" not in said
    before = worlds.exported()
    assert worlds.imported(file).new == 0
    assert worlds.exported() == before


def test_a_definition_that_the_history_has_is_not_kept_twice() -> None:
    graph("till")
    file = worlds.exported()
    write.refine("shop", "till", definition="A drawer.", caller=CALLER)
    done = worlds.imported(file)
    assert (done.tallies["concept"].differing, done.new) == (1, 0)


def test_a_concept_of_the_same_name_but_another_id_keeps_its_text_too() -> None:
    graph("till")
    first = worlds.exported()
    worlds.wipe()
    graph("till")
    write.refine("shop", "till", definition="A drawer.", caller=CALLER)
    done = worlds.imported(first)
    assert done.tallies["concept"].kept == 0  # "till." is in the history
    file = changed(first, "concept", definition="A box.", labels=["kind:part"])
    assert worlds.imported(file).tallies["concept"].kept == 1
    texts = Concept.objects.get().revisions.values_list("definition", flat=True)
    assert sorted(texts) == ["A box.", "till."]
    assert worlds.imported(file).new == 0


@pytest.mark.parametrize("other", [{}, {"name": "store"}], ids=str)
def test_another_description_becomes_a_memoir_of_its_own(other: dict[str, str]) -> None:
    graph("till")
    file = changed(worlds.exported(), "memoir", description="Their words", **other)
    assert worlds.imported(file).tallies["memoir"].kept == 1
    here, beside = Memoir.objects.order_by("pk")
    assert (here.name, here.description) == ("shop", "How the shop works")
    assert beside.name.startswith(f"{other.get('name', 'shop')} (import ")
    assert (beside.description, beside.concepts.count()) == ("Their words", 0)
    before = worlds.exported()
    assert worlds.imported(file).new == 0
    assert worlds.exported() == before


def test_no_description_and_another_name_alone_make_no_memoir() -> None:
    graph("till")
    for fields in ({"description": ""}, {"name": "store"}):
        done = worlds.imported(changed(worlds.exported(), "memoir", **fields))
        assert (done.tallies["memoir"].differing, done.new) == (1, 0)


def test_a_link_of_the_same_id_to_elsewhere_becomes_one_of_its_own() -> None:
    graph("till", "desk")
    file = changed(worlds.exported(), "concept_link", relation="depends_on")
    assert worlds.imported(file).tallies["concept_link"].kept == 1
    found = ConceptLink.objects.values_list("relation", flat=True)
    assert sorted(found) == ["depends_on", "part_of"]
    assert worlds.imported(file).new == 0
    other = changed(file, "concept_link", weight=0.5)
    assert worlds.imported(other).new == 0


def test_two_concepts_of_the_file_that_are_one_here_lose_no_text() -> None:
    graph("till", "desk", "shop floor")
    file = worlds.exported()
    Concept.objects.filter(name="desk").delete()
    Concept.objects.filter(name="till").update(name="desk")
    done = worlds.imported(file)
    # The file's desk is the till, which has its name here; a link between them is none.
    assert done.tallies["concept_link"].left == 1
    texts = {c.name: c.definition for c in Concept.objects.all()}
    assert texts == {"desk": "till.", "shop floor": "shop floor."}
    kept = ConceptRevision.objects.filter(operation="import")
    assert sorted(kept.values_list("definition", flat=True)) == ["desk.", "till."]
    assert worlds.imported(file).new == 0


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_an_endless_number_is_the_largest_one_in_an_export(number: float) -> None:
    one, two = make_memory("One.", topic="t"), make_memory("Two.", topic="t")
    MemoryLink.objects.create(source=one, target=two, kind="related", score=number)
    data = worlds.exported()

    def refuse(word: str) -> None:
        raise AssertionError(word)

    for line in data.splitlines():
        json.loads(line, parse_constant=refuse)
    worlds.wipe()
    worlds.imported(data)
    assert MemoryLink.objects.get().score == math.copysign(1e300, number)
    assert worlds.exported() == data


def test_a_file_with_infinity_is_one_sentence() -> None:
    make_memory("One.", topic="t")
    file = changed(worlds.exported(), "memory", weight=math.inf)
    with pytest.raises(InvalidInput, match="weight is no number"):
        worlds.imported(file)


def texts(data: bytes) -> set[str]:
    """All that a person or an agent wrote in the rows of a file."""
    rows = [json.loads(line) for line in data.splitlines()]
    names = ("summary", "raw_excerpt", "definition", "description", "corrected")
    befores = [row["before"] for row in rows if row.get("before")]
    return {row[name] for row in [*rows, *befores] for name in names if row.get(name)}


def test_worlds_that_went_apart_join_without_a_lost_text() -> None:
    for seed in range(WORLDS):
        worlds.wipe()
        worlds.fill(seed, 15)
        file = worlds.exported()
        if seed % 2:
            worlds.wipe()  # the same names, and other ids
        worlds.fill(seed + 1000, 15)
        here = texts(worlds.exported())
        worlds.imported(file)
        after = worlds.exported()
        assert texts(after) >= here, seed
        written = texts(b"\n".join(own(file)))
        assert texts(after) >= written, (seed, written - texts(after))
        assert worlds.imported(file).new == 0, seed
        assert worlds.exported() == after, seed


def own(file: bytes) -> list[bytes]:
    """The rows of a file without those that hang on a row that was here before."""
    hanging = ("revision", "concept_revision")
    return [
        line for line in file.splitlines() if json.loads(line)["type"] not in hanging
    ]

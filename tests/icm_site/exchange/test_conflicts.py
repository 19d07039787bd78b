"""Rows of a file that are here with other content: what is written is kept."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from icm_site.errors import InvalidInput
from icm_site.exchange import outcome
from memories import store
from memories.models import Memory, MemoryLink
from tests.factories import CALLER, make_memory, perform
from tests.icm_site.exchange import worlds

pytestmark = pytest.mark.django_db


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

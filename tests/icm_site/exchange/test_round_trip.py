"""What is exported comes back the same, once and not twice."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icm_site.errors import Conflict, InvalidInput
from icm_site.exchange import exporting, loading, reading
from icm_site.exchange.columns import BEFORE
from icm_site.exchange.kinds import KINDS
from memories import fts_schema, history, store
from memories.models import Change, Memory, MemoryRevision, MemoryVector, State
from tests.factories import CALLER, make_memory
from tests.icm_site.exchange import worlds

pytestmark = pytest.mark.django_db


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def changed(data: bytes, place: int, **fields: Any) -> bytes:
    rows = records(data)
    rows[place] |= fields
    return b"".join(exporting.line(row) for row in rows)


@given(seed=st.integers(0, 2**32), acts=st.integers(0, 30))
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_an_import_into_an_empty_database_exports_the_same_bytes(
    seed: int, acts: int
) -> None:
    worlds.wipe()
    worlds.fill(seed, acts)
    first = worlds.exported()
    worlds.wipe()
    done = worlds.imported(first)
    assert worlds.exported() == first
    assert done.differing == 0
    again = worlds.imported(first)
    assert (again.new, again.differing) == (0, 0)
    assert worlds.exported() == first


def test_a_world_has_rows_of_every_type() -> None:
    for seed in range(12):
        worlds.fill(seed, 20)
    counts = records(worlds.exported())[0]["counts"]
    assert [name for name, count in counts.items() if not count] == []


def test_a_world_has_memories_of_every_state_and_origin() -> None:
    for seed in range(12):
        worlds.fill(seed, 20)
    found = [row for row in records(worlds.exported()) if row["type"] == "memory"]
    assert {row["state"] for row in found} == set(State.values)
    assert {row["origin"] for row in found} >= {"user", "agent", "hook", "import"}


def test_every_column_of_an_exported_table_is_exported_or_derived() -> None:
    derived = {"id", "topic_key", "keywords_key", "summary_hash", "memory"}
    for kind in KINDS:
        paths = {column.path.partition("__")[0] for column in kind.columns}
        fields = {field.name for field in kind.model._meta.concrete_fields}
        left = {f for f in fields - paths - derived if not f.endswith("_index")}
        assert left == set(), kind.name


def test_what_an_undo_brings_back_is_known_to_the_check() -> None:
    assert {*history.FIELDS, "hashes"} == set(BEFORE)


def test_words_and_vectors_are_found_right_afterwards() -> None:
    for seed in range(6):
        worlds.fill(seed, 20)
    first, vectors = worlds.exported(), MemoryVector.objects.count()
    worlds.wipe()
    worlds.imported(first)
    assert MemoryVector.objects.count() == vectors > 0
    with connection.cursor() as cursor:
        cursor.execute(fts_schema.INTEGRITY_CHECK)
        cursor.execute("SELECT count(*) FROM vec_memories")
        indexed = cursor.fetchone()[0]
    seen = [State.LIVE, State.SUPERSEDED]
    assert indexed == MemoryVector.objects.filter(memory__state__in=seen).count()


def test_an_imported_change_can_be_undone() -> None:
    memory = make_memory("We use Redis.")
    change = store.update(memory.ulid, content="We use Valkey.", caller=CALLER).change
    first = worlds.exported()
    worlds.wipe()
    worlds.imported(first)
    assert change
    history.undo(change.ulid, caller=CALLER, now=memory.created_at)
    assert Memory.objects.get(ulid=memory.ulid).summary == "We use Redis."


def test_a_row_that_differs_stays_as_it_is_here_and_is_named() -> None:
    memory = make_memory("We use Redis.")
    first = worlds.exported()
    store.update(memory.ulid, content="We use Valkey.", caller=CALLER)
    before = worlds.exported()
    done = worlds.imported(first)
    assert done.tallies["memory"].named == [memory.ulid]
    assert done.new == 0
    assert worlds.exported() == before


def test_use_alone_makes_no_row_differ() -> None:
    memory = make_memory("We use Redis.")
    first = worlds.exported()
    type(memory.usage).objects.update(access_count=9, weight=0.3)
    assert worlds.imported(first).differing == 0


def test_a_text_that_another_live_memory_has_goes_behind_that_one() -> None:
    make_memory("We use Redis.")
    first = worlds.exported()
    worlds.wipe()
    here = make_memory("We use Redis.")
    done = worlds.imported(first)
    assert done.tallies["memory"].hidden == 1
    (hidden,) = Memory.objects.filter(state=State.ARCHIVED)
    assert hidden.superseded_by == here
    assert worlds.imported(first).new == 0


def test_concepts_join_a_memoir_of_the_same_name() -> None:
    from memoirs import write
    from memoirs.models import Concept, Memoir

    write.create_memoir("architecture")
    write.add_concept("architecture", name="api", definition="one", caller=CALLER)
    write.add_concept("architecture", name="db", definition="two", caller=CALLER)
    first = worlds.exported()
    worlds.wipe()
    write.create_memoir("architecture")
    write.add_concept("architecture", name="api", definition="ours", caller=CALLER)
    done = worlds.imported(first)
    tally = done.tallies["concept"]
    assert (tally.new - tally.kept, tally.differing, tally.kept) == (1, 1, 1)
    assert Memoir.objects.count() == 1
    assert {c.name: c.definition for c in Concept.objects.all()} == {
        "api": "ours",
        "db": "two",
    }
    assert worlds.imported(first).new == 0


def test_a_preview_changes_nothing_and_says_the_same() -> None:
    worlds.fill(3, 25)
    first = worlds.exported()
    worlds.wipe()
    empty = worlds.exported()
    preview = worlds.imported(first, dry_run=True)
    assert worlds.exported() == empty
    assert preview == worlds.imported(first)


FILTERS = (
    exporting.Choice(topic="decisions-shop"),
    exporting.Choice(project="shop"),
    exporting.Choice(groups=("memoirs",)),
    exporting.Choice(groups=("feedback",)),
    exporting.Choice(groups=("memories",), vectors=False),
)


@pytest.mark.parametrize("choice", FILTERS, ids=str)
def test_a_part_stands_alone(choice: exporting.Choice) -> None:
    for seed in range(6):
        worlds.fill(seed, 20)
    part = worlds.exported(choice)
    assert len(records(part)) > 1
    worlds.wipe()
    worlds.imported(part)
    (_, *rows), (_, *again) = records(part), records(worlds.exported())
    assert again == rows


def test_since_leaves_out_what_is_older() -> None:
    make_memory("We use Redis.")
    new = make_memory("We use nginx.", topic="decisions-web")
    Memory.objects.exclude(pk=new.pk).update(updated_at="2020-01-01T00:00Z")
    part = worlds.exported(exporting.Choice(since=new.updated_at))
    assert [r["id"] for r in records(part) if r["type"] == "memory"] == [new.ulid]


def example() -> bytes:
    memory = make_memory("We use Redis.")
    store.update(memory.ulid, content="We use Valkey.", caller=CALLER)
    data = worlds.exported()
    worlds.wipe()
    return data


def place(data: bytes, kind: str) -> int:
    return next(n for n, row in enumerate(records(data)) if row["type"] == kind)


BAD_FIELDS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("memory", {"id": "short"}, "26 characters"),
    ("memory", {"topic": "x" * 256}, "256 bytes, 255 allowed"),
    ("memory", {"topic": None}, "topic is missing"),
    ("memory", {"summary": "a\0b"}, "NUL"),
    ("memory", {"summary": "\ud800"}, "not valid Unicode"),
    ("memory", {"summary": 7}, "is no text"),
    ("memory", {"keywords": "x"}, "is no list"),
    ("memory", {"importance": "huge"}, "is none of"),
    ("memory", {"importance": ["high"]}, "is none of"),
    ("memory", {"state": "gone"}, "is none of"),
    ("memory", {"created_at": "yesterday"}, "no time with a zone"),
    ("memory", {"created_at": "2024-01-01T00:00:00"}, "no time with a zone"),
    ("memory", {"created_at": "0001-01-01T00:00:00+14:00"}, "no time with a zone"),
    ("memory", {"weight": "1"}, "is no number"),
    ("memory", {"weight": True}, "is no number"),
    ("memory", {"weight": 10**400}, "is no number"),
    ("memory", {"access_count": -1}, "whole number"),
    ("memory", {"access_count": 2**64}, "whole number"),
    ("memory", {"surprise": 1}, "unknown field 'surprise'"),
    ("memory", {"superseded_by": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "neither in the file"),
    ("memory", {"type": "nonsense"}, "unknown type"),
    ("memory", {"type": ["a"]}, "unknown type"),
    ("revision", {"before": {"id": 1}}, "unknown field 'id'"),
    ("revision", {"before": {"topic": 7}}, "is no text"),
    ("revision", {"memory": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "neither in the file"),
    ("header", {"version": 99}, "update icm"),
    ("header", {"version": "1"}, "update icm"),
    ("header", {"format": "other"}, "no export of icm"),
    ("header", {"counts": None}, "has no counts"),
    ("header", {"counts": {"memory": -1}}, "has no counts"),
    ("header", {"counts": {"memory": 5}}, "not whole: 1 of 5"),
    ("header", {"counts": {"other": 5}}, "unknown type"),
)


@pytest.mark.parametrize(("kind", "fields", "why"), BAD_FIELDS, ids=str)
def test_a_wrong_value_is_one_sentence_and_nothing_changes(
    kind: str, fields: dict[str, Any], why: str
) -> None:
    data = example()
    empty = worlds.exported()
    with pytest.raises(InvalidInput, match=why) as caught:
        worlds.imported(changed(data, place(data, kind), **fields))
    assert "\n" not in caught.value.message
    assert worlds.exported() == empty


BAD_BYTES = (
    (b"", "no export of icm"),
    (b"\n\n", "no export of icm"),
    (b"\xff\xfe{}", "not UTF-8"),
    (b"SQLite format 3\0", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b'{"a":' * 100_000, "not JSON"),
    (b"9" * 5000, "not JSON"),
    (b"[]", "no JSON object"),
    (b"{}", "no export of icm"),
)


@pytest.mark.parametrize(("data", "why"), BAD_BYTES, ids=lambda v: str(v)[:20])
def test_other_bytes_are_one_sentence(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        reading.check(io.BytesIO(data))


def test_a_huge_line_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_BYTES", 1 << 20)
    with pytest.raises(InvalidInput, match="longer than 1 MiB"):
        reading.check(io.BytesIO(b"x" * (2 << 20)))


def test_a_repeated_row_and_a_cut_file_are_refused() -> None:
    data = example()
    lines = data.splitlines(keepends=True)
    at = place(data, "memory")
    with pytest.raises(InvalidInput, match="twice"):
        reading.check(io.BytesIO(b"".join([*lines[: at + 1], *lines[at:]])))
    with pytest.raises(InvalidInput, match="not whole"):
        reading.check(io.BytesIO(b"".join(lines[:-1])))
    with pytest.raises(InvalidInput, match="cut off"):
        reading.check(io.BytesIO(data[:-20]))
    with pytest.raises(InvalidInput, match="stands behind"):
        reading.check(io.BytesIO(b"".join([lines[0], lines[-1], *lines[1:-1]])))


def test_a_file_that_changes_meanwhile_leaves_nothing() -> None:
    data = example()
    checked = reading.check(io.BytesIO(data))
    other = data.replace(b"Valkey", b"Memcached")
    with pytest.raises(Conflict, match="changed meanwhile"):
        loading.load(io.BytesIO(other), checked, mask=worlds.same, dry_run=False)
    assert Memory.objects.count() == Change.objects.count() == 0


def test_secrets_are_masked_on_the_way_out_and_in() -> None:
    from memories.cleaner import Cleaner

    secret = "ghp_" + "a1B2" * 9
    make_memory(f"The token is {secret}.", allow_secret=True)
    data = worlds.exported()
    assert secret.encode() in data
    clean = b"".join(exporting.lines(exporting.Choice(), Cleaner()))
    assert secret.encode() not in clean
    worlds.wipe()
    stream = io.BytesIO(data)
    checked = reading.check(stream)
    stream.seek(0)
    loading.load(stream, checked, mask=Cleaner(), dry_run=False)
    assert b"".join(exporting.lines(exporting.Choice(), Cleaner())) == clean
    assert worlds.exported() == clean
    assert MemoryRevision.objects.count() == 1

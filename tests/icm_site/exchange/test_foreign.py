"""Files of other programs, in the form those programs write."""

# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import pytest

from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from icm_site.exchange import loading, reading
from icm_site.exchange.foreign import programs, staging
from memoirs.models import Concept, ConceptLink
from memories import history
from memories.models import Change, Memory, MemoryLink, State
from tests.icm_site.exchange import worlds
from tests.icm_site.exchange.samples import GRAPH, NOW, RULES, A, B, rust

pytestmark = pytest.mark.django_db

IMPORTER = Caller(surface="cli", origin="import")


def bring(path: Path) -> tuple[loading.Loaded, staging.Notes]:
    notes = staging.Notes()
    found = programs.rows(programs.detect(path), path, notes, project="shop")
    with staging.staged(found) as stream:
        checked = reading.check(stream)
        stream.seek(0)
        done = loading.load(
            stream, checked, mask=worlds.same, dry_run=False, caller=IMPORTER
        )
    return done, notes


def test_the_rust_database_comes_with_ids_times_and_graph(tmp_path: Path) -> None:
    path = rust(tmp_path)
    before = path.read_bytes()
    done, notes = bring(path)
    memory = Memory.objects.get(ulid=A)
    assert (memory.importance, memory.origin) == ("critical", "import")
    assert memory.created_at.isoformat() == NOW
    assert (memory.usage.access_count, memory.usage.weight) == (3, 0.7)
    assert MemoryLink.objects.get().target.ulid == B
    assert Concept.objects.get(name="api").labels == ["type:part"]
    assert ConceptLink.objects.get().relation == "depends_on"
    assert done.tallies["feedback"].new == 1
    said = "\n".join(notes.said())
    assert "field 'mood'" in said
    assert "table 'facts' has no place here: 1 rows" in said
    assert path.read_bytes() == before
    again, _ = bring(path)
    assert (again.new, again.differing) == (0, 0)
    history.undo(Change.objects.get().ulid, caller=IMPORTER, now=memory.created_at)
    assert set(Memory.objects.values_list("state", flat=True)) == {State.FORGOTTEN}
    assert bring(path)[0].new == 0


def test_server_memory_becomes_a_memoir(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(GRAPH + "\n", "utf-8")
    done, notes = bring(path)
    ann = Concept.objects.get(name="Ann")
    assert ann.definition == "Speaks Spanish\nworks_at: Acme"
    assert ann.labels == ["type:person"]
    relations = set(ConceptLink.objects.values_list("relation", flat=True))
    assert relations == {"related_to", "depends_on"}
    said = "\n".join(notes.said())
    assert "field 'age'" in said
    assert "not there and was left out" in said
    assert done.tallies["concept"].new == 2
    assert bring(path)[0].new == 0


def test_rules_become_a_memory_for_each_section(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_text(RULES, "utf-8")
    bring(path)
    assert sorted(Memory.objects.values_list("topic", "summary", "importance")) == [
        ("rules-shop", "Shop\nUse uv.", "medium"),
        ("rules-shop", "Shop > Tests\nRun pytest.\n```sh\n# no heading\n```", "medium"),
    ]
    assert bring(path)[0].new == 0


HOSTILE = (
    ("x.db", b"SQLite format 3\0" + b"\xff" * 200, "cannot be read|not a database"),
    ("x.zip", b"PK\x03\x04rest", "unpack it first"),
    ("CLAUDE.md", b"\xff\xfe\x00", "not UTF-8"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n{"type":', "is not JSON"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n[]', "no JSON object"),
    ("m.jsonl", b'{"type":"entity","name":"a"}\n\xff', "not UTF-8"),
)


@pytest.mark.parametrize(("name", "data", "why"), HOSTILE, ids=range(6))
def test_a_hostile_file_is_one_sentence(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput, match=why):
        bring(tmp_path / name)
    assert not Memory.objects.exists()

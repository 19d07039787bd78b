"""Memories read by compiled SQL are what the ORM reads."""

from datetime import UTC, datetime

import pytest

from memories import loading, store
from memories.models import Memory, MemoryUsage
from tests.factories import CALLER, make_memory

pytestmark = pytest.mark.django_db


def test_a_memory_is_the_same_either_way() -> None:
    old = store.store(
        topic="decisions-shop",
        content="The port is 5432.",
        keywords=["port", "größe"],
        raw_excerpt="PORT=5432",
        occurred_at=datetime(2024, 5, 1, 10, tzinfo=UTC),
        caller=CALLER,
    ).memory
    store.store(
        topic="decisions-shop",
        content="It is 5433.",
        supersedes=old.ulid,
        caller=CALLER,
    )
    bare = make_memory("One without bookkeeping.")
    MemoryUsage.objects.filter(memory=bare).delete()
    wanted = {m.pk: m for m in Memory.objects.with_usage()}
    found = loading.with_usage([*wanted, 999])
    assert found.keys() == wanted.keys()
    for key, memory in found.items():
        for field in Memory._meta.concrete_fields:
            one = getattr(memory, field.attname)
            other = getattr(wanted[key], field.attname)
            assert (one, type(one)) == (other, type(other)), field.attname
        assert memory._state.adding is False
    usage = found[old.pk].usage
    for field in MemoryUsage._meta.concrete_fields:
        one = getattr(usage, field.attname)
        assert one == getattr(wanted[old.pk].usage, field.attname)
        assert type(one) is type(getattr(wanted[old.pk].usage, field.attname))
    assert usage.memory is found[old.pk]
    with pytest.raises(MemoryUsage.DoesNotExist):
        _ = found[bare.pk].usage
    memory = found[old.pk]
    memory.summary = "Changed."
    memory.save()
    assert Memory.objects.get(pk=old.pk).summary == "Changed."


def test_no_keys_are_no_memories() -> None:
    assert loading.with_usage([]) == {}

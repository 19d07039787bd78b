"""The health report names memoirs that hold more than their threshold."""

from __future__ import annotations

import pytest

from memoirs import write
from memoirs.health_entries import memory_health
from memories import care_texts
from memories.care_schemas import HealthParams
from tests.factories import CALLER, make_memory

pytestmark = pytest.mark.django_db


def test_a_memoir_over_its_threshold_is_named() -> None:
    make_memory()
    write.create_memoir("architecture")
    write.update_memoir("architecture", threshold=1)
    for name in ("auth", "gateway"):
        write.add_concept("architecture", name=name, definition=name, caller=CALLER)
    report = memory_health(HealthParams(topic=None), CALLER)
    assert report.full_memoirs == ["architecture"]
    assert "Memoirs over their threshold: architecture" in care_texts.health(report)
    alone = memory_health(HealthParams(topic="decisions-shop"), CALLER)
    assert alone.full_memoirs == []

"""The documented decay formula, its clock, and that a day is counted once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icm_site.errors import InvalidInput
from memories import decay
from memories.models import Importance, Memory, MemoryUsage
from tests.factories import make_memory

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
weights = st.floats(0, 1)
counts = st.integers(0, 1000)
days = st.floats(0, 4000)
factors = st.floats(0, 1, exclude_max=True)
levels = st.sampled_from(Importance)


@given(weight=weights, count=counts, gap=days, factor=factors, level=levels)
def test_a_weight_falls_and_never_below_zero(
    weight: float, count: int, gap: float, factor: float, level: Importance
) -> None:
    after = decay.decayed(
        weight, importance=level, access_count=count, days=gap, factor=factor
    )
    assert 0.0 <= after <= weight


@given(weight=weights, count=counts, gap=days)
def test_a_critical_weight_stays(weight: float, count: int, gap: float) -> None:
    level = Importance.CRITICAL
    after = decay.decayed(weight, importance=level, access_count=count, days=gap)
    assert after == weight


@given(weight=weights, count=counts, gap=days, level=levels)
def test_use_slows_decay(
    weight: float, count: int, gap: float, level: Importance
) -> None:
    rare = decay.decayed(weight, importance=level, access_count=count, days=gap)
    used = decay.decayed(weight, importance=level, access_count=count + 10, days=gap)
    assert used >= rare


@given(weight=weights, gap=days)
def test_low_falls_faster_than_medium_and_high(weight: float, gap: float) -> None:
    low, medium, high = (
        decay.decayed(weight, importance=level, access_count=0, days=gap)
        for level in (Importance.LOW, Importance.MEDIUM, Importance.HIGH)
    )
    assert low <= medium <= high


@pytest.mark.parametrize(
    ("level", "count", "gap", "expected"),
    [
        (Importance.MEDIUM, 0, 1, 0.95),
        (Importance.HIGH, 0, 1, 0.975),
        (Importance.LOW, 0, 1, 0.9),
        (Importance.MEDIUM, 10, 1, 0.975),
        (Importance.MEDIUM, 0, 30, 0.95**30),
        (Importance.LOW, 0, 365, 0.0),
    ],
)
def test_the_formula_of_the_documents(
    level: Importance, count: int, gap: float, expected: float
) -> None:
    after = decay.decayed(1.0, importance=level, access_count=count, days=gap)
    assert after == pytest.approx(expected)


def weight(memory: Memory) -> float:
    return MemoryUsage.objects.get(pk=memory.pk).weight


@pytest.mark.django_db
def test_the_first_run_on_a_database_changes_no_weight() -> None:
    memory = make_memory(now=NOW - timedelta(days=90))
    assert decay.run(now=NOW) == 0
    assert weight(memory) == 1.0


@pytest.mark.django_db
def test_the_gap_is_charged_whole_and_once() -> None:
    decay.run(now=NOW)
    memory = make_memory(now=NOW - timedelta(days=5))
    assert decay.run(now=NOW + timedelta(hours=23)) is None
    assert decay.run(now=NOW + timedelta(days=30)) == 1
    assert weight(memory) == pytest.approx(0.95**30)
    assert decay.run(now=NOW + timedelta(days=30, hours=1)) is None


@pytest.mark.django_db
def test_a_process_that_waited_finds_the_day_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, later = make_memory(now=NOW), NOW + timedelta(days=2)
    decay.run(now=NOW)
    # What it read before the other one wrote.
    monkeypatch.setattr(decay, "is_due", lambda now: True)
    assert decay.run(now=later) == 1
    assert decay.run(now=later) is None
    assert weight(memory) == pytest.approx(0.95**2)


@pytest.mark.django_db
def test_a_memory_is_not_charged_for_time_before_it_existed() -> None:
    decay.run(now=NOW)
    old = make_memory("The old one.", now=NOW)
    young = make_memory("A newer fact.", now=NOW + timedelta(days=9))
    decay.run(now=NOW + timedelta(days=10))
    assert weight(old) == pytest.approx(0.95**10)
    assert weight(young) == pytest.approx(0.95)


@pytest.mark.django_db
def test_the_statement_agrees_with_the_formula() -> None:
    decay.run(now=NOW)
    made = [
        make_memory(f"Fact number {n} of {level}.", importance=level, now=NOW)
        for level in ("critical", "high", "medium", "low")
        for n in range(3)
    ]
    for place, memory in enumerate(made):
        usage = MemoryUsage.objects.filter(pk=memory.pk)
        usage.update(access_count=place * 3, weight=0.1 + place / 20)
    before = {usage.pk: usage for usage in MemoryUsage.objects.all()}
    decay.run(now=NOW + timedelta(days=3.5))
    for memory in made:
        known = before[memory.pk]
        expected = decay.decayed(
            known.weight,
            importance=Importance(known.importance),
            access_count=known.access_count,
            days=3.5,
        )
        assert weight(memory) == pytest.approx(expected)


@pytest.mark.django_db
@pytest.mark.parametrize("factor", [1.0, 1.2, -0.1, float("nan"), float("inf")])
def test_a_factor_that_is_none_is_refused(factor: float) -> None:
    with pytest.raises(InvalidInput, match="factor must be"):
        decay.step(factor=factor, now=NOW)


@pytest.mark.django_db
def test_one_step_by_hand_lowers_each_weight_once() -> None:
    memory = make_memory(now=NOW)
    assert decay.step(factor=0.5, now=NOW) == 1
    assert weight(memory) == pytest.approx(0.5)

"""The dashboard: its figures, its charts, who sees it, in which language."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from icm_site import charts, figures
from memories import decay, store
from memories.models import HookEvent, MemoryUsage
from tests.factories import CALLER, make_memory


@pytest.fixture
def owner(db: None) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
    return client


@pytest.mark.parametrize(
    ("value", "top"), [(0, 4), (4, 4), (5, 10), (21, 40), (99, 100), (101, 200)]
)
def test_a_scale_ends_at_a_round_number_above(value: float, top: int) -> None:
    assert charts.nice_top(value) == top


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (2.5, "2.5"), (1500, "1.5k"), (3_000_000, "3M")]
)
def test_numbers_on_a_scale_are_short(value: float, text: str) -> None:
    assert charts.short(value) == text


def test_a_chart_has_its_columns_and_escapes_its_words() -> None:
    drawn = charts.columns([1, 4, 2], ["<a>", "b"], "<title>", hints=["<x>", "y", "z"])
    assert drawn.count("<rect") == 3
    assert "<a>" not in drawn and "<x>" not in drawn and '"<title>"' not in drawn
    heights = [float(h) for h in re.findall(r'<rect[^>]* height="([\d.]+)"', drawn)]
    assert heights[1] == 2 * heights[2] == 4 * heights[0] > 0


def test_a_line_starts_and_ends_with_its_values() -> None:
    drawn = charts.growth([0, 4], ["a", "b"], "t")
    found = re.search(r'<polyline class="line" points="([^"]+)"', drawn)
    assert found is not None
    first, last = (point.split(",") for point in found[1].split())
    assert float(first[1]) == charts.HEIGHT - charts.BOTTOM
    assert float(last[1]) == charts.TOP and float(last[0]) == charts.WIDTH


def test_charts_of_nothing_are_drawn() -> None:
    assert "<svg" in charts.growth([], [], "t") and "<svg" in charts.columns(
        [], [], "t"
    )


def test_latencies_are_told_by_event() -> None:
    runs = [("prompt", float(n)) for n in range(1, 101)] + [("start", 7.0)]
    first, second = figures.latencies(runs)
    assert (first.event, first.runs, first.half, first.most) == ("prompt", 100, 51, 96)
    assert (second.runs, second.half, second.most) == (1, 7.0, 7.0)


@pytest.mark.django_db
def test_the_figures_are_those_of_the_database() -> None:
    now = timezone.now()
    old = make_memory("One.", created_at=now - timedelta(days=3))
    make_memory("Two.", topic="errors-shop")
    store.forget(make_memory("Three.", topic="errors-shop").ulid, caller=CALLER)
    MemoryUsage.objects.filter(memory=old).update(weight=0.35, access_count=1)
    for day in (0, 0, 2):
        HookEvent.objects.create(
            event="prompt", at=now - timedelta(days=day), tokens=10, duration_ms=5
        )
    decay.run(now=now)
    found = figures.read(now=now)
    assert (found.stats.memories, found.stats.topics) == (2, 2)
    assert found.growth[-5:] == [0, 1, 1, 1, 3]
    assert (found.weights[3], found.weights[9], sum(found.weights)) == (1, 1, 2)
    assert found.hook_runs[-3:] == [1, 0, 2] and found.tokens[-3:] == [10, 0, 20]
    assert sum(found.shown) >= 1
    assert found.latencies[0].runs == 3
    assert found.decayed == now and found.size > 10_000
    assert [name for name, _ in found.topics] == ["decisions-shop", "errors-shop"]


def test_the_dashboard_costs_the_same_for_few_and_for_many(owner: Client) -> None:
    counts = []
    for n in range(2):
        for k in range(1 + 9 * n):
            make_memory(f"Fact {n} {k}.", topic=f"t{n}{k}")
            HookEvent.objects.create(event=f"e{k}")
        with CaptureQueriesContext(connection) as seen:
            assert owner.get("/").status_code == 200
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 24


def test_the_dashboard_asks_for_the_login(db: None) -> None:
    answer = Client().get("/")
    assert answer.status_code == 302 and "/admin/login/" in answer.headers["Location"]


def test_pages_speak_the_language_of_the_browser_or_the_chosen_one(
    owner: Client,
) -> None:
    german = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
    assert 'lang="de"' in owner.get("/", headers=german).content.decode()
    assert 'lang="en"' in owner.get("/").content.decode()
    owner.post("/language/", {"language": "de", "next": "/"})
    assert 'lang="de"' in owner.get("/").content.decode()
    answer = owner.post(
        "/language/", {"language": "de", "next": "https://evil.example/"}
    )
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("address", ["/api/memories/?limit=x", "/api/nothing/"])
def test_programs_are_answered_in_english(owner: Client, address: str) -> None:
    german = owner.get(address, headers={"Accept-Language": "de"})
    assert german.json() == owner.get(address).json()
    assert "Content-Language" not in german.headers or (
        german.headers["Content-Language"] == "en"
    )

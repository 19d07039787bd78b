"""The dashboard in the terminal, driven by its library's pilot at 80x24."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from asgiref.sync import async_to_sync
from textual.pilot import Pilot
from textual.widgets import DataTable, Static, TabbedContent, Tree

from icm_site import conf
from icm_site.dashboard import words
from icm_site.dashboard.app import TABS, Dashboard
from icm_site.dashboard.screens import Help, Question
from memories import store
from memories.models import Memory, MemoryUsage
from tests.conftest import Run
from tests.factories import CALLER, make_memory, perform

pytestmark = pytest.mark.django_db

T = TypeVar("T")
Scenario = Callable[[Dashboard, Pilot[None]], Awaitable[T]]
HOSTILE = "[red]not a style[/] [link=x]\x1b[31m \x9b2J [@click=app.quit]x[/]"


def drive(scenario: Scenario[T], *, size: tuple[int, int] = (80, 24)) -> T:
    """Let the scenario press keys; operations run on the test's thread."""

    async def run() -> T:
        app = Dashboard()
        async with app.run_test(size=size) as pilot:
            await settle(app, pilot)
            return await scenario(app, pilot)

    return async_to_sync(run)()


async def settle(app: Dashboard, pilot: Pilot[None]) -> None:
    """Wait until nothing is being read any more, or a question waits for a key."""
    await pilot.pause()
    if not isinstance(app.screen, Question):
        await app.workers.wait_for_complete()
    await pilot.pause()


async def press(app: Dashboard, pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.05)
        if not isinstance(app.screen, Question):
            await settle(app, pilot)


def screen(app: Dashboard) -> str:
    """What is on the screen, as text."""
    return "\n".join(
        "".join(segment.text for segment in strip)
        for strip in app.screen._compositor.render_strips()
    )


def rows(app: Dashboard, name: str) -> list[list[str]]:
    table: DataTable[Any] = app.table(name)
    return [[str(c) for c in table.get_row_at(at)] for at in range(table.row_count)]


def seed() -> Memory:
    make_memory("The bakery opens at five.", topic="context-bakery")
    first = make_memory("The shop runs on Postgres 16.", importance="high")
    perform("memoir_create", name="shop", description="How the shop works")
    for name in ("checkout", "order-store"):
        perform(
            "memoir_add_concept",
            memoir="shop",
            name=name,
            definition=f"What {name} is",
        )
    ends: dict[str, Any] = {"from": "checkout", "to": "order-store"}
    perform("memoir_link", memoir="shop", relation="depends_on", **ends)
    return first


def test_the_first_tab_shows_the_figures() -> None:
    seed()

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> str:
        return screen(app)

    shown = drive(scenario)
    for part in ("Memories        2", "Concepts        2", "Healthy topics", "100%"):
        assert part in shown, shown
    assert "context-bakery" in shown and str(conf.current().database_path)[:20] in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_an_empty_memory_is_no_fault() -> None:
    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[str]:
        seen = []
        for key in "12345":
            await press(app, pilot, key)
            seen.append(screen(app))
        await press(app, pilot, "d", "c", "u", "p", "enter", "j", "G")
        return seen

    shown = drive(scenario)
    assert "Nothing is stored yet." in shown[0]
    assert "No memories found." in shown[2]


def test_keys_lead_through_the_tabs() -> None:
    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[str]:
        seen = []
        for key in ("2", "l", "l", "h", "5", "l", "h", "tab"):
            await press(app, pilot, key)
            seen.append(app.query_one(TabbedContent).active)
        return seen

    expected = "topics memories health memories memoirs overview memoirs overview"
    assert drive(scenario) == expected.split()
    assert len(TABS) == 5


def test_a_search_is_ranked_by_recall_and_ends_with_escape() -> None:
    seed()

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[Any]:
        await press(app, pilot, "slash", *"postgres", "enter")
        found = rows(app, "memories")
        detail = screen(app)
        await press(app, pilot, "escape")
        return [found, detail, rows(app, "memories"), app.is_running]

    found, detail, after, running = drive(scenario)
    assert [row[3] for row in found] == ["The shop runs on Postgres 16."]
    assert float(found[0][0]) > 0.3
    assert "Topic: decisions-shop" in detail
    assert len(after) == 2 and running


def test_a_topic_opens_its_memories() -> None:
    seed()

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> Any:
        await press(app, pilot, "2", "j", "enter")
        return app.query_one(TabbedContent).active, rows(app, "memories")

    active, found = drive(scenario)
    assert active == "memories"
    assert [row[2] for row in found] == ["decisions-shop"]


def test_a_memory_is_forgotten_after_a_yes_and_comes_back_with_undo() -> None:
    seed()

    def states() -> list[str]:
        return sorted(Memory.objects.values_list("state", flat=True))

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[Any]:
        from asgiref.sync import sync_to_async

        seen: list[Any] = []
        await press(app, pilot, "3", "d")
        seen.append(type(app.screen) is Question)
        for keys in (("n",), ("d", "y"), ("u",)):
            await press(app, pilot, *keys)
            await settle(app, pilot)
            seen.append(await sync_to_async(states)())
        return seen

    assert drive(scenario) == [
        True,
        ["live", "live"],
        ["forgotten", "live"],
        ["live", "live"],
    ]


def test_consolidating_and_pruning_say_how_many_before_they_do_it() -> None:
    for number in range(3):
        make_memory(f"Fact {number} is about something else.", dedup=False)
    weak = make_memory("Faded.", topic="old")
    MemoryUsage.objects.filter(memory=weak).update(weight=0.01)

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[str]:
        seen = []
        for keys in (("2", "c"), ("y",), ("p",), ("y",)):
            await press(app, pilot, *keys)
            await settle(app, pilot)
            seen.append(screen(app))
        return seen

    seen = drive(scenario, size=(100, 30))
    assert "Join the 3 memories of decisions-shop" in seen[0]
    assert "Hide 1 memories" in seen[2]
    counts = {s: Memory.objects.filter(state=s).count() for s in ("live", "archived")}
    assert counts == {"live": 1, "archived": 4}


def test_the_graph_is_a_tree_that_opens_step_by_step() -> None:
    seed()

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> str:
        await press(app, pilot, "5")
        tree = app.query_one("#graph", Tree)
        tree.cursor_line = 0
        await press(app, pilot, "enter", "j", "enter", "j")
        return screen(app)

    shown = drive(scenario)
    assert "shop (2 concepts)" in shown
    assert "checkout" in shown and "depends_on → order-store" in shown
    assert "What order-store is" in shown


def test_what_is_stored_cannot_act_on_the_terminal() -> None:
    make_memory(HOSTILE, topic="[bold]topic[/]")
    perform("memoir_create", name="[red]m[/]")

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[str]:
        seen = []
        for key in ("2", "3", "4", "5", "3"):
            await press(app, pilot, key)
            seen.append(screen(app))
        await press(app, pilot, "d")
        return [*seen, screen(app)]

    for shown in drive(scenario, size=(140, 40)):
        assert "\x1b" not in shown and "\x9b" not in shown
    assert "[bold]topic[/]" in drive(scenario, size=(140, 40))[0]
    assert "[red]not a style[/]" in drive(scenario, size=(140, 40))[1]


def test_what_is_refused_is_said_and_nothing_breaks() -> None:
    memory = seed()

    async def scenario(app: Dashboard, pilot: Pilot[None]) -> list[str]:
        from asgiref.sync import sync_to_async

        await press(app, pilot, "3")
        for row in app._memories:
            await sync_to_async(store.forget)(row, caller=CALLER)
        await press(app, pilot, "d", "y")
        await settle(app, pilot)
        return [str(note.message) for note in app._notifications]

    assert any("forgotten" in text for text in drive(scenario))
    assert memory.ulid


def test_the_help_names_every_key() -> None:
    async def scenario(app: Dashboard, pilot: Pilot[None]) -> tuple[bool, str]:
        await press(app, pilot, "question_mark")
        return isinstance(app.screen, Help), screen(app)

    is_help, shown = drive(scenario)
    assert is_help and "forget the memory" in shown and "q, Esc" in shown


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c"])
def test_it_is_left_by_a_key(key: str) -> None:
    async def scenario(app: Dashboard, pilot: Pilot[None]) -> bool:
        await pilot.press(key)
        await pilot.pause(0.05)
        return app.is_running

    assert drive(scenario) is False


def test_without_a_terminal_it_says_so(run: Run) -> None:
    for name in ("dashboard", "tui"):
        done = run(name)
        assert (done.code, done.err) == (1, "Error: the dashboard needs a terminal\n")
    assert run("dashboard", "--help").code == 0


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 kB"),
        (2_000_000, "2.0 MB"),
        (3e9, "3.0 GB"),
    ],
)
def test_sizes_are_read_by_people(count: int, text: str) -> None:
    assert words.size(int(count)) == text


@pytest.mark.parametrize(
    ("value", "cells"), [(0.0, "░░░░░"), (0.5, "██░░░"), (1.0, "█████"), (7.0, "█████")]
)
def test_a_weight_is_five_cells(value: float, cells: str) -> None:
    assert words.weight(value).plain.startswith(cells)


def test_the_detail_keeps_its_lines_and_loses_control_characters() -> None:
    assert words.block("a\x1b[31m\nb\tc") == "a [31m\nb c"
    assert isinstance(Static(words.block("x")), Static)

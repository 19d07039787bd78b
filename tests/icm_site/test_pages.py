"""The pages in a real browser on the real server: a person curates what agents keep."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import browser
from tests.demo import CONCEPTS
from tests.web import Server, password_in, serving, variables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine"),
]

LIST = "/admin/memories/memory/"
REVIEW = f"{LIST}review/"
FRAMES = 20
# A frame of 200 concepts on a busy machine that draws without a graphics card.
FRAME_MS = 400


@dataclass(frozen=True)
class Visit:
    """A person who is logged in, and the server that they look at."""

    server: Server
    browser: browser.Browser

    @property
    def page(self) -> Page:
        return self.browser.page

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.server.address}{path}")
        return self.page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        env=variables(folder) | {"ICM_RESIDENT": "0"},
        check=True,
        timeout=300,
    )
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def visit(server: Server) -> Iterator[Visit]:
    with browser.browsing(browser.find() or "") as found:
        visit = Visit(server, found)
        page = visit.open("/")
        page.fill("[name=username]", "owner")
        page.fill("[name=password]", password_in(server))
        follow(page.locator("[type=submit]"))
        expect(page.locator("h1")).to_have_text("Dashboard")
        yield visit


def follow(target: Locator) -> None:
    """Click what leads to another page, and wait until that page is there.

    A bare click returns before the browser has left; what reads at once, such as
    `count`, then sees the old page, the new one, or neither.
    """
    with target.page.expect_navigation():
        target.click()


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name).first


def says(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait for a message above the page."""
    expect(page.locator(".messagelist")).to_contain_text(text)


def undo(page: Page) -> None:
    """Press the button beside the message."""
    follow(page.locator(".messagelist .undo button"))
    says(page, re.compile("Undone|open again"))


def test_a_memory_is_found_corrected_compared_and_brought_back(visit: Visit) -> None:
    page = visit.open(LIST)
    page.fill("[name=q]", "imperative ticket body")
    with page.expect_navigation():
        page.press("[name=q]", "Enter")
    found = page.locator(".field-text").first
    expect(found).to_contain_text("imperative")
    assert float(page.locator(".field-score").first.inner_text()) > 0
    follow(found.locator("a"))
    page.fill("[name=summary]", "Commit messages name the ticket in their first line.")
    follow(page.locator("[name=_continue]"))
    says(page, "changed successfully")
    follow(page.locator(".historylink"))
    entry = page.locator(".entry").first
    expect(entry.locator("ins").first).to_be_visible()
    assert "imperative" in " ".join(entry.locator("del").all_inner_texts())
    follow(entry.get_by_role("button", name="Undo this"))
    says(page, "as it was before")
    expect(page.locator(".card .text").first).to_contain_text("imperative")


def test_two_memories_are_merged_and_parted_again(visit: Visit) -> None:
    page = visit.open(f"{LIST}?q=invoices+leave&topic=decisions-shop")
    for place in range(2):
        expect(page.locator(".field-text").nth(place)).to_contain_text("Invoices leave")
        page.locator(".action-select").nth(place).check()
    page.select_option("[name=action]", "merge_selected")
    # Its words differ by the version of Django.
    follow(page.locator("button[name=index]").first)
    expect(page.locator("[name=kept]")).to_have_count(2)
    page.fill("[name=content]", "Invoices leave at 02:00 UTC, once they are booked.")
    follow(button(page, "Merge"))
    says(page, "2 memories are one now")
    page = visit.open(f"{LIST}?q=invoices+leave&topic=decisions-shop")
    expect(page.locator(".field-text").first).to_contain_text("once they are booked")
    page = visit.open("/admin/memories/change/")
    follow(page.locator(".field-ulid a").first)
    expect(page.locator("#content")).to_contain_text("merged")
    page = visit.open(f"{LIST}?q=once+they+are+booked")
    follow(page.locator(".field-text a").first)
    follow(page.locator(".historylink"))
    follow(button(page, "Undo this"))
    says(page, "2 memories are as they were before")


def test_the_review_queue_is_worked_through(visit: Visit) -> None:
    page = visit.open(REVIEW)
    items = page.locator(".item")
    before = items.count()
    assert before >= 3
    follow(button(page, "Replace the older one"))
    expect(items).to_have_count(before - 1)
    undo(page)
    expect(items).to_have_count(before)
    follow(button(page, "Keep both"))
    expect(items).to_have_count(before - 1)
    undo(page)
    for _ in range(before):
        follow(button(page, "Keep both"))
    expect(page.locator("#content")).to_contain_text("Nothing to review here.")
    follow(page.get_by_role("link", name="Contradicted"))
    follow(button(page, "Replace it by the correction"))
    expect(items).to_have_count(0)
    follow(page.get_by_role("link", name="Stale"))
    stale = items.count()
    follow(button(page, "Keep it"))
    follow(button(page, "Forget it"))
    expect(items).to_have_count(stale - 2)
    follow(page.get_by_role("link", name="Masked secrets"))
    expect(items.first).to_contain_text("[redacted:github-token]")


def open_graph(visit: Visit) -> Page:
    page = visit.open("/admin/memoirs/memoir/")
    follow(page.locator(".field-graph a").first)
    page.wait_for_selector("#app[data-ready]")
    return page


def edges(page: Page) -> int:
    return int(page.evaluate("document.getElementById('app').cy.edges().length"))


def test_a_graph_of_200_concepts_is_searched_and_linked(visit: Visit) -> None:
    page = open_graph(visit)
    count = page.evaluate("document.getElementById('app').cy.nodes().length")
    assert count >= CONCEPTS
    page.fill("#find", "queue 17")
    page.press("#find", "Enter")
    expect(page.locator("#concept-title")).to_have_text("queue 17")
    before = edges(page)
    page.select_option("#add-link [name=relation]", "related_to")
    page.fill("#add-link [name=target]", "page 3")
    page.get_by_role("button", name="Add link").click()
    expect(page.locator("#links li", has_text="→ page 3")).to_have_count(1)
    assert edges(page) == before + 1
    row = page.locator("#links li", has_text="→ page 3")
    row.locator("select").select_option("depends_on")
    expect(page.locator("#status")).to_have_text("Saved.")
    row.get_by_role("button").click()
    expect(page.locator("#status")).to_have_text("Deleted.")
    assert edges(page) == before
    page.click("#undo")
    expect(page.locator("#links li", has_text="→ page 3")).to_have_count(1)
    assert edges(page) == before + 1


def test_a_concept_is_edited_in_place_and_markup_stays_text(visit: Visit) -> None:
    page = open_graph(visit)
    evil = "<img src=x onerror=\"document.title='x'\">"
    page.fill("#add [name=name]", evil)
    page.fill("#add [name=definition]", evil)
    page.get_by_role("button", name="Add concept").click()
    expect(page.locator("#concept-title")).to_have_text(evil)
    page.fill("#concept [name=name]", "till")
    page.fill("#concept [name=confidence]", "0.9")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#concept-title")).to_have_text("till")
    page.fill("#merge [name=into]", "table 3")
    page.locator("#merge button").click()
    expect(page.locator("#concept-title")).to_have_text("table 3")
    expect(page.locator("#concept [name=definition]")).to_have_value(
        re.compile("onerror")
    )
    for there in (1, 0):
        page.click("#undo")
        expect(page.locator("#names option[value=till]")).to_have_count(there)
        expect(page.locator("#status")).to_have_text("Undone.")
    page.select_option("#by-relation", "part_of")
    page.select_option("#by-label", "area:table")
    faded = page.evaluate("document.getElementById('app').cy.elements('.faded').length")
    assert faded > CONCEPTS / 2
    assert page.title() != "x"
    expect(page.locator("img[src=x]")).to_have_count(0)


def test_a_graph_of_200_concepts_moves_smoothly(visit: Visit) -> None:
    page = open_graph(visit)
    times = page.evaluate(
        """async (frames) => {
            const cy = document.getElementById("app").cy, times = [];
            for (let n = 0; n < frames; n += 1) {
                const start = performance.now();
                cy.zoom(cy.zoom() * (n % 2 ? 1.05 : 0.95));
                cy.panBy({ x: 3, y: 2 });
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
                times.push((performance.now() - start) / 2);
            }
            return times;
        }""",
        FRAMES,
    )
    print(f"frame: median {statistics.median(times):.0f} ms, least {min(times):.0f} ms")
    assert statistics.median(times) < FRAME_MS


def test_pages_fit_a_phone_in_the_dark_and_in_german(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    places = [
        *("/", LIST, REVIEW, f"{LIST}topics/", "/admin/memories/change/"),
        *("/admin/feedback/feedback/", "/admin/memories/hookevent/", "/admin/"),
    ]
    for place in places:
        visit.open(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, place
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(map(int, re.findall(r"\d+", ground)[:3])) < 60, place
    visit.open(f"{LIST}add/")
    beyond = "(e) => e.getBoundingClientRect().right > 376"
    fields = page.locator("#content :is(input, textarea, select):visible")
    assert not any(field.evaluate(beyond) for field in fields.all())
    follow(button(page, "Deutsch"))
    visit.open("/")
    expect(page.locator("h1")).to_have_text("Überblick")
    follow(button(page, "English"))


def test_pages_of_others_are_as_dark_as_ours(visit: Visit) -> None:
    page = visit.page
    for place, dark in (("/ops/docs", True), ("/api/docs", True), ("/ops/docs", False)):
        page.emulate_media(color_scheme="dark" if dark else "light")
        visit.open(place)
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        assert (page.evaluate(ground) == "rgb(28, 32, 34)") == dark, place


def test_a_memory_with_markup_is_shown_as_text(visit: Visit) -> None:
    page = visit.open(f"{LIST}add/")
    page.fill("[name=topic]", "errors-shop")
    page.fill("[name=summary]", "<script>document.title='x'</script> pays in cash.")
    follow(page.locator("[name=_save]"))
    visit.open(f"{LIST}?q=pays+cash")
    expect(page.locator(".field-text").first).to_contain_text("<script>")
    follow(page.locator(".field-text a").first)
    follow(page.locator(".forget"))
    follow(page.locator("#content [type=submit]").first)
    says(page, "1 memory is hidden")
    assert page.title() != "x"


def test_nothing_is_loaded_from_elsewhere_and_no_script_fails(visit: Visit) -> None:
    visit.open("/ops/docs")
    visit.open("/api/memories/")
    own = (visit.server.address, "data:", "blob:")
    seen = visit.browser
    assert [text for text in seen.requested if not text.startswith(own)] == []
    # Swagger tries whether handlers inside the page are allowed; they are not.
    assert [t for t in seen.complaints if "inline event handler" not in t] == []
    assert "Traceback" not in visit.server.log.read_text()

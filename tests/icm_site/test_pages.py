"""The pages in a real browser on the real server: a person curates what agents keep."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

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
        timeout=120,
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
        page.click("[type=submit]")
        expect(page.locator("h1")).to_have_text("Dashboard")
        yield visit


def messages(page: Page) -> str:
    return page.locator(".messagelist").inner_text()


def undo(page: Page) -> None:
    """Press the button beside the message."""
    page.click(".messagelist .undo button")
    assert "Undone" in messages(page) or "open again" in messages(page)


def test_a_memory_is_found_corrected_compared_and_brought_back(visit: Visit) -> None:
    page = visit.open(LIST)
    page.fill("[name=q]", "imperative ticket body")
    page.press("[name=q]", "Enter")
    assert "imperative" in page.locator(".field-text").first.inner_text()
    assert float(page.locator(".field-score").first.inner_text()) > 0
    page.locator(".field-text a").first.click()
    page.fill("[name=summary]", "Commit messages name the ticket in their first line.")
    page.click("[name=_continue]")
    assert "changed successfully" in messages(page)
    page.click(".historylink")
    entry = page.locator(".entry").first
    expect(entry.locator("ins").first).to_be_visible()
    assert "imperative" in " ".join(entry.locator("del").all_inner_texts())
    entry.get_by_role("button", name="Undo this").click()
    assert "as it was before" in messages(page)
    assert "imperative" in page.locator(".card .text").first.inner_text()


def test_two_memories_are_merged_and_parted_again(visit: Visit) -> None:
    page = visit.open(f"{LIST}?q=invoices+leave&topic=decisions-shop")
    texts = page.locator(".field-text").all_inner_texts()[:2]
    assert all("Invoices leave" in text for text in texts)
    for place in range(2):
        page.locator(".action-select").nth(place).check()
    page.select_option("[name=action]", "merge_selected")
    page.get_by_role("button", name="Go").click()
    assert page.locator("[name=kept]").count() == 2
    page.fill("[name=content]", "Invoices leave at 02:00 UTC, once they are booked.")
    page.get_by_role("button", name="Merge").click()
    assert "2 memories are one now" in messages(page)
    page.goto(f"{visit.server.address}{LIST}?q=invoices+leave&topic=decisions-shop")
    assert "once they are booked" in page.locator(".field-text").first.inner_text()
    page = visit.open("/admin/memories/change/")
    page.locator(".field-ulid a").first.click()
    assert "merged" in page.locator("#content").inner_text()
    page = visit.open(f"{LIST}?q=once+they+are+booked")
    page.locator(".field-text a").first.click()
    page.click(".historylink")
    page.get_by_role("button", name="Undo this").first.click()
    assert "2 memories are as they were before" in messages(page)


def test_the_review_queue_is_worked_through(visit: Visit) -> None:
    page = visit.open(REVIEW)
    before = page.locator(".item").count()
    assert before >= 3
    page.get_by_role("button", name="Replace the older one").first.click()
    assert page.locator(".item").count() == before - 1
    undo(page)
    assert page.locator(".item").count() == before
    page.get_by_role("button", name="Keep both").first.click()
    assert page.locator(".item").count() == before - 1
    undo(page)
    for _ in range(before):
        page.get_by_role("button", name="Keep both").first.click()
    assert "Nothing to review here." in page.locator("#content").inner_text()
    page.get_by_role("link", name="Contradicted").click()
    page.get_by_role("button", name="Replace it by the correction").click()
    assert page.locator(".item").count() == 0
    page.get_by_role("link", name="Stale").click()
    stale = page.locator(".item").count()
    page.get_by_role("button", name="Keep it").first.click()
    page.get_by_role("button", name="Forget it").first.click()
    assert page.locator(".item").count() == stale - 2
    page.get_by_role("link", name="Masked secrets").click()
    assert "[redacted:github-token]" in page.locator(".item").first.inner_text()


def open_graph(visit: Visit) -> Page:
    page = visit.open("/admin/memoirs/memoir/")
    page.locator(".field-graph a").first.click()
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
    expect(page.locator("#status")).to_have_text("Saved.")
    assert edges(page) == before + 1
    row = page.locator("#links li", has_text="→ page 3")
    row.locator("select").select_option("depends_on")
    expect(page.locator("#status")).to_have_text("Saved.")
    row.get_by_role("button").click()
    expect(page.locator("#status")).to_have_text("The link is deleted.")
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
    page.on("dialog", lambda dialog: dialog.accept())
    page.fill("#merge [name=into]", "table 3")
    page.locator("#merge button").click()
    expect(page.locator("#concept-title")).to_have_text("table 3")
    assert "onerror" in page.input_value("#concept [name=definition]")
    page.select_option("#by-relation", "part_of")
    page.select_option("#by-label", "area:table")
    faded = page.evaluate("document.getElementById('app').cy.elements('.faded').length")
    assert faded > CONCEPTS / 2
    assert page.title() != "x" and page.locator("img[src=x]").count() == 0


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
    page.get_by_role("button", name="Deutsch").click()
    visit.open("/")
    expect(page.locator("h1")).to_have_text("Überblick")
    page.get_by_role("button", name="English").click()


def test_a_memory_with_markup_is_shown_as_text(visit: Visit) -> None:
    page = visit.open(f"{LIST}add/")
    page.fill("[name=topic]", "errors-shop")
    page.fill("[name=summary]", "<script>document.title='x'</script> pays in cash.")
    page.click("[name=_save]")
    visit.open(f"{LIST}?q=pays+cash")
    assert "<script>" in page.locator(".field-text").first.inner_text()
    page.locator(".field-text a").first.click()
    page.click(".forget")
    page.click("#content [type=submit]")
    assert "1 memory is hidden" in messages(page)
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

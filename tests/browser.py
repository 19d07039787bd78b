"""A headless Chromium of this machine, driven by Playwright, which brings none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
# Only ever an upper bound: a machine that is busy with others answers late.
WAIT_MS = 90_000


def find() -> str | None:
    """The program, if there is one on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass(frozen=True)
class Browser:
    """One page in a browser of its own.

    `requested` are the addresses it asked for, `complaints` what it said against the
    page: errors of scripts, and what a policy forbade.
    """

    page: Page
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def browsing(
    program: str,
    *,
    width: int = 1280,
    scheme: Literal["light", "dark"] = "light",
    language: str = "en",
) -> Iterator[Browser]:
    """A browser with a window of this width, ended at the end of the block."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=list(SWITCHES)
        )
        context = chromium.new_context(
            viewport={"width": width, "height": 900 if width > 500 else 844},
            color_scheme=scheme,
            locale=language,
        )
        context.set_default_timeout(WAIT_MS)
        expect.set_options(timeout=WAIT_MS)
        found = Browser(context.new_page())
        found.page.on("request", lambda sent: found.requested.append(sent.url))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("console", lambda said: _note(said, found.complaints))
        yield found
        chromium.close()


def _note(said: ConsoleMessage, complaints: list[str]) -> None:
    if said.type == "error":
        complaints.append(f"{said.text} {said.location['url']}")

"""`python -m tests.pictures` takes the pictures of the documentation anew.

It fills a scratch database, serves it, and looks at it in a Chromium of this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import django

from tests import browser

LIST = "/admin/memories/memory/"
# File -> path of the page, colours.
PICTURES: dict[str, tuple[str, Literal["light", "dark"]]] = {
    "admin-dashboard.png": ("/", "light"),
    "admin-review.png": (f"{LIST}review/", "light"),
    "admin-graph.png": ("/admin/memoirs/memoir/1/graph/", "dark"),
}
SIZE = {"width": 1100, "height": 640}


def main() -> None:
    """Write the pictures into docs/."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    from tests.web import PROJECT, password_in, serving, variables

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = variables(folder) | {"ICM_RESIDENT": "0"}
        subprocess.run([sys.executable, "-m", "tests.demo"], env=env, check=True)
        with serving(folder) as server:
            password = password_in(server)
            for file, (place, scheme) in PICTURES.items():
                with browser.browsing(browser.find() or "", scheme=scheme) as found:
                    page = found.page
                    page.set_viewport_size(SIZE)  # type: ignore[arg-type]
                    page.goto(f"{server.address}{place}")
                    page.fill("[name=username]", "owner")
                    page.fill("[name=password]", password)
                    page.click("[type=submit]")
                    if "graph" in file:
                        page.wait_for_selector("#app[data-ready]")
                        page.fill("#find", "service 1")
                        page.press("#find", "Enter")
                        page.wait_for_timeout(800)
                    page.screenshot(path=PROJECT / "docs" / file)


if __name__ == "__main__":
    main()

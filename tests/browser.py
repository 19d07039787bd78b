"""A headless Chromium, driven through its own pipe: no driver, no package."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)


def find() -> str | None:
    """The program, if there is one on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser; used in a `with` block.

    `requested` are the addresses it asked for, `complaints` what it said against the
    page: errors of scripts, and what a policy forbade.
    """

    def __init__(self, program: str, profile: Path) -> None:
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._last = 0
        self._session: str | None = None
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        def as_three_and_four() -> None:
            os.dup2(theirs_in, 103)
            os.dup2(theirs_out, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self._process = subprocess.Popen(
            [program, *SWITCHES, f"--user-data-dir={profile}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=as_three_and_four,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""

    def __enter__(self) -> Browser:
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")
        return self

    def __exit__(self, *error: object) -> None:
        self._session = None
        self._ask("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def window(self, width: int, height: int, *, dark: bool = False) -> None:
        """Give the page a size, and the colours that a person prefers."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {
            "name": "prefers-color-scheme",
            "value": "dark" if dark else "light",
        }
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        """Go there and wait until it is loaded."""
        self._ask("Page.navigate", url=address)
        self.loaded()

    def loaded(self) -> None:
        """Wait for the page that is on its way."""
        self._wait("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def submit(self, **fields: str) -> None:
        """Fill the fields of a form by their names, send it, wait for the answer."""
        for name, value in fields.items():
            self.run(
                f"document.querySelector('[name={name}]').value = {json.dumps(value)}"
            )
        name = next(iter(fields))
        self.run(f"document.querySelector('[name={name}]').form.requestSubmit()")
        self.loaded()

    def picture(self, path: Path) -> None:
        """Write what is to be seen as a PNG file."""
        data = self._ask("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _wait(self, method: str) -> None:
        while not any(event["method"] == method for event in self._events):
            self._note(self._read())
        self._events = [e for e in self._events if e["method"] != method]

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif event["method"] == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        else:
            self._events.append(event)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._in, 65_536)
            assert part, "the browser has ended"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

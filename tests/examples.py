"""The terminal sessions that the documentation shows, run again.

`python -m tests.examples` writes what the commands print now into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGES = [PROJECT / "docs" / "user-guide.md"]

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "$ icm "
ID = re.compile(r"\b0[0-9A-HJKMNP-TV-Z]{25}\b")
# What differs from run to run, or with the Python used: ids, times, scores, vec0.
VOLATILE = (
    (ID, "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d[.\d]*)?(\+00:00|Z)?"), "TIME"),
    (re.compile(r"\b\d\.\d+\b"), "N"),
    (re.compile(r"^Vector index: .*$", re.MULTILINE), "Vector index"),
)

# Runs `icm` with these arguments and returns what it printed.
Run = Callable[..., str]


@dataclass(frozen=True)
class Example:
    """One command of a page with the output shown below it."""

    command: str
    shown: str


@dataclass(frozen=True)
class Replayed:
    """An example as it came out; `printed` has the ids of the page."""

    example: Example
    printed: str

    @property
    def same(self) -> bool:
        """Whether the page shows what happens, but for what always differs."""
        return masked(self.example.shown) == masked(self.printed)


def masked(text: str) -> str:
    for pattern, mark in VOLATILE:
        text = pattern.sub(mark, text)
    return text.strip()


def examples(page: str) -> Iterator[Example]:
    """The commands of a page's `console` blocks, in order."""
    for block in BLOCK.findall(page):
        for part in re.split(rf"^(?={re.escape(PROMPT)})", block, flags=re.MULTILINE):
            if part:
                command, _, shown = part.partition("\n")
                yield Example(command.removeprefix("$ "), shown)


def replay(page: str, run: Run) -> Iterator[Replayed]:
    """Run the commands of a page one after the other, on one database.

    An id that the page shows stands for the one that was printed in its place.
    """
    known: dict[str, str] = {}
    for example in examples(page):
        command = _replaced(example.command, known)
        printed = run(*shlex.split(command)[1:])
        for on_page, actual in zip(
            ID.findall(example.shown), ID.findall(printed), strict=False
        ):
            known.setdefault(on_page, actual)
        names = {actual: on_page for on_page, actual in known.items()}
        yield Replayed(example, _replaced(printed, names))


def _replaced(text: str, names: dict[str, str]) -> str:
    return ID.sub(lambda match: names.get(match[0], match[0]), text)


def rewritten(page: str, run: Run) -> str:
    """The page with what its commands print now."""
    replayed = replay(page, run)

    def block(match: re.Match[str]) -> str:
        parts = []
        for _ in examples(match[0]):
            done = next(replayed)
            shown = done.example.shown if done.same else f"{done.printed.rstrip()}\n"
            parts.append(f"$ {done.example.command}\n{shown}")
        return f"```console\n{''.join(parts)}```"

    return BLOCK.sub(block, page)


def _run_in(folder: Path) -> Run:
    work = folder / "shop"
    work.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ICM_")}
    variables = kept | {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(PROJECT),
        # No process of ours is to outlive the scratch folder.
        "ICM_RESIDENT": "0",
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "icm_site.cli", *arguments],
            cwd=work,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.stderr + done.stdout

    return run


if __name__ == "__main__":
    for path in PAGES:
        with tempfile.TemporaryDirectory() as scratch:
            text = path.read_text("utf-8")
            path.write_text(rewritten(text, _run_in(Path(scratch))), "utf-8")

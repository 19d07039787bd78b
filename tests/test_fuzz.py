"""A small seeded run of `python -m tests.fuzz`, a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import PROJECT

pytestmark = pytest.mark.slow


def test_hostile_input_meets_a_sentence_on_every_surface() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--inputs", "400", "--seed", "7"],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    assert done.stdout.count(" 0 faults") == 8

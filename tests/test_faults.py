"""Small numbers of the faults that `python -m tests.fault_runs` makes.

`ICM_TEST_FAULTS=50` makes so many times as many.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT
from tests.icm_site.unprivileged import shared_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks"),
]
TIMES = int(os.environ.get("ICM_TEST_FAULTS", "1"))


@pytest.fixture
def made(environment: dict[str, str]) -> Iterator[Any]:
    """Run one kind of fault, in part as a user to whom modes apply; its figures."""
    with shared_folder() as shared:
        yield _runner(environment, shared / "own")


def _runner(environment: dict[str, str], folder: Path) -> Any:
    folder.mkdir()
    del environment["ICM_NO_EMBEDDINGS"]

    def made(kind: str, number: int) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fault_runs", kind, str(number * TIMES)],
            env=environment | {"ICM_DB": str(folder / "icm.sqlite3")},
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures

    return made


def test_kills_lose_nothing_that_was_acknowledged(made: Any) -> None:
    found = made("kills", 4)
    assert found["acknowledged"] > 0
    assert (found["lost"], found["faults"], found["crashes"]) == (0, [], [])


def test_a_full_or_read_only_disk_is_said_and_loses_nothing(made: Any) -> None:
    found = made("disk", 2)
    assert found["errors"]
    assert (found["lost"], found["faults"], found["crashes"]) == (0, [], [])


def test_a_damaged_file_is_never_a_crash_and_is_mended(made: Any) -> None:
    found = made("damage", 2)
    assert found["wrong"] == []
    assert found["counts"].get("mended", 0) > 0


def test_readers_and_writers_do_not_disturb_each_other(made: Any) -> None:
    found = made("load", 3)
    assert (found["error count"], found["lost"], found["faults"]) == (0, 0, [])
    assert found["acknowledged"] > 0

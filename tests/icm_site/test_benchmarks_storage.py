"""`icm bench` measures what it says, in a database of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Icm


@pytest.mark.slow
def test_bench_prints_and_writes_each_row(icm: Icm, tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    done = icm("bench", "-c", "20", "--decayed", "3000", "--json", str(file))
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())
    names = {row["name"].strip() for row in figures["rows"]}
    assert {"Insert (no dedup, no links)", "same statements, driver alone"} <= names
    assert {"Text search, top 10", "same words, FTS5 alone"} <= names
    assert "Decay, 3,000 memories" in names
    assert all(row["lowest_us"] > 0 for row in figures["rows"])
    assert all(name in done.stdout for name in names)
    assert not (tmp_path / "icm.sqlite3").exists()

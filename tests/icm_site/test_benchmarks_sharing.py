"""`icm bench-agents`: real servers on one database; a small program as a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from icm_site.benchmarks.mcp_host import McpHost
from icm_site.benchmarks.questions import DOCUMENT, QUESTIONS, sentences
from icm_site.benchmarks.sharing import HOSTS, row
from icm_site.errors import Unavailable
from tests.conftest import Icm

ALL = [" ".join(question.keywords) for question in QUESTIONS]


def test_the_score_is_recall_detail_and_speed_by_their_weights() -> None:
    def scored(answers: list[str], seconds: float) -> float:
        return row("a", "", stored=0, answers=answers, seconds=seconds).score

    nothing = [""] * len(QUESTIONS)
    assert scored(ALL, 0.5) == 100
    assert scored(ALL, 15.5) == 95
    assert scored(ALL, 99) == 90
    assert scored(nothing, 0.5) == 10
    assert scored(nothing, 99) == 0
    half = [*ALL[:5], *nothing[5:]]
    found = row("a", "", stored=0, answers=half, seconds=99)
    assert found.recall == 50
    assert found.score == round(0.6 * 50 + 0.3 * found.detail, 1)


@pytest.mark.slow
def test_programs_share_what_they_store(icm: Icm, tmp_path: Path) -> None:
    file, plot = tmp_path / "agents.json", tmp_path / "agents.png"
    done = icm("bench-agents", "--json", str(file), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    assert "No language model was asked" in done.stdout
    rows = json.loads(file.read_text("utf-8"))["rows"]
    assert [one["host"] for one in rows] == list(HOSTS)
    assert sum(one["stored"] for one in rows) == len(sentences(DOCUMENT))
    # No program stored more than a part of it, and each knows the whole.
    assert all(1 <= one["stored"] <= 6 and one["recall"] >= 70 for one in rows)
    assert plot.stat().st_size > 1000
    assert not (tmp_path / "icm.sqlite3").exists()


@pytest.mark.slow
def test_each_model_is_a_program_of_its_own(icm: Icm, tmp_path: Path) -> None:
    echo = tmp_path / "echo.py"
    echo.write_text("import sys; print(sys.stdin.read())", "utf-8")
    dumb = tmp_path / "dumb.py"
    dumb.write_text("import sys; sys.stdin.read(); print('no')", "utf-8")
    asked = [f"--model-command={sys.executable} {file}" for file in (echo, dumb)]
    out = tmp_path / "agents.json"
    done = icm("bench-agents", *asked, "--json", str(out))
    assert done.returncode == 0, done.stderr
    one, two = json.loads(out.read_text("utf-8"))["rows"]
    assert one["recall"] >= 70
    assert (two["recall"], two["detail"]) == (0, 0)
    assert one["stored"] + two["stored"] == len(sentences(DOCUMENT))


@pytest.mark.slow
def test_a_model_that_fails_ends_the_benchmark_in_one_sentence(
    icm: Icm, tmp_path: Path
) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import sys; sys.stdin.read(); sys.exit('no key')", "utf-8")
    done = icm("bench-agents", f"--model-command={sys.executable} {file}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("ended with 1: no key")
    assert "Traceback" not in done.stderr


def test_a_host_whose_server_has_no_time_left_says_so(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable, match="slow: its server"):
        McpHost("slow", folder=tmp_path, database=tmp_path / "x.sqlite3", seconds=0)

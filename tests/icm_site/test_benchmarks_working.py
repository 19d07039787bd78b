"""`icm bench-agent`: sessions of a small program; the texts to be read without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from icm_site.benchmarks import agent_project
from icm_site.benchmarks.agent_project import FILES, SESSIONS
from icm_site.benchmarks.questions import Question, held
from tests.conftest import Icm

# It reads every file unless the answer seems to stand before it, and says what it took.
WORKER = """
import json, pathlib, sys
prompt = sys.stdin.read()
remembers = "What the memory says" in prompt
files = [p for p in sorted(pathlib.Path(".").rglob("*")) if p.is_file()]
texts = [] if remembers else [p.read_text("utf-8").splitlines()[0] for p in files]
told = "\\n".join([prompt if remembers else "", *texts])
usage = {"input_tokens": len(told), "output_tokens": 9}
turns = 1 + len(texts)
print(json.dumps({"result": told, "num_turns": turns, "total_cost_usd": turns / 100,
                  "usage": usage}))
"""


@pytest.mark.parametrize("question", SESSIONS, ids=lambda question: question.text)
def test_a_session_asks_for_what_one_file_says(question: Question) -> None:
    holding = [
        name
        for name, (says, _) in FILES.items()
        if held(says, question.keywords) == len(question.keywords)
    ]
    assert len(holding) == 1
    assert held(question.text, question.keywords) == 0


def test_the_project_is_twelve_files(tmp_path: Path) -> None:
    agent_project.write(tmp_path)
    files = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")}
    assert files == FILES.keys()
    assert len(files) == 12


def test_without_a_model_the_texts_to_be_read_are_compared(
    icm: Icm, tmp_path: Path
) -> None:
    file, plot = tmp_path / "agent.json", tmp_path / "agent.svg"
    done = icm("bench-agent", "-v", "--json", str(file), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    assert "No language model was asked" in done.stdout
    assert "turns" not in done.stdout
    told = json.loads(file.read_text("utf-8"))
    (run,) = told["runs"]
    assert len(run["with_icm"]) == len(run["without"]) == len(SESSIONS)
    assert all(session["score"] == 100 for session in run["without"])
    assert sum(session["score"] for session in run["with_icm"]) / len(SESSIONS) > 70
    for known, unknown in zip(run["with_icm"], run["without"], strict=True):
        assert known["tokens"] < unknown["tokens"] / 2
    assert plot.stat().st_size > 1000
    assert not (tmp_path / "icm.sqlite3").exists()


@pytest.mark.slow
def test_sessions_of_a_model_are_counted_with_and_without(
    icm: Icm, tmp_path: Path
) -> None:
    worker, file = tmp_path / "worker.py", tmp_path / "agent.json"
    worker.write_text(WORKER, "utf-8")
    command = f"{sys.executable} {worker}"
    asked = ("--model-command", command, "-s", "3", "-r", "2", "--json", str(file))
    done = icm("bench-agent", *asked)
    assert done.returncode == 0, done.stderr
    assert "counted by it" in done.stdout
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert len(runs) == 2
    for run in runs:
        assert run["learning"]["turns"] == 13
        assert [session["turns"] for session in run["without"]] == [13] * 3
        assert [session["turns"] for session in run["with_icm"]] == [1] * 3
        assert [session["dollars"] for session in run["without"]] == [0.13] * 3
        assert [session["score"] for session in run["without"]] == [100] * 3
        assert sum(session["score"] for session in run["with_icm"]) >= 200


@pytest.mark.slow
def test_a_model_that_fails_is_one_sentence(icm: Icm, tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import sys; sys.exit('no key')", "utf-8")
    done = icm("bench-agent", "--model-command", f"{sys.executable} {worker}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("ended with 1: no key")
    assert "Traceback" not in done.stderr

"""`icm bench-recall`: with a small program in the place of a model, and without one."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from icm_site.benchmarks import model_program
from icm_site.benchmarks.questions import (
    DOCUMENT,
    QUESTIONS,
    Question,
    held,
    score,
    sentences,
)
from icm_site.errors import InvalidInput, Unavailable
from tests.conftest import Icm

# It keeps what it reads line by line, and answers by what it is told, else by nothing.
PARROT = """
import json, sys
prompt = sys.stdin.read()
if prompt.startswith("Read this document"):
    text = " ".join(prompt.split("\\n\\n", 1)[1].split())
    answer = "- " + text.replace(". ", ".\\n- ")
elif "What the memory says" in prompt:
    answer = prompt
else:
    answer = "I do not know."
usage = {"input_tokens": 3, "cache_read_input_tokens": 4}
said = {"result": answer, "num_turns": 2, "total_cost_usd": 0.5, "usage": usage}
print(json.dumps(said) if "--json" in sys.argv else answer)
"""


def parrot(folder: Path, *options: str, code: str = PARROT) -> str:
    file = folder / "parrot.py"
    file.write_text(code, "utf-8")
    return " ".join([sys.executable, str(file), *options])


def chosen(folder: Path, **given: object) -> model_program.Model:
    wanted = {"name": None, "command": None, "timeout": 60} | given
    model = model_program.chosen(**wanted, database=folder / "x")  # type: ignore[arg-type]
    assert model is not None
    return model


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_a_question_has_its_answer_in_the_document_alone(question: Question) -> None:
    text, keywords, needed = question
    assert held(DOCUMENT, keywords) == len(keywords)
    assert held(text, keywords) == 0
    assert 3 <= len(keywords) <= 6
    assert 2 <= needed <= len(keywords)


def test_a_score_is_full_where_enough_words_are_held() -> None:
    question = QUESTIONS[1]
    answers = ["Kelpie, in FORTRAN, from Bergen", "kelpie", "kelpies", ""]
    found = [round(score(answer, question)) for answer in answers]
    assert found == [100, 33, 0, 0]


def test_a_document_is_cut_into_its_sentences() -> None:
    parts = sentences(DOCUMENT)
    assert len(parts) > 20
    assert all(part[0].isupper() and len(part) < 250 for part in parts)


def test_without_a_model_retrieval_alone_is_scored_and_said_to_be(
    icm: Icm, tmp_path: Path
) -> None:
    file, plot = tmp_path / "recall.json", tmp_path / "recall.svg"
    done = icm("bench-recall", "-v", "--json", str(file), "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    assert "No language model was asked" in done.stdout
    told = json.loads(file.read_text("utf-8"))
    assert told["model"] is None
    (run,) = told["runs"]
    assert run["without"] == []
    assert len(run["with_icm"]) == len(told["questions"]) == len(QUESTIONS)
    assert sum(run["with_icm"]) / len(QUESTIONS) > 70
    assert all(question.text in done.stdout for question in QUESTIONS)
    assert plot.stat().st_size > 1000
    assert not (tmp_path / "icm.sqlite3").exists()


def test_a_model_is_asked_with_and_without_what_is_remembered(
    icm: Icm, tmp_path: Path
) -> None:
    file = tmp_path / "recall.json"
    command = parrot(tmp_path, "--json")
    done = icm(
        "bench-recall", "-r", "2", "--model-command", command, "--json", str(file)
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads(file.read_text("utf-8"))["runs"]
    assert len(runs) == 2
    for run in runs:
        assert run["stored"] > 20
        assert set(run["without"]) == {0}
        assert sum(run["with_icm"]) / len(QUESTIONS) > 70


def test_a_reply_carries_what_the_program_says_of_itself(tmp_path: Path) -> None:
    told = chosen(tmp_path, command=parrot(tmp_path, "--json")).ask("why", tmp_path)
    assert (told.text, told.turns, told.dollars) == ("I do not know.", 2, 0.5)
    assert (told.tokens, told.counted) == (7, True)
    plain = chosen(tmp_path, command=parrot(tmp_path)).ask("why not", tmp_path)
    assert (plain.text.strip(), plain.turns) == ("I do not know.", 1)
    assert (plain.tokens, plain.counted) == (2, False)


def test_what_a_model_starts_sees_the_database_of_the_benchmark(tmp_path: Path) -> None:
    code = "import os; print(os.environ['ICM_DB'], os.getcwd())"
    told = chosen(tmp_path, command=parrot(tmp_path, code=code)).ask("", tmp_path)
    assert told.text.split() == [str(tmp_path / "x"), str(tmp_path.resolve())]


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import sys; sys.exit('no key')", "ended with 1: no key"),
        ("import time; time.sleep(60)", "gave no answer in 1 s"),
        # What it leaves behind holds its output open.
        (
            "import subprocess, sys, time\n"
            "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "time.sleep(60)",
            "gave no answer in 1 s",
        ),
    ],
)
def test_a_model_that_fails_is_one_sentence(
    tmp_path: Path, code: str, sentence: str
) -> None:
    model = chosen(tmp_path, command=parrot(tmp_path, code=code), timeout=1)
    with pytest.raises(Unavailable, match=sentence):
        model.ask("why", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "oracle"], "unknown model 'oracle'"),
        (["--model-command", "no-such-program-here"], "there is no program"),
        (["--model-command", "  "], "--model-command is empty"),
        (["--model-command", "a 'b"], "--model-command cannot be read"),
        (["--model", "claude", "--model-command", "x"], "either --model or"),
        (
            ["--model-command", "true", "--timeout", "0"],
            "--timeout: must be a whole number from 1 to 3600",
        ),
        (["--runs", "many"], "--runs: must be a whole number from 1 to 20"),
    ],
)
def test_a_wrong_wish_is_one_sentence(
    icm: Icm, arguments: list[str], sentence: str
) -> None:
    done = icm("bench-recall", *arguments)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


class Answering(BaseHTTPRequestHandler):
    """Ollama's interface, as far as it is used."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = {
            "response": f"{asked['model']}: {asked['prompt']}",
            "prompt_eval_count": 5,
        }
        body = json.dumps(told if self.path == "/api/generate" else {}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.server_port}")
    # It would be asked if a proxy of the environment were.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_ollama_is_asked_on_this_machine(ollama: HTTPServer, tmp_path: Path) -> None:
    told = chosen(tmp_path, name="ollama:small").ask("why", tmp_path)
    assert (told.text, told.tokens, told.counted) == ("small: why", 5, True)


def test_ollama_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")
    with pytest.raises(InvalidInput, match="not on this machine"):
        chosen(tmp_path, name="ollama:small")


def test_ollama_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    with pytest.raises(Unavailable, match="Ollama did not answer for 'small'"):
        chosen(tmp_path, name="ollama:small").ask("why", tmp_path)

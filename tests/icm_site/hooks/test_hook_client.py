"""The installed hook command as a process, with and without a resident."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from icm_site.resident import place
from tests.icm_site.warm import HOOK, TRANSPORTS, Warm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

MEMORIES = [
    ("decisions-shop", "The brew queue runs on NATS JetStream; staging port 4223."),
    ("decisions-bakery", "The brew queue of the bakery runs on RabbitMQ."),
    ("errors-resolved", "NATS drops a brew queue when its disk quota is zero."),
    ("preferences", "Mira wants the brew queue explained with drawings."),
    ("context-shop", "Tickets are sold through a turnstile made of brass."),
]
DRAWINGS = "Is the brew queue explained with drawings?"
QUESTION = "The brew queue: NATS JetStream, its disk quota, the drawings?"


@pytest.fixture(scope="module", params=TRANSPORTS)
def warm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Warm]:
    made = Warm(tmp_path_factory.mktemp("h"), dict(os.environ), request.param)
    for topic, content in MEMORIES:
        made.icm("store", "-t", topic, "-c", content, cold=True)
    made.start()
    yield made
    made.stop()


def test_it_answers_the_same_with_and_without_a_resident(warm: Warm) -> None:
    before = warm.served()
    through = warm.prompt(QUESTION)
    assert warm.served() == before + 2
    assert through == warm.prompt(QUESTION, cold=True)
    assert "JetStream" in through


def test_another_projects_memories_never_appear(warm: Warm) -> None:
    for cold in (False, True):
        found = warm.prompt(QUESTION, cold=cold)
        assert "RabbitMQ" not in found
        assert "quota" in found
        assert "drawings" in warm.prompt(DRAWINGS, cold=cold)


def test_outside_any_project_only_what_is_of_none_appears(warm: Warm) -> None:
    payload = {"prompt": DRAWINGS, "cwd": "/"}
    for cold in (False, True):
        found = warm.hook(payload, cold=cold).stdout
        assert b"JetStream" not in found
        assert b"drawings" in found


def test_a_prompt_about_something_else_gets_nothing(warm: Warm) -> None:
    for cold in (False, True):
        assert warm.prompt("Rename this variable, thanks!", cold=cold) == ""


BAD = [b"", b"{", b"\xff\xfe\x00", b"[]", b'"x"', b"null", b'{"prompt": 3}']


@pytest.mark.parametrize("body", BAD, ids=repr)
def test_bad_input_is_met_with_silence(warm: Warm, body: bytes) -> None:
    for cold in (False, True):
        done = warm.hook(body, cold=cold)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_input_without_end_is_met_with_silence(warm: Warm) -> None:
    done = warm.hook(b'{"prompt": "' + b"x" * (33 << 20))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_broken_database_is_met_with_silence(warm: Warm, tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"no database at all" * 100)
    for database in (str(broken), str(tmp_path / "none.sqlite3"), "/dev/null/x"):
        done = warm.hook({"prompt": QUESTION}, env={"ICM_DB": database})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    loud = {"ICM_DB": str(broken), "ICM_HOOK_DEBUG": "1"}
    said = warm.hook({"prompt": QUESTION}, cold=True, env=loud)
    assert (said.returncode, said.stdout) == (0, b"")
    assert b"Traceback" in said.stderr


def test_it_loads_no_django_and_no_numpy(warm: Warm) -> None:
    code = (
        "import runpy, sys; sys.argv = ['h', 'prompt'];"
        f"\ntry: runpy.run_path({str(HOOK)!r}, run_name='__main__')"
        "\nexcept SystemExit: pass"
        "\nfor name in ('django', 'numpy', 'pydantic', 'asyncio', 'sqlite3', 'ast'):"
        "\n    print(name, isinstance(sys.modules.get(name), type(sys))"
        " and hasattr(sys.modules[name], '__file__'), file=sys.stderr)"
    )
    done = warm.run(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=b'{"prompt": "Which brew queue do we run?"}',
        cold=True,
    )
    assert b"JetStream" in done.stdout
    assert b"True" not in done.stderr, done.stderr


def test_without_a_resident_it_starts_one_for_the_next_time(tmp_path: Path) -> None:
    made = Warm(tmp_path, dict(os.environ), "auto")
    made.icm("store", "-t", "decisions-shop", "-c", MEMORIES[0][1], cold=True)
    try:
        assert "JetStream" in made.prompt("brew queue NATS JetStream staging")
        end = time.monotonic() + 30
        while not made.pid():
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        made.stop()


def test_a_start_that_failed_is_not_tried_at_once_again(tmp_path: Path) -> None:
    made = Warm(tmp_path, dict(os.environ), "unix")
    made.icm("topics", cold=True)
    folder = Path(made.env["XDG_CACHE_HOME"])
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file where the folder of the log belongs")
    for _ in range(2):
        assert made.icm("topics").returncode == 0
    end = time.monotonic() + 20
    while (known := place.read(made.database)) is None or known.state != place.FAILED:
        assert time.monotonic() < end
        time.sleep(0.05)
    # Of the two commands one or both have tried: a slow machine lets the wait pass.
    assert known.tries in (1, 2)
    known.since = time.time()
    assert not place.may_start(known)
    known.since -= 3_600
    assert place.may_start(known)


def test_icm_hook_is_the_same_command(warm: Warm) -> None:
    payload = {"prompt": QUESTION, "cwd": str(warm.work)}
    direct = warm.hook(payload)
    through = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", "hook", "prompt", "--tool=claude-code"],
        input=str(payload).replace("'", '"').encode(),
        capture_output=True,
        env=warm.env,
        cwd=warm.work,
        check=True,
    )
    assert direct.stdout == through.stdout != b""

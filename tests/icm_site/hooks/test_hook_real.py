"""Every sample through the real command, with and without a resident; deadlines."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from icm_site.hooks import once
from icm_site.hooks.capture import COUNTER
from tests.icm_site.hooks.hooking import TOOLS, context
from tests.icm_site.hooks.test_hook_samples import (
    FILES,
    OWN,
    PLAIN,
    expected,
    name_of,
    shape,
    verb_of,
)
from tests.icm_site.warm import HOOK, Warm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.fixture(scope="module")
def warm(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    folder = tmp_path_factory.mktemp("real")
    made = Warm(folder, dict(os.environ) | {"PATH": "/usr/bin:/bin"}, "unix")
    made.env["XDG_RUNTIME_DIR"] = str(folder)
    (folder / "work" / "teapot-api").mkdir(parents=True)
    shutil.copy(filled, made.database)
    made.start()
    yield made
    made.stop()


def through(warm: Warm, path: Path, *, cold: bool) -> tuple[str, bytes, int]:
    """What the command says to a sample in a session of its own."""
    folder = Path(warm.database).parent
    text = path.read_text("utf-8").replace("/home/mira/work", str(folder / "work"))
    own = f"{'cold' if cold else 'warm'}-{path.stem}-"
    for session in ("5d0b7c1e", "9c2d4f10", "019a7d42", "b3f0a9d2", "c0a1e6f2", "ses_"):
        text = text.replace(f'"{session}', f'"{own}{session}')
    text = text.replace('"vs-5521"', f'"{own}vs"')
    if path.parent.name == "opencode":  # as its plugin says where it works
        place = str(folder / "work" / "teapot-api")
        text = json.dumps(json.loads(text) | {"cwd": place})
    command = [sys.executable, "-I", "-S", str(HOOK), verb_of(path)]
    command += ["--tool", TOOLS[path.parent.name]]
    done = warm.run(command, stdin=text.encode(), cold=cold)
    return done.stdout.decode(), done.stderr, done.returncode


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_sample_gets_its_contract(path: Path, cold: bool, warm: Warm) -> None:
    name = name_of(path)
    line, err, code = through(warm, path, cold=cold)
    assert (code, err) == (0, b"")
    wanted = expected(name)
    if name in PLAIN:
        assert line.startswith("ICM, the memory")
    elif name in OWN:
        assert json.loads(line).keys() == OWN[name]
    elif wanted is None:
        assert line == ""
    else:
        assert shape(json.loads(line)) == shape(wanted)
    assert "RabbitMQ" not in context(line)


def test_a_session_is_remembered_by_the_resident_and_without_it(warm: Warm) -> None:
    asked = {"hook_event_name": "UserPromptSubmit", "session_id": "mixed"}
    folder = Path(warm.database).parent / "work" / "teapot-api"
    asked |= {"prompt": "Why NATS for the brew queue?", "cwd": str(folder)}
    assert b"NATS" in warm.hook(asked).stdout
    end = time.monotonic() + 10
    while time.monotonic() < end:
        # The record follows the answer.
        time.sleep(0.2)
        again = warm.hook({**asked, "prompt": asked["prompt"] + " "}, cold=True)
        if again.stdout == b"":
            break
    assert again.stdout == b""
    other = {**asked, "session_id": "other"}
    assert b"NATS" in warm.hook(other, cold=True).stdout
    time.sleep(0.5)
    assert warm.hook({**other, "prompt": "Again: NATS, brew queue?"}).stdout == b""


def test_two_hooks_at_once_answer_once(warm: Warm) -> None:
    for cold in (False, True):
        asked = {"hook_event_name": "SessionStart", "source": "startup"}
        asked |= {"session_id": f"twice-{cold}"}
        asked |= {"cwd": str(Path(warm.database).parent / "work" / "teapot-api")}
        env = warm.env | ({"ICM_RESIDENT": "0"} if cold else {})
        command = [sys.executable, "-I", "-S", str(HOOK), "start"]
        running = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
            )
            for _ in range(3)
        ]
        body = json.dumps(asked).encode()
        said = [process.communicate(body)[0] for process in running]
        assert sum(bool(line) for line in said) == 1


def test_twenty_hooks_at_once_are_all_recorded_and_counted(tmp_path: Path) -> None:
    alone = Warm(tmp_path, dict(os.environ), "unix")
    assert alone.icm("topics", cold=True).returncode == 0

    def run(number: int) -> bytes:
        asked = {"hook_event_name": "PostToolUse", "tool_name": "Bash"}
        asked |= {"tool_use_id": f"t{number}", "session_id": f"s{number}"}
        done = alone.hook(
            {**asked, "tool_response": {"stdout": "ok"}}, cold=True, event="post"
        )
        return done.stdout + done.stderr

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(run, range(20))) == {b""}
    with closing(sqlite3.connect(alone.database)) as raw:
        counter = "SELECT value FROM icm_metadata WHERE key = ?"
        assert raw.execute(counter, (COUNTER,)).fetchone() == ("20",)
        assert raw.execute("SELECT count(*) FROM hook_events").fetchone() == (20,)


def test_a_hook_below_a_hook_returns_at_once(warm: Warm) -> None:
    asked = {"hook_event_name": "SessionStart", "session_id": "below"}
    done = warm.hook(asked, event="start", env={"ICM_WORKER": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_host_that_never_ends_its_input_is_left(warm: Warm) -> None:
    command = [sys.executable, "-I", "-S", str(HOOK), "prompt"]
    begun = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=warm.env
    ) as process:
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert time.monotonic() - begun < 15


def test_a_person_at_a_terminal_is_told_how_it_is_used(warm: Warm) -> None:
    import pty

    own, theirs = pty.openpty()
    for words in (["prompt"], ["promt"], []):
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), *words],
            stdin=theirs, capture_output=True, env=warm.env, timeout=60, check=True,
        )  # fmt: skip
        assert (done.stdout, b"usage: icm hook VERB" in done.stderr) == (b"", True)
    os.close(own)
    os.close(theirs)


WRONG = [
    ["hook"],
    ["hook", "unheard-of"],
    ["hook", "prompt", "--db"],
    ["hook", "prompt", "--db", "/nowhere/x", "--db", "y"],
    ["hook", "prompt", "--tool"],
    ["hook", "start", "--max-tokens", "many"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_command_line_stops_no_host(words: list[str], warm: Warm) -> None:
    done = warm.icm(*words, stdin=b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_broken_configuration_stops_no_host(warm: Warm, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("no TOML")
    asked = {"hook_event_name": "UserPromptSubmit", "session_id": "broken"}
    folder = Path(warm.database).parent / "work" / "teapot-api"
    asked |= {"prompt": "Why NATS for the brew queue?", "cwd": str(folder)}
    for cold in (False, True):
        env = {"ICM_CONFIG": str(file)}
        asked["session_id"] = f"broken-{cold}"
        done = warm.hook(asked, cold=cold, env=env)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"NATS" in done.stdout


def test_a_claim_holds_for_seconds(tmp_path: Path) -> None:
    env = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert once.by_file("a", env)
    assert not once.by_file("a", env)
    assert once.by_file("b", env)
    for file in (tmp_path / "icm-memory").iterdir():
        os.utime(file, (1, 1))
    assert once.by_file("a", env)
    assert len(list((tmp_path / "icm-memory").iterdir())) == 1
    assert once.by_file("a", {"XDG_RUNTIME_DIR": "/proc"}), "none can be made there"

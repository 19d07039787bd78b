"""The resident: what a command answers through it is what it answers alone."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from icm_site.resident import client, place, wire
from memories.embedder import packaged_reason
from tests.icm_site.warm import TRANSPORTS, Warm, alive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.fixture(scope="module", params=TRANSPORTS)
def warm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Warm]:
    """A user whose resident is up; the tests of this file leave it as it is."""
    made = Warm(tmp_path_factory.mktemp("w"), dict(os.environ), request.param)
    store(made, "decisions-shop", "The brew queue runs on NATS; staging is on 4223.")
    store(
        made, "decisions-shop", "Größe der Warteschlange: 日本語 ✓ und ein Komma, “so”."
    )
    store(made, "preferences", "Mira prefers short answers.")
    made.start()
    yield made
    made.stop()


@pytest.fixture(params=TRANSPORTS)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warm]:
    """A user of one test, whose resident may suffer."""
    made = Warm(tmp_path, dict(os.environ), request.param)
    yield made
    made.stop()


def store(warm: Warm, topic: str, content: str) -> None:
    done = warm.icm("store", "-t", topic, "-c", content, cold=True)
    assert done.returncode == 0, done.stderr


COMMANDS = [
    ("--help",),
    ("recall", "--help"),
    ("topics", "rename", "--help"),
    ("topics",),
    ("topics", "-f", "json"),
    ("stats",),
    ("stats", "-f", "json"),
    ("list", "-a"),
    ("list", "-t", "decisions-shop", "-f", "json"),
    ("recall", "which queue", "-f", "toon"),
    ("recall", "Warteschlange 日本語", "-f", "detail"),
    ("recall", "nothing-of-the-kind"),
    ("health",),
    ("embeddings", "status"),
    ("show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("forget", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("store", "-t", "x"),
    ("store", "-t", "", "-c", "no topic"),
    ("recal", "queue"),
    ("recall", "queue", "--limit", "many"),
    ("recall", "queue", "--no-such-option"),
    ("topics", "--no-embeddings"),
    ("--db",),
    (),
]


# One process for all, since each of its own takes a second: its real descriptors.
ALONE = """
import json, os, sys
from icm_site import cli
stdout, found = os.dup(1), []
for words in json.loads(sys.argv[1]):
    files = [os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in "ab"]
    for descriptor, file in zip((1, 2), files):
        os.dup2(file, descriptor)
    code = cli.main(words)
    sys.stdout.flush(), sys.stderr.flush()
    found.append([code, *(open(name).read() for name in "ab")])
os.write(stdout, json.dumps(found).encode())
"""


def test_each_command_prints_the_same_as_alone(warm: Warm) -> None:
    command = [sys.executable, "-c", ALONE, json.dumps(COMMANDS)]
    done = warm.run(command, stdin=b"", cold=True)
    assert done.returncode == 0, done.stderr
    for arguments, (code, out, err) in zip(
        COMMANDS, json.loads(done.stdout), strict=True
    ):
        through = warm.icm(*arguments)
        assert through.stderr == err.encode(), arguments
        assert masked(through.stdout) == masked(out.encode()), arguments
        assert through.returncode == code, arguments


def test_commands_really_go_through_it(warm: Warm) -> None:
    before = warm.served()
    warm.icm("topics")
    warm.icm("recall", "queue")
    assert warm.served() >= before + 3


@pytest.mark.parametrize(
    "env", [{"COLUMNS": "60"}, {"ICM_LOG": "debug"}, {"TZ": "Asia/Tokyo"}], ids=str
)
def test_variables_of_the_client_decide(warm: Warm, env: dict[str, str]) -> None:
    for arguments in (("--help",), ("recall", "queue", "-f", "detail")):
        alone = warm.icm(*arguments, cold=True, env=env)
        through = warm.icm(*arguments, env=env)
        assert masked(through.stdout) == masked(alone.stdout)
        assert through.returncode == alone.returncode == 0


def masked(out: bytes) -> list[bytes]:
    """Lines but those that count how often a memory was shown."""
    return [line for line in out.splitlines() if b"access" not in line]


def test_a_terminal_gets_what_it_gets_alone(warm: Warm) -> None:
    def shown(switch: str) -> bytes:
        main, other = pty.openpty()
        env = warm.env | {place.SWITCH: switch, "TERM": "xterm-256color"}
        command = [sys.executable, "-m", "icm_site.cli", "topics"]
        done = subprocess.run(
            command, stdin=other, stdout=other, stderr=other, env=env, cwd=warm.work
        )
        os.close(other)
        assert done.returncode == 0
        found = os.read(main, 1 << 16)
        os.close(main)
        return found

    assert shown("1") == shown("0")
    assert b"\x1b[" in shown("1")


def test_a_closed_pipe_ends_it_quietly(warm: Warm) -> None:
    ends = os.pipe()
    os.close(ends[0])
    done = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", "--help"],
        stdout=ends[1],
        stderr=subprocess.PIPE,
        env=warm.env,
        cwd=warm.work,
    )
    os.close(ends[1])
    assert (done.returncode, done.stderr) == (0, b"")


def test_nobody_else_may_connect(warm: Warm) -> None:
    address = place.read(warm.database)
    assert address is not None
    assert Path(warm.database + place.ADDRESS_SUFFIX).stat().st_mode & 0o077 == 0
    if address.way == "unix":
        path = Path(address.where)
        assert len(os.fsencode(path)) < 104
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0


def test_another_database_is_not_mixed_up(warm: Warm, tmp_path: Path) -> None:
    other = str(tmp_path / "other.sqlite3")
    warm.icm("store", "-t", "x", "-c", "elsewhere", "--db", other, cold=True)
    out = warm.icm("list", "-a", "--db", other).stdout
    assert b"elsewhere" in out
    assert b"NATS" not in out
    for _ in range(40):
        if stopped(warm, other):
            return
        time.sleep(0.2)
    pytest.fail("the other database's resident did not end")


def stopped(warm: Warm, database: str) -> bool:
    done = warm.icm("resident", "stop", "--db", database)
    return done.returncode == 0 and b"ended" in done.stdout


def test_several_starts_leave_one(fresh: Warm) -> None:
    fresh.icm("topics", cold=True)
    command = [sys.executable, "-m", "icm_site.cli", "topics"]
    many = [
        subprocess.Popen(
            command, env=fresh.env, cwd=fresh.work, stdout=subprocess.DEVNULL
        )
        for _ in range(6)
    ]
    assert [process.wait() for process in many] == [0] * 6
    pid = fresh.start()
    assert residents(fresh) == [pid]


def residents(warm: Warm) -> list[int]:
    """The processes that were started for this user's database."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(warm.database) in words and b"launch.py" in b" ".join(words):
            found.append(int(folder.name))
    return found


def test_a_killed_one_is_replaced(fresh: Warm) -> None:
    first = fresh.start()
    os.kill(first, signal.SIGKILL)
    done = fresh.icm("store", "-t", "x", "-c", "after the kill")
    assert done.returncode == 0, done.stderr
    second = fresh.start()
    assert second != first
    assert b"after the kill" in fresh.icm("list", "-a").stdout


def test_one_that_was_ended_leaves_no_failure_behind(fresh: Warm) -> None:
    fresh.start()
    store(fresh, "notes", "A fact.")
    assert b"A fact." in fresh.icm("recall", "fact").stdout
    fresh.stop()
    assert fresh.log() == ""
    assert place.read(fresh.database) is None
    assert fresh.start(), "the next one may start at once"


def test_one_that_hangs_blocks_nobody(fresh: Warm) -> None:
    pid = fresh.start()
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    done = fresh.icm("store", "-t", "decisions-shop", "-c", "queue hangs on NATS")
    assert done.returncode == 0, done.stderr
    assert fresh.prompt("Queue hangs on NATS?") != ""
    assert time.monotonic() - started < 15
    os.kill(pid, signal.SIGCONT)
    rows = fresh.icm("list", "-a", "-f", "json").stdout.count(b'"id"')
    assert rows == 1


@pytest.mark.skipif(bool(packaged_reason()), reason="no packaged model here")
def test_the_model_is_there_before_the_first_text_that_needs_it(fresh: Warm) -> None:
    del fresh.env["ICM_NO_EMBEDDINGS"]
    store(fresh, "notes", "A fact.")
    maps = Path(f"/proc/{fresh.start()}/maps")
    end = time.monotonic() + 60
    while "e5-small-q4.bin" not in maps.read_text() and time.monotonic() < end:
        time.sleep(0.2)
    assert "e5-small-q4.bin" in maps.read_text()


def test_it_leaves_when_the_database_is_removed(fresh: Warm) -> None:
    pid = fresh.start()
    Path(fresh.database).rename(fresh.database + ".moved")
    fresh.wait_until_gone(pid)
    assert b"Stored" in fresh.icm("store", "-t", "x", "-c", "a new one").stdout


def test_it_leaves_when_idle(fresh: Warm) -> None:
    folder = Path(fresh.env["XDG_CONFIG_HOME"]) / "icm-memory"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[resident]\nidle_minutes = 0.001\n")
    fresh.wait_until_gone(fresh.start())


def test_it_leaves_when_switched_off(fresh: Warm) -> None:
    pid = fresh.start()
    folder = Path(fresh.env["XDG_CONFIG_HOME"]) / "icm-memory"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[resident]\nenabled = false\n")
    fresh.wait_until_gone(pid)
    fresh.icm("topics")
    assert residents(fresh) == []


def test_the_newer_side_wins(fresh: Warm) -> None:
    pid = fresh.start()
    assert offered(fresh, protocol=0) == wire.DECLINED
    assert alive(pid)
    assert offered(fresh, protocol=wire.PROTOCOL + 1) == wire.DECLINED
    fresh.wait_until_gone(pid)


def offered(warm: Warm, *, protocol: int) -> bytes:
    """What a client of this protocol is answered."""
    asked = client.request("status", env=warm.env, cwd="/")
    parts = wire.unpack(asked)
    socket = client.connect(warm.database)
    assert socket is not None
    with closing(socket):
        packed = wire.pack([str(protocol).encode(), *parts[1:]])
        socket.sendall(wire.frame(wire.REQUEST, packed))
        return wire.receive(socket)[0]


def test_what_was_not_accepted_in_time_is_never_run(fresh: Warm) -> None:
    fresh.start()
    asked = client.request(
        "command",
        env=fresh.env,
        cwd=str(fresh.work),
        arguments=["store", "-t", "x", "-c", "never said go"],
    )
    for _ in range(2):
        socket = client.connect(fresh.database)
        assert socket is not None
        assert client.accepted(socket, asked, seconds=5) == wire.WRITES
        socket.close()
    assert b"never said go" not in fresh.icm("list", "-a").stdout


def test_a_write_waiting_for_a_lock_holds_up_no_read(fresh: Warm) -> None:
    fresh.start()
    with closing(sqlite3.connect(fresh.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer = subprocess.Popen(
            [sys.executable, "-m", "icm_site.cli", "store", "-t", "x", "-c", "later"],
            env=fresh.env,
            cwd=fresh.work,
            stdout=subprocess.PIPE,
        )
        time.sleep(0.5)
        started = time.monotonic()
        assert fresh.icm("recall", "anything").returncode == 0
        assert fresh.icm("topics").returncode == 0
        assert time.monotonic() - started < 4
        assert writer.poll() is None
        other.execute("COMMIT")
    out, _ = writer.communicate(timeout=30)
    assert out.startswith(b"Stored")

"""Copies of a database while others go on writing to it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from icm_site import partial
from icm_site.errors import Conflict, Unavailable
from icm_site.sqlite import backup, identity, locks, restore
from tests.conftest import PROJECT


def make(path: Path) -> sqlite3.Connection:
    """A database of a few MB, so that a copy takes several steps."""
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for name, value in (
        ("journal_mode", "WAL"),
        ("application_id", identity.APPLICATION_ID),
        ("user_version", identity.SCHEMA_VERSION),
    ):
        raw.execute(f"PRAGMA {name} = {value}")
    raw.execute("CREATE TABLE rows(value)")
    raw.execute("BEGIN")
    raw.executemany("INSERT INTO rows VALUES (randomblob(4000))", [()] * 4000)
    raw.execute("COMMIT")
    return raw


def test_a_copy_is_one_state_and_ends_while_another_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "PAGES_AT_A_TIME", 50)
    source, stop = tmp_path / "icm.sqlite3", threading.Event()
    with closing(make(source)) as raw:

        def write() -> None:
            while not stop.wait(0.001):
                raw.execute("INSERT INTO rows VALUES ('new')")

        writer = threading.Thread(target=write)
        copier = threading.Thread(
            target=backup.backup, args=(source, tmp_path / "copy"), daemon=True
        )
        writer.start()
        copier.start()
        copier.join(10)
        late = copier.is_alive()
        stop.set()
        writer.join()
        copier.join()
        assert not late
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("PRAGMA quick_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM rows").fetchone()[0] >= 4000


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    make(tmp_path / "icm.sqlite3").close()
    with pytest.raises(Conflict, match="exists already"):
        backup.backup(tmp_path / "icm.sqlite3", tmp_path / "icm.sqlite3")


COPY = """
import sys, time
from datetime import datetime
from pathlib import Path
from icm_site.sqlite import backup
source, now = Path(sys.argv[1]), datetime(2026, 5, 4)
print(flush=True)
sys.stdin.readline()
print(backup.beside(source, now))
"""


def test_two_processes_make_copies_at_the_same_instant(tmp_path: Path) -> None:
    source = tmp_path / "icm.sqlite3"
    make(source).close()
    both = [
        subprocess.Popen(
            [sys.executable, "-c", COPY, str(source)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        process.stdout.readline()
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = sorted(process.communicate()[0].strip() for process in both)
    assert said == [f"{source}.backup-20260504-000000{n}" for n in ("", "-1")]
    for name in said:
        with closing(sqlite3.connect(name)) as copy:
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert copy.execute("SELECT count(*) FROM rows").fetchone() == (4000,)
    assert not list(tmp_path.glob("*.partial*"))


def test_what_killed_processes_left_is_deleted_by_the_next_copy(
    tmp_path: Path,
) -> None:
    source, now = tmp_path / "icm.sqlite3", time.time()
    make(source).close()
    names = [
        (f"{source.name}.backup-20260101-000000.icm-abcdefg1.partial", -5000),
        (f"{source.name}.backup-20260101-000000.icm-abcdefg1.partial-journal", -5000),
        (f"{source.name}.icm-abcdefg2.partial", 5000),
        (f"{source.name}.icm-abcdefg3.partial", -5),
        (f"{source.name}2.icm-abcdefg4.partial", -5000),
        (f"{source.name}.download.partial", -5000),  # a person's
        (f"{source.name}.icm-notes.partial", -5000),
    ]
    for name, age in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now + age, now + age))
    backup.backup(source, tmp_path / "copy")
    assert {path.name for path in tmp_path.glob("*.partial*")} == {
        f"{source.name}.icm-abcdefg3.partial",
        f"{source.name}2.icm-abcdefg4.partial",
        f"{source.name}.download.partial",
        f"{source.name}.icm-notes.partial",
    }


def test_a_name_that_is_taken_meanwhile_is_left_alone(tmp_path: Path) -> None:
    mine, target = tmp_path / "mine", tmp_path / "target"
    mine.write_text("mine")
    target.symlink_to(tmp_path / "nowhere")
    assert not partial.placed(mine, target)
    target.unlink()
    assert partial.placed(mine, target)
    assert target.read_text() == "mine"


def spoil(path: Path, *, start: int, end: int) -> None:
    """Overwrite a part of a file."""
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * (end - start))


def test_a_damaged_file_is_not_copied_and_costs_no_older_copy(tmp_path: Path) -> None:
    source, now = tmp_path / "icm.sqlite3", time.time()
    make(source).close()
    good = backup.scheduled(source, every=1, keep=1, now=now)
    assert good is not None
    spoil(source, start=4096 * 10, end=4096 * 20)
    later = now + 2 * backup.DAY
    os.utime(source, (later, later))
    with pytest.raises(Unavailable, match="icm repair"):
        backup.scheduled(source, every=1, keep=1, now=later)
    with pytest.raises(Unavailable, match="icm repair"):
        backup.backup(source, tmp_path / "copy")
    assert backup.copies(source) == [good]
    assert not list(tmp_path.glob("*.partial"))


def test_scheduled_copies_rotate_and_leave_all_others_alone(tmp_path: Path) -> None:
    source, start = tmp_path / "a.db", time.time()
    make(source).close()
    others = [
        tmp_path / name
        for name in (
            "a.db.backup-20200101-000000",
            "a.db2.backup-20200101-000000-auto",
            "a.db.backup-mine-auto",
            "a.db.backup-20200101-000000-auto.txt",
        )
    ]
    for path in others:
        path.touch()
    made = []
    for day in range(5):
        now = start + day * backup.DAY
        os.utime(source, (now - 1, now - 1))
        copy = backup.scheduled(source, every=1, keep=2, now=now)
        assert copy is not None
        os.utime(copy, (now, now))
        made.append(copy)
    assert backup.copies(source, scheduled=True) == made[-2:]
    assert [path for path in others if not path.exists()] == []
    assert {path.stat().st_mode & 0o777 for path in made[-2:]} == {0o600}


def test_a_copy_of_the_future_is_not_the_latest(tmp_path: Path) -> None:
    source = tmp_path / "a.db"
    make(source).close()
    ahead, later = backup.backup(source, tmp_path / "a.db.backup-20300101-000000"), None
    os.utime(ahead, (time.time() + backup.DAY,) * 2)
    later = backup.beside(source, datetime(2026, 5, 4, tzinfo=UTC))
    assert backup.copies(source) == [ahead, later]
    assert restore.find(source, "latest") == later


def test_copies_of_one_second_have_names_of_their_own_and_are_all_listed(
    tmp_path: Path,
) -> None:
    source, now = tmp_path / "a.db", datetime(2026, 5, 4, 12, 30, 1, tzinfo=UTC)
    make(source).close()
    made = [
        backup.backup(
            source, backup.default_target(source, now, scheduled=bool(number % 2))
        )
        for number in range(4)
    ]
    stem = "a.db.backup-20260504-123001"
    assert [path.name for path in made] == [
        *(stem, f"{stem}-auto", f"{stem}-1", f"{stem}-1-auto")
    ]
    assert backup.copies(source) == made
    assert backup.copies(source, scheduled=True) == made[1::2]


@pytest.mark.parametrize(
    ("age", "changed", "every", "due"),
    [
        (0.5, True, 1.0, False),
        (1.5, True, 1.0, True),
        (1.5, False, 1.0, False),
        (1.5, True, 0.0, False),
        (-30.0, True, 1.0, True),
    ],
    ids=["fresh", "old", "unchanged", "switched off", "the clock was set back"],
)
def test_a_copy_is_due_when_the_last_is_old_and_the_file_changed(
    tmp_path: Path, age: float, changed: bool, every: float, due: bool
) -> None:
    source, now = tmp_path / "a.db", time.time()
    source.touch()
    copy = backup.default_target(source, datetime.now(UTC), scheduled=True)
    copy.touch()
    made = now - age * backup.DAY
    os.utime(copy, (made, made))
    written = made + (60 if changed else -60)
    os.utime(source, (written, written))
    assert backup.due(source, every=every, now=now) is due


def test_a_lock_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(Unavailable, match="x.lock cannot be made"),
        locks.held(str(tmp_path / "file" / "x.lock"), seconds=0),
    ):
        pass


def test_a_lock_of_another_is_not_ours(tmp_path: Path) -> None:
    lock = str(tmp_path / "x.lock")
    with locks.held(lock, seconds=0) as first, locks.held(lock, seconds=0) as second:
        assert (first, second) == (True, False)

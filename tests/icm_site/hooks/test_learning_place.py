"""Where a process that learns makes a database, and where one has gone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from icm_site.errors import NotFound
from icm_site.hooks import capture, learning
from icm_site.sqlite import opening
from tests.conftest import PROJECT

SAID = "The user said: we always deploy the shop on Tuesdays, because of the audit.\n"


def started(
    environment: dict[str, str], database: Path, **more: str
) -> subprocess.Popen[bytes]:
    """A process as a hook starts it, with its job."""
    job = {"verb": "end", "messages": json.dumps([{"role": "user", "content": SAID}])}
    process = subprocess.Popen(
        [sys.executable, "-P", capture.LAUNCHER],
        env=environment | {"ICM_DB": str(database), "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({**job, **more}).encode())
    process.stdin.close()
    return process


def ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    said = process.stderr.read()
    assert (process.wait(), said) == (0, b"")


@pytest.mark.parametrize(
    ("folder", "new"), [(False, False), (False, True), (True, False)]
)
def test_a_database_that_has_gone_is_not_made_anew(
    folder: bool, new: bool, environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "disk"
    if folder:
        place.mkdir()
    more = {"new": "1"} if new else {}
    ended(started(environment, place / "icm.sqlite3", **more))
    assert place.exists() == folder
    assert not (folder and list(place.iterdir()))


def test_one_that_goes_while_another_process_learns_is_not_made_anew(
    environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    database = place / "icm.sqlite3"
    database.touch()
    with FileLock(f"{database}{learning.LOCK_SUFFIX}"):
        process = started(environment, database)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        shutil.rmtree(place)
        ended(process)
    assert not place.exists()


def test_the_first_session_makes_the_database_in_the_usual_place(
    environment: dict[str, str],
) -> None:
    database = Path(environment["XDG_DATA_HOME"], "icm-memory", "icm.sqlite3")
    shutil.rmtree(database.parent, ignore_errors=True)
    ended(started(environment, database, new="1"))
    assert database.exists()


def test_what_nobody_asked_for_makes_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_attended", True)
    opening.never_make()
    with pytest.raises(NotFound):
        opening.plan(tmp_path / "x.sqlite3")
    assert not list(tmp_path.iterdir())

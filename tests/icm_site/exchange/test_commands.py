"""`icm export` and `icm import` as they are typed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import Icm

PROJECT = Path(__file__).resolve().parents[3]
# The full run: ICM_TEST_WORLDS=20.
WORLDS = int(os.environ.get("ICM_TEST_WORLDS", "6"))


def fill(icm: Icm) -> None:
    for words in (
        ("store", "-t", "decisions-shop", "-c", "We use Redis for sessions."),
        ("store", "-t", "decisions-shop", "-c", "Deploys run on Fridays."),
        ("memoir", "create", "-n", "architecture"),
    ):
        assert icm(*words).returncode == 0


def test_a_database_moves_by_file_and_by_pipe(icm: Icm, tmp_path: Path) -> None:
    fill(icm)
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.sqlite3")
    assert icm("export", str(file)).stdout == f"Exported: {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text("utf-8")
    assert icm("export").stdout == text
    done = icm("import", "-", stdin=text, ICM_DB=other)
    assert "memory: 2 new" in done.stdout
    assert icm("export", ICM_DB=other).stdout == text
    again = icm("import", str(file), ICM_DB=other)
    assert "Nothing new" in again.stdout
    assert not list(tmp_path.glob("other.sqlite3.backup-*"))
    found = icm("recall", "sessions", ICM_DB=other, cwd=tmp_path)
    assert "Redis" in found.stdout


def test_an_import_into_what_is_there_can_be_gone_back_on(
    icm: Icm, tmp_path: Path
) -> None:
    fill(icm)
    file = tmp_path / "all.jsonl"
    icm("export", str(file))
    other = tmp_path / "other.sqlite3"
    icm("store", "-t", "a", "-c", "Something else.", ICM_DB=str(other))
    preview = icm("import", "--dry-run", str(file), ICM_DB=str(other))
    assert "memory: 2 new" in preview.stdout
    assert "preview" in preview.stdout
    assert not list(tmp_path.glob("other.sqlite3.backup-*"))
    with closing(sqlite3.connect(other)) as open_all_along:
        # The last to close would empty the log anyway.
        open_all_along.execute("SELECT count(*) FROM memories").fetchone()
        icm("import", str(file), ICM_DB=str(other))
        assert Path(f"{other}-wal").stat().st_size == 0
    (backup,) = tmp_path.glob("other.sqlite3.backup-*")
    for path, rows in ((backup, 1), (other, 3)):
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("SELECT count(*) FROM memories").fetchone() == (rows,)


def test_markdown_is_for_reading(icm: Icm) -> None:
    fill(icm)
    page = icm("export", "--format", "markdown").stdout
    assert "## decisions-shop" in page
    assert "- We use Redis for sessions." in page
    assert "## Memoir: architecture" in page


REFUSED = (
    (("import", "{tmp}/none.jsonl"), "no such file"),
    (("import", "{tmp}"), "a folder with neither"),
    (("import", "{tmp}/fifo"), "no regular file"),
    (("import", "{tmp}/text"), "not JSON"),
    (("export", "{tmp}/text"), "exists already"),
    (("export", "{tmp}/none/x"), "could not be written|Cannot make"),
    (("export", "--since", "soon"), "--since is no date"),
    (("export", "--topic", "a", "--project", "b"), "not both"),
)


@pytest.mark.parametrize(("words", "why"), REFUSED, ids=str)
def test_what_cannot_be_is_one_sentence(
    icm: Icm, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    import re

    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "text").write_text("hello\n")
    done = icm(*(word.format(tmp=tmp_path) for word in words))
    assert done.returncode == 1
    assert re.search(why, done.stderr)
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "text").read_text() == "hello\n"
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.slow
def test_a_killed_import_leaves_nothing_half(
    icm: Icm, environment: dict[str, str], tmp_path: Path
) -> None:
    seed = (
        "from tests.icm_site.exchange import worlds\n"
        f"for n in range({WORLDS}): worlds.fill(n, 25)\n"
    )
    icm("store", "-t", "a", "-c", "First.")
    manage = [sys.executable, str(PROJECT / "manage.py"), "shell", "--no-imports"]
    subprocess.run([*manage, "-c", seed], env=environment, check=True, timeout=300)
    text = icm("export").stdout
    (tmp_path / "all.jsonl").write_text(text, "utf-8")
    for wait in (0.8, 1.6):
        other = tmp_path / f"{wait}.sqlite3"
        icm("stats", ICM_DB=str(other))
        process = subprocess.Popen(
            [sys.executable, "-m", "icm_site.cli", "import", "all.jsonl"],
            env=environment | {"ICM_DB": str(other)},
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
        )
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with closing(sqlite3.connect(other)) as raw:
            count = raw.execute("SELECT count(*) FROM memories").fetchone()[0]
            assert count in (0, text.count('{"type":"memory",'))
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert icm("import", str(tmp_path / "all.jsonl"), ICM_DB=str(other)).stdout
        assert icm("export", ICM_DB=str(other)).stdout == text

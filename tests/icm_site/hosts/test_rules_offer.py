"""What `icm init` says of files of rules, and does with them after a yes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icm_site.exchange.foreign import rule_files
from icm_site.hosts import rules_offer
from icm_site.hosts.finding import Machine
from icm_site.text import summary_hash
from memories.models import Memory
from tests.conftest import Run

RULES = "# Rules\n\nUse tabs.\n\n## Tests\n\nRun pytest -q.\n"
OURS = "<!-- icm:start -->\n## Memory (ICM)\n\nRecall first.\n<!-- icm:end -->\n"


@pytest.fixture
def work(run: Run, tmp_path: Path) -> Path:
    """A repository with rules, one file of them under two names."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir()
    (folder / "CLAUDE.md").write_text(RULES)
    (folder / "AGENTS.md").symlink_to("CLAUDE.md")
    (folder / ".github").mkdir()
    (folder / ".github/copilot-instructions.md").write_text(OURS)
    (folder / "README.md").write_text("# Shop\n\nA shop.\n")
    return folder


def offered(work: Path, home: Path | None = None) -> None:
    env = {"HOME": str(home or work.parent / "home"), "PATH": "/usr/bin:/bin"}
    rules_offer.offer(Machine(env, sys.platform, work))


def answering(
    monkeypatch: pytest.MonkeyPatch, answer: str | type[BaseException]
) -> None:
    """Somebody at a terminal says this."""

    def said(prompt: str) -> str:
        print(prompt, end="")
        if isinstance(answer, str):
            return answer
        raise answer

    monkeypatch.setattr("builtins.input", said)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)


def test_without_a_terminal_the_command_is_named_and_nothing_asked(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: pytest.fail("it asks"))
    offered(work)
    out = capsys.readouterr().out
    assert out.count("icm import --from rules") == 1
    assert "AGENTS.md   (2 sections)" in out
    assert "[y/N]" not in out
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "answer", ["", "n", "what", "yesterday", EOFError, KeyboardInterrupt]
)
def test_anything_but_a_yes_is_a_no(
    answer: str | type[BaseException], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, answer)
    offered(work)
    assert not Memory.objects.exists()


def test_where_there_are_no_rules_nothing_is_said(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work / "CLAUDE.md").write_text(OURS)
    offered(work)
    (work / "CLAUDE.md").write_bytes(b"\xff\xfe\x00")
    offered(work)
    offered(work, home=work)  # the rules of a home folder are of no project
    assert capsys.readouterr().out == ""


def test_what_is_remembered_already_is_not_offered(
    work: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", "--from", "rules", "CLAUDE.md").code == 0
    topics = set(Memory.objects.values_list("topic", flat=True))
    assert topics == {"rules-shop"}
    hashes = set(Memory.objects.values_list("summary_hash", flat=True))
    parts = rule_files.parts(RULES)
    assert hashes == {summary_hash("rules-shop", part) for part in parts}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_a_yes_at_a_terminal_imports_them(
    environment: dict[str, str], tmp_path: Path
) -> None:
    import pty

    work = tmp_path / "shop"
    (work / ".git").mkdir(parents=True)
    (work / "CLAUDE.md").write_text(RULES)
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "icm_site.cli", "init"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=work,
        env=environment | {"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([own], [], [], 1)[0]:
            continue
        try:
            part = os.read(own, 65536)
        except OSError:  # the other side is closed
            break
        said += part
        if part and b"[y/N]" in said and b"\ny" not in said:
            os.write(own, b"y\n")
            said += b"\ny"
    assert process.wait(timeout=60) == 0, said
    os.close(own)
    assert b"Imported" in said or b"memories" in said, said
    again = subprocess.run(
        [sys.executable, "-m", "icm_site.cli", "init"],
        cwd=work, env=environment | {"PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "icm import" not in again.stdout

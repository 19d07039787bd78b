"""Fixtures of all tests: no model by default, the real database always."""

from __future__ import annotations

import dataclasses
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from icm_site import cli, conf, database
from icm_site.conf_keys import Embeddings
from memories import embedder, matrices
from tests import forked
from tests.factories import FakeEmbedder

PROJECT = Path(__file__).resolve().parent.parent

# No process may outlive the tests; those of the resident turn it on and end it.
os.environ["ICM_RESIDENT"] = "0"

Icm = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_here() -> Iterator[None]:
    """No test may leave a file where the tests are run.

    A shell line with an unquoted redirection once did, under a word of a prompt.
    """
    before = set(os.listdir())  # noqa: PTH208
    yield
    new = {name for name in set(os.listdir()) - before if name[:1] != "."}  # noqa: PTH208
    assert not new, f"left in the working folder: {sorted(new)}"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """The database of the tests, marked as migrated as by a first command."""
    with django_db_blocker.unblock():
        database.ready()


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Embeddings off; a test that wants vectors asks for `model`."""
    off = dataclasses.replace(conf.load(), embeddings=Embeddings(enabled=False))
    conf.use(off)
    matrices.forget_matrices()
    yield
    conf.use(None)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, no_model: None) -> FakeEmbedder:
    """A small deterministic model in place of the packaged one."""
    fake = FakeEmbedder()
    conf.use(dataclasses.replace(conf.load(), embeddings=Embeddings()))
    monkeypatch.setattr(embedder, "MODELS", embedder.Models(loader=lambda name: fake))
    monkeypatch.setattr(embedder, "PACKAGED", fake.name)
    return fake


@pytest.fixture
def run(
    db: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Run]:
    """Run `icm ARGUMENTS` in this process, on the database of the tests.

    For all but global options, which are read before Django is.
    """
    work = tmp_path / "shop"
    work.mkdir()
    monkeypatch.chdir(work)
    before = dict(os.environ)
    if "model" not in request.fixturenames:
        os.environ["ICM_NO_EMBEDDINGS"] = "1"

    def run(*arguments: str) -> Outcome:
        # pytest's own stdin refuses to be read; a command may read it.
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), "utf-8"))
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(arguments)
        return Outcome(code, _text(out), _text(err))

    yield run
    os.environ.clear()
    os.environ.update(before)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a user with an empty home, for processes of their own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ICM_")}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "icm_site.settings",
        "HOME": str(tmp_path / "home"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "ICM_DB": str(tmp_path / "icm.sqlite3"),
        "ICM_NO_EMBEDDINGS": "1",
        "ICM_RESIDENT": "0",
        "PYTHONPATH": str(PROJECT),
        "COLUMNS": "200",
    }


@pytest.fixture
def icm(environment: dict[str, str], tmp_path: Path) -> Icm:
    """Run `icm ARGUMENTS` as a process; its output is checked by the test."""
    work = tmp_path / "shop"
    work.mkdir()

    def run(
        *arguments: str, stdin: str = "", cwd: Path = work, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return forked.run(
            arguments, environment=environment, changed=env, cwd=cwd, stdin=stdin
        )

    return run

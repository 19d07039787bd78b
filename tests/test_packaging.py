"""The wheel and the source archive, and the program as installed from the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from email.parser import Parser
from pathlib import Path

import pytest
from django.conf import settings

from icm_site import __version__

PROJECT = Path(__file__).resolve().parent.parent
APPS = [app for app in settings.INSTALLED_APPS if (PROJECT / app).is_dir()]

pytestmark = pytest.mark.slow

OPEN_LOGIN = """
import django
django.setup()
from django.test import Client
answer = Client(SERVER_NAME="localhost").get("/admin/login/")
print(answer.status_code, answer.content.decode())
"""


def run(
    *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done


def build(target: str, folder: Path) -> Path:
    """The archive that hatchling makes of the source tree, without a network."""
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        target,
        "-d",
        folder,
        cwd=PROJECT,
    )
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what pip makes of the wheel alone."""
    folder = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-compile")
    run(*pip, "--no-deps", "--no-index", "--target", folder, wheel, cwd=folder)
    return folder


@pytest.fixture
def elsewhere(installed: Path, environment: dict[str, str]) -> dict[str, str]:
    """Variables with which Python finds the installed program, not the checkout."""
    return environment | {
        "PYTHONPATH": str(installed),
        "DJANGO_SETTINGS_MODULE": "icm_site.settings",
    }


def sources(folders: Sequence[str]) -> set[str]:
    return {
        path.relative_to(PROJECT).as_posix()
        for folder in folders
        for path in (PROJECT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_apps_and_the_templates_and_nothing_else(
    wheel: Path,
) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    info = f"icm_memory-{__version__}.dist-info/"
    own = {name for name in names if not name.startswith(info)}
    templates = {f"icm_site/{name}" for name in sources(["templates"])}
    assert own == sources(APPS) | templates
    assert templates, "an empty folder would be left out"


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    info = f"icm_memory-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        scripts = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert (metadata["Name"], metadata["Version"]) == ("icm-memory", __version__)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_payload() == (PROJECT / "README.md").read_text("utf-8")
    assert "icm = icm_site.cli:main" in scripts


def test_no_requirement_of_the_wheel_is_an_address(wheel: Path) -> None:
    info = f"icm_memory-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
    required = metadata.get_all("Requires-Dist") or []
    assert required
    assert [line for line in required if re.search(r"@|://", line)] == []


def test_the_source_archive_has_what_a_build_and_the_tests_need(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = [*APPS, "templates", "tests", "docs"]
    assert sources(folders) - names == set()
    assert {"pyproject.toml", "README.md", "LICENSE", "manage.py"} - names == set()
    assert [name for name in names if "venv/" in name or name.endswith(".pyc")] == []


def test_the_installed_program_tells_its_version(
    installed: Path, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    done = run(installed / "bin" / "icm", "--version", cwd=tmp_path, env=elsewhere)
    assert done.stdout == f"icm {__version__}\n"


def test_the_installed_program_runs_its_own_code(
    installed: Path, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    ask = "import icm_site, memories; print(icm_site.__file__, memories.__file__)"
    done = run(sys.executable, "-c", ask, cwd=tmp_path, env=elsewhere)
    assert [Path(p).is_relative_to(installed) for p in done.stdout.split()] == [
        True
    ] * 2


def test_the_installed_program_stores_and_recalls(
    installed: Path, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    icm = installed / "bin" / "icm"
    text = "Orders live in Postgres."
    run(icm, "store", "-t", "decisions-shop", "-c", text, cwd=tmp_path, env=elsewhere)
    done = run(icm, "recall", "postgres", cwd=tmp_path, env=elsewhere)
    assert text in done.stdout


def test_the_installed_program_opens_a_page_of_its_own(
    elsewhere: dict[str, str], tmp_path: Path
) -> None:
    done = run(sys.executable, "-c", OPEN_LOGIN, cwd=tmp_path, env=elsewhere)
    assert done.stdout.startswith("200 ")
    assert "ICM <span>memory</span>" in done.stdout

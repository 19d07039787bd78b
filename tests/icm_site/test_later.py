"""What is loaded or made when it is first used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from icm_site import later
from tests.conftest import PROJECT

PAYLOAD = (
    b'{"hook_event_name": "UserPromptSubmit", "cwd": "/", '
    b'"prompt": "Why does the release 4711 of the kettle fail on the harbour wall?"}'
)


def python(code: str, *, options: tuple[str, ...] = ("-I", "-S")) -> str:
    command = [sys.executable, *options, "-c", code, str(PROJECT)]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    return done.stdout.strip()


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    pattern = later.pattern("(a)|B", re.IGNORECASE)
    assert not any(isinstance(value, re.Pattern) for value in vars(pattern).values())
    assert pattern.sub("-", "xAb") == "x--"
    assert pattern.findall("xAb") == ["A", ""]
    assert pattern.pattern == "(a)|B"


def test_a_pattern_that_is_wrong_says_so_at_its_use() -> None:
    with pytest.raises(re.error):
        later.pattern("(").match("")


def test_modules_that_were_put_off_are_themselves_once_used() -> None:
    code = (
        "import sys; sys.path.append(sys.argv[1]); from icm_site import later; "
        "later.put_off(); from pathlib import Path; import hashlib; "
        "known = [type(sys.modules[n]).__name__ for n in ('urllib.parse', 'hashlib')]; "
        "print(known, Path('/a b').as_uri(), hashlib.sha256(b'').hexdigest()[:6]); "
        "import urllib.parse; print(urllib.parse.quote('a b'))"
    )
    assert python(code).splitlines() == [
        "['_Later', '_Later'] file:///a%20b e3b0c4",
        "a%20b",
    ]


UNASKED = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="dataclasses read their annotations through it"
)


@pytest.mark.parametrize(
    "module",
    [
        "logging",
        "datetime",
        "hashlib",
        "ipaddress",
        pytest.param("inspect", marks=UNASKED),
        "sqlite3",
    ],
)
def test_a_hook_without_a_resident_loads_no_module_that_it_does_not_use(
    module: str, loaded_by_the_hook: frozenset[str]
) -> None:
    assert "memories.search" in loaded_by_the_hook
    assert module not in loaded_by_the_hook


@pytest.fixture(scope="module")
def loaded_by_the_hook(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    folder = tmp_path_factory.mktemp("hook")
    env = {
        "HOME": str(folder),
        "ICM_DB": str(folder / "icm.sqlite3"),
        "ICM_RESIDENT": "0",
        "ICM_NO_EMBEDDINGS": "1",
        "PATH": "",
    }
    store = [
        sys.executable,
        "-m",
        "icm_site.cli",
        "store",
        "-t",
        "notes",
        "-c",
        "kettle",
    ]
    subprocess.run(
        store, env=env | {"PYTHONPATH": str(PROJECT)}, check=True, cwd=folder
    )
    hook: Path = PROJECT / "icm_site" / "hook_client.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(hook), "prompt"],
        input=PAYLOAD,
        env=env,
        cwd=folder,
        capture_output=True,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    return frozenset(line.rpartition("|")[2].strip() for line in lines)

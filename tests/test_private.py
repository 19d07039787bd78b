"""What is ours is closed to others, and no code is made from data."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PROJECT, Icm

SOURCES = [
    path
    for folder in ("icm_site", "memories", "memoirs", "feedback")
    for path in sorted((PROJECT / folder).rglob("*.py"))
]
# Names that make code or objects of arbitrary classes from data.
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle"}
FORBIDDEN_CALLS = {"eval", "exec", "os.system", "os.popen", "yaml.load"}
FORBIDDEN_CALLS |= {"asyncio.create_subprocess_shell"}


def faults(tree: ast.AST) -> Iterator[str]:
    """What makes code from data, or hands text to a shell."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        yield from (name for name in names if name.split(".")[0] in FORBIDDEN_MODULES)
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in FORBIDDEN_CALLS:
            yield called
        for keyword in node.keywords:
            started = called.startswith("subprocess.")
            if (
                started
                and keyword.arg == "shell"
                and ast.unparse(keyword.value) != "False"
            ):
                yield f"{called}(shell=…)"
            if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False":
                yield f"{called}(allow_pickle=…)"


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from marshal import loads",
        "eval(text)",
        "subprocess.run(text, shell=True)",
        "numpy.load(path, allow_pickle=True)",
    ],
)
def test_the_search_finds_what_it_looks_for(code: str) -> None:
    assert list(faults(ast.parse(code)))


def test_no_code_is_made_from_data_and_no_shell_is_run() -> None:
    found = {
        str(path.relative_to(PROJECT)): names
        for path in SOURCES
        if (names := list(faults(ast.parse(path.read_text("utf-8")))))
    }
    assert found == {}


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_every_file_and_folder_of_ours_is_closed_to_others(
    icm: Icm, environment: dict[str, str], tmp_path: Path
) -> None:
    database = str(tmp_path / "own" / "icm.sqlite3")
    for words in (
        ["store", "-t", "t", "-c", "a fact"],
        ["recall", "fact"],
        ["backup"],
        ["backup", "--if-due"],
        ["restore", "latest"],
        ["repair"],
    ):
        done = icm(*words, ICM_DB=database)
        assert done.returncode == 0, done.stderr
    roots = [
        Path(database).parent,
        *(tmp_path / n for n in ("data", "config", "cache")),
    ]
    ours = [
        path for root in roots if root.exists() for path in [root, *root.rglob("*")]
    ]
    kinds = {path.name.partition(".sqlite3")[2][:8] for path in ours}
    assert {"", ".backup-", ".before-"} <= kinds
    # The root of a system's folder is not ours alone.
    own = [p for p in ours if p not in roots[1:]]
    open_ones = [
        (str(path), oct(path.stat().st_mode))
        for path in own
        if path.stat().st_mode & 0o777 != (0o700 if path.is_dir() else 0o600)
    ]
    assert open_ones == []

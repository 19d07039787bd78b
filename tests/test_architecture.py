"""The arrows between the parts, and the sizes that keep them readable."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from icm_site.command_modules import COMMANDS

PROJECT = Path(__file__).resolve().parent.parent
APPS = ("memories", "memoirs", "feedback")
# Modules of icm_site that know no app, as the arrows are drawn in the documentation.
LEAVES = (
    *("auth", "caller", "conf", "conf_keys", "errors", "fields", "git", "operation"),
    *("paths", "settings", "sqlite", "text", "ulid"),
)
# What the hook path imports: no framework, no numpy.
LIGHT = (
    *("icm_site.hooks.answer", "icm_site.hooks.bookkeeping", "icm_site.hooks.once"),
    *("memories.search", "memories.rank", "memories.projects", "memories.wake_up"),
    *("memories.snapshot", "icm_site.text"),
)
HEAVY = ("django", "numpy", "pydantic", "rich", "mcp", "ninja", "rest_framework")
STANDARD_ONLY = ("icm_site.conf", "icm_site.conf_keys", "icm_site.paths")

LINES = 400
FUNCTION_LINES = 60


def modules() -> dict[str, Path]:
    """Dotted name -> file, of all that is installed."""
    return {
        name(path): path
        for package in ("icm_site", *APPS)
        for path in sorted((PROJECT / package).rglob("*.py"))
    }


def name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = modules()


@cache
def imports(module: str, *, lazy: bool = True) -> tuple[str, ...]:
    """Dotted names that a module imports; without `lazy` those at its top alone.

    Imports for the type checker do not count.
    """
    return tuple(_imports(module, lazy=lazy))


def _imports(module: str, *, lazy: bool) -> Iterator[str]:
    path = MODULES[module]
    if lazy and module == "icm_site.cli":
        yield from COMMANDS.values()  # it starts them by these names
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text("utf-8"))
    for node in walk(tree, lazy=lazy):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (target(node, alias.name, package) for alias in node.names)


def walk(tree: ast.AST, *, lazy: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if not lazy and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield node
        yield from walk(node, lazy=lazy)


def target(node: ast.ImportFrom, imported: str, package: str) -> str:
    """`from a import b` means the module a.b where there is one, else a."""
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
    return f"{base}.{imported}" if f"{base}.{imported}" in MODULES else base


@cache
def reached(module: str, *, lazy: bool = True) -> frozenset[str]:
    """All modules of ours that importing this one may lead to."""
    known, ahead = set[str](), [module]
    while ahead:
        for found in imports(ahead.pop(), lazy=lazy):
            if found in MODULES and found not in known:
                known.add(found)
                ahead.append(found)
    return frozenset(known)


def app(module: str) -> str:
    """The app that a module belongs to, empty for one of icm_site."""
    first = module.partition(".")[0]
    return first if first in APPS else ""


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_imports_no_app(leaf: str) -> None:
    names = [m for m in MODULES if f"{m}.".startswith(f"icm_site.{leaf}.")]
    assert names
    for module in names:
        assert {app(found) for found in reached(module)} <= {""}, module


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("memories", {"memories"}),
        ("memoirs", {"memoirs", "memories"}),
        ("feedback", {"feedback", "memories"}),
    ],
)
def test_an_app_imports_leaves_and_the_apps_below_it(
    name: str, allowed: set[str]
) -> None:
    for module in (module for module in MODULES if app(module) == name):
        for found in imports(module):
            if found not in MODULES:
                continue
            apps = {app(further) for further in (found, *reached(found))} - {""}
            assert apps <= allowed, f"{module} -> {found} -> {apps - allowed}"


def test_no_module_is_part_of_a_circle() -> None:
    # What functions import counts: such a circle may load a module twice, or half.
    assert [module for module in MODULES if module in reached(module)] == []


@pytest.mark.parametrize("module", LIGHT)
def test_the_hook_path_imports_nothing_heavy(module: str) -> None:
    for ours in (module, *reached(module, lazy=False)):
        for found in imports(ours, lazy=False):
            assert not found.startswith(HEAVY), f"{module} -> {ours} -> {found}"


@pytest.mark.parametrize("module", STANDARD_ONLY)
def test_configuration_and_paths_need_the_standard_library_alone(module: str) -> None:
    for found in imports(module):
        first = found.partition(".")[0]
        assert first in sys.stdlib_module_names or first == "icm_site", found


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES.values() if "migrations" not in path.parts],
    ids=lambda path: str(path.relative_to(PROJECT)),
)
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text("utf-8")
    # Django looks for all tables of an app in one module.
    assert len(text.splitlines()) <= LINES or path.name == "models.py"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"


@pytest.mark.parametrize(
    "word", ["utils", "helpers", "base", "manager", "services", "common", "misc"]
)
def test_modules_are_named_after_their_concern(word: str) -> None:
    # Django names the module of a database backend.
    allowed = {"icm_site.sqlite.base"}
    assert [m for m in MODULES if m.endswith(f".{word}") and m not in allowed] == []

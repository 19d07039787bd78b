"""What is read from a project's folder: manifests, sources, modules, a survey."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from memoirs.project import files, manifests, modules, resolve, sources
from memoirs.project.survey import Survey, introduction, survey
from tests.memoirs.memoir_factories import make_files, make_project


def kinds(found: Survey) -> dict[str, tuple[str, ...]]:
    return {item.name: item.kinds for item in found.items.values()}


def edges(found: Survey) -> set[str]:
    return {f"{source} {relation} {target}" for source, target, relation in found.edges}


def test_a_survey_names_what_a_project_is_made_of(tmp_path: Path) -> None:
    found = survey(make_project(tmp_path), name="folder")
    assert (found.name, found.description) == ("shop", "Sells things.")
    assert kinds(found) == {
        "shop": ("project",),
        "shop (module)": ("module",),
        "shop.cli": ("module",),
        "shop.orders": ("module",),
        "shop.stock": ("module",),
        "shop.__main__": ("module", "entry"),
        "shop.extra": ("module",),
        "tests": ("module",),
        "django": ("dependency",),
        "PyYAML": ("dependency",),
        "rich": ("dependency",),
        "shop (script)": ("script",),
        "pyproject.toml": ("config",),
    }
    assert found.items["shop.cli"].definition == "Commands of the shop. Defines main."
    assert found.items["django"].definition == (
        "Dependency django >=5.2. Imported by shop.stock."
    )
    assert "Version 1.2. Languages: Python (" in found.items["shop"].definition
    assert found.items["pyproject.toml"].definition.endswith("(ruff, mypy).")


def test_a_survey_says_what_depends_on_what(tmp_path: Path) -> None:
    found = edges(survey(make_project(tmp_path), name="folder"))
    assert {
        "shop (module) part_of shop",
        "shop.cli part_of shop (module)",
        "tests part_of shop",
        "shop.cli depends_on shop.orders",
        "shop.orders depends_on shop.stock",
        "shop.__main__ depends_on shop.cli",
        "shop.cli depends_on PyYAML",
        "shop.stock depends_on django",
        "shop depends_on rich",
        "shop (script) part_of shop",
        "shop (script) depends_on shop.cli",
        "pyproject.toml related_to shop",
    } <= found
    # An import that waits in a function does not turn the arrow round; one for the
    # type checker or for a demonstration is none.
    assert not any(edge.startswith("shop.stock related_to") for edge in found)
    assert not any("numpy" in edge for edge in found)
    assert not any(edge.endswith("shop.extra") for edge in found)


def test_what_most_modules_use_hangs_on_the_project(tmp_path: Path) -> None:
    texts = {f"m{n}.py": "import requests" for n in range(5)}
    root = make_files(tmp_path, texts | {"m5.py": "import httpx"})
    found = survey(root, name="many")
    assert {"many depends_on requests", "m5 depends_on httpx"} <= edges(found)
    assert "m1 depends_on requests" not in edges(found)
    assert found.items["requests"].definition.endswith("m0, m1, m2, m3, m4.")


def test_modules_that_import_each_other_are_related(tmp_path: Path) -> None:
    root = make_files(tmp_path, {"a.py": "import b\nimport b.x", "b.py": "import a"})
    found = edges(survey(root, name="ring"))
    assert {"a depends_on b", "b related_to a"} <= found


def test_a_folder_that_is_a_package_names_its_modules(tmp_path: Path) -> None:
    root = make_files(
        tmp_path / "lib",
        {
            "__init__.py": '"""A library."""\nfrom lib.core import run',
            "core.py": "from . import text",
            "text.py": "import requests",
        },
    )
    found = survey(root, name="lib")
    assert found.description == "A library."
    assert {"lib.core depends_on lib.text", "lib.text depends_on requests"} <= edges(
        found
    )


def test_many_files_are_grouped_by_folder(tmp_path: Path) -> None:
    for folder in "abcdef":
        texts = {f"app/{folder}/m{n}.py": f'"""Part {n}."""' for n in range(8)}
        texts[f"app/{folder}/__init__.py"] = f'"""Folder {folder}"""\nimport app.a.m0'
        make_files(tmp_path, texts)
    found = survey(tmp_path, name="app")
    assert "app.b depends_on app.a" in edges(found)
    text = found.items["app.c"].definition
    assert text.startswith("Folder c. Python (9 files). m0: Part 0; m1: Part 1")
    assert len(found.items) < 12


def test_many_files_in_one_folder_are_shown_by_the_central_ones(tmp_path: Path) -> None:
    texts = {f"lib/m{n:02}.py": "from lib import core" for n in range(60)}
    make_files(tmp_path, texts | {"lib/__init__.py": "", "lib/core.py": "x = 1"})
    found = survey(tmp_path, name="lib")
    assert "lib.core" in found.items
    assert len(found.items) <= modules.MOST_MODULES + 2


def test_javascript_go_and_rust_are_read(tmp_path: Path) -> None:
    js = make_files(
        tmp_path / "js",
        {
            "package.json": '{"name": "web", "scripts": {"build": "vite build"},'
            ' "dependencies": {"@x/ui": "^1", "vue": "3"}}',
            "src/index.ts": "import { a } from './lib/a.js'\nimport ui from '@x/ui/b'",
            "src/lib/a.ts": "export function a() {}\nconst v = require('vue')",
        },
    )
    assert {
        "src/lib/a part_of src",
        "src depends_on @x/ui",
        "src/lib/a depends_on vue",
        "build part_of web",
    } <= edges(survey(js, name="js"))
    go = make_files(
        tmp_path / "go",
        {
            "go.mod": "module example.com/shop\nrequire (\n\tgithub.com/a/b v1.2.0\n"
            "\tgithub.com/c/d v0.1.0 // indirect\n)\n",
            "main.go": 'package main\nimport (\n\t"fmt"\n'
            '\t"example.com/shop/stock"\n)\n',
            "stock/stock.go": "// Package stock counts.\npackage stock\n"
            'import "github.com/a/b/sub"\nfunc Count() {}\n',
        },
    )
    found = survey(go, name="go")
    assert {
        "main depends_on stock/stock",
        "stock/stock depends_on github.com/a/b",
    } <= edges(found)
    assert "github.com/c/d" not in found.items
    assert found.items["stock/stock"].definition == (
        "Package stock counts. Defines Count."
    )
    rust = make_files(
        tmp_path / "rs",
        {
            "Cargo.toml": '[package]\nname = "shop"\n[dependencies]\n'
            'serde = {version = "1"}\nonce-cell = "1.2"\n',
            "src/main.rs": "//! Runs.\nmod stock;\nuse once_cell::sync;",
            "src/stock.rs": "use serde::Serialize;\nuse std::fmt;\npub struct Item;",
        },
    )
    assert {
        "src/main depends_on src/stock",
        "src/main depends_on once-cell",
        "src/stock depends_on serde",
    } <= edges(survey(rust, name="rs"))


@pytest.mark.parametrize(
    ("text", "doc", "names"),
    [
        ("def f(: broken", "", ()),
        ("\0", "", ()),
        ('"""Two words"""\nclass A: ...\nasync def b(): ...', "Two words.", ("A", "b")),
        ('"""One. Two."""', "One.", ()),
    ],
)
def test_python_is_read_without_being_run(
    text: str, doc: str, names: tuple[str, ...]
) -> None:
    found = sources.python(text)
    assert (found.doc, found.names) == (doc, names)


def test_broken_manifests_say_nothing() -> None:
    texts = {
        "pyproject.toml": "[project\n",
        "package.json": "[1, 2]",
        "Cargo.toml": "package = 3",
        "go.mod": "",
        "Makefile": "all: x\n.PHONY: all\nVAR := 1\n",
    }
    found = manifests.read(texts)
    assert manifests.joined(found) == manifests.Manifest(
        scripts=(("make all", "make all"),)
    )


@pytest.mark.parametrize("name", ["package.json", "pyproject.toml", "Cargo.toml"])
def test_a_manifest_that_nests_too_deep_says_nothing(name: str) -> None:
    text = "[" * 50_000 if name.endswith("json") else f"a = {'[' * 50_000}"
    assert manifests.read({name: text}) == {name: manifests.Manifest()}


def test_poetry_and_requirements_are_understood() -> None:
    poetry = manifests.pyproject(
        '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.11"\n'
        'rich = {version = "^13"}\n'
    )
    assert (poetry.name, poetry.dependencies) == ("p", (("rich", "^13"),))
    lines = manifests.requirements("# c\n-r other.txt\nrich[all]>=13  # why\n\nattrs\n")
    assert lines.dependencies == (("rich", ">=13"), ("attrs", ""))


@pytest.mark.parametrize(
    ("readme", "sentence"),
    [
        (
            "# Title\n\n[![b](c)](d)\n\nSells things to people. And more.",
            "Sells things to people.",
        ),
        ("# Title\nnot alone\n\n<p>x</p>\n\n> quote", ""),
        ("", ""),
    ],
)
def test_a_readme_introduces_a_project(readme: str, sentence: str) -> None:
    assert introduction(readme) == sentence


def test_a_walk_stays_inside_and_leaves_products_out(tmp_path: Path) -> None:
    make_files(
        tmp_path / "p",
        {
            "b.py": "",
            "a/c.py": "",
            "node_modules/x.js": "",
            ".git/config": "",
            ".hidden.py": "",
            "build/y.py": "",
        },
    )
    make_files(tmp_path, {"outside.py": "", "far/z.py": ""})
    (tmp_path / "p" / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "p" / "linked").symlink_to(tmp_path / "far")
    (tmp_path / "p" / "a" / "ring").symlink_to(tmp_path / "p")
    found = [path.as_posix() for path in files.walk(tmp_path / "p")]
    assert found == [".hidden.py", "b.py", "a/c.py"]


def test_a_file_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    assert files.read(tmp_path, PurePosixPath("missing")) == ""
    (tmp_path / "bytes").write_bytes(b"\xff\xfe" + b"x" * 500_000)
    assert len(files.read(tmp_path, PurePosixPath("bytes"))) == files.READ_BYTES


@pytest.mark.parametrize(
    ("distribution", "module"),
    [
        ("django-q2", "django_q"),
        ("PyYAML", "yaml"),
        ("sqlite-vec", "sqlite_vec"),
        ("Pillow", "PIL"),
    ],
)
def test_a_distribution_is_known_by_its_module(distribution: str, module: str) -> None:
    assert resolve.dependency_key(distribution) == resolve.dependency_key(module)


def test_long_blanks_and_comments_are_read_once() -> None:
    comment = "// About nothing.\n" * 50_000
    assert sources.go(f"{comment}\n// Package a counts.\npackage a\n").doc
    assert sources.rust("\n" * 200_000 + "use crate::b;").imports == ("crate::b",)

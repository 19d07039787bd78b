"""A text of a thousand brackets is no JSON and no TOML to anyone who reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_architecture import MODULES

# What a parser raises for a wrong text; one that nests too deep is none of these.
WRONG = {"ValueError", "TOMLDecodeError", "JSONDecodeError"}
PARSERS = {("json", "loads"), ("json", "load"), ("tomllib", "loads"), ("ast", "parse")}


def parses(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in PARSERS
        for node in ast.walk(tree)
    )


def caught(handlers: list[ast.ExceptHandler]) -> set[str]:
    return {
        getattr(node, "attr", getattr(node, "id", ""))
        for handler in handlers
        if handler.type is not None
        for node in ast.walk(handler.type)
    }


def guarded(path: Path) -> Iterator[tuple[int, set[str]]]:
    """The lines where a text that may be wrong is parsed, and what is caught there."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Try) and any(map(parses, node.body)):
            names = caught(node.handlers)
            if names & WRONG:
                yield node.lineno, names


def test_whoever_expects_a_wrong_text_expects_one_that_nests_too_deep() -> None:
    found = [
        f"{module}:{line}"
        for module, path in MODULES.items()
        for line, names in guarded(path)
        if "RecursionError" not in names
    ]
    assert found == []

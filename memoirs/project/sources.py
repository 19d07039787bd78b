"""What a source file says: its first sentence, what it defines, what it imports."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class Source:
    """`doc`: its own description in one line. `names`: what it offers to others.

    `imports`: as its language writes them, Python's with leading dots and the
    imported name behind (`..text.cut`). `late`: those that wait inside a function.
    """

    doc: str = ""
    names: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


# Conditions of code that no other module ever runs.
NOT_RUN = re.compile("TYPE_CHECKING$|^__name__ == ")


class Language(NamedTuple):
    name: str
    scan: Callable[[str], Source]


def python(text: str) -> Source:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Source()
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = dict.fromkeys(node.name for node in tree.body if isinstance(node, kinds))
    imports = list(_python_imports(tree, late=False))
    return Source(
        doc=first_sentence(ast.get_docstring(tree) or ""),
        names=tuple(name for name in names if not name.startswith("_")),
        imports=tuple(dict.fromkeys(name for late, name in imports if not late)),
        late=tuple(dict.fromkeys(name for late, name in imports if late)),
    )


def _python_imports(node: ast.AST, *, late: bool) -> Iterator[tuple[bool, str]]:
    """Imports with whether they wait in a function; none for type checkers or demos."""
    if isinstance(node, ast.Import):
        yield from ((late, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = "." * node.level + (f"{node.module}." if node.module else "")
        yield from ((late, f"{start}{alias.name}") for alias in node.names)
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and NOT_RUN.search(ast.unparse(node.test)):
        children = node.orelse
    inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for child in children:
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _python_imports(child, late=inside)


_JS_IMPORT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'])([^"'\n]+)\1"""
)
_JS_NAME = re.compile(
    r"^export\s+(?:default\s+)?(?:async\s+)?"
    r"(?:abstract\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+(\w+)",
    re.MULTILINE,
)
_BLOCK_DOC = re.compile(r"\A\s*(?:#!.*\n\s*)?/\*\*?([^!].*?)\*/", re.DOTALL)


def javascript(text: str) -> Source:
    block = _BLOCK_DOC.match(text)
    doc = re.sub(r"(?m)^\s*\*+ ?", "", block[1]) if block else ""
    return Source(
        doc="" if re.search("(?i)licen[cs]e|copyright|@", doc) else first_sentence(doc),
        names=tuple(dict.fromkeys(_JS_NAME.findall(text))),
        imports=tuple(dict.fromkeys(m[2] for m in _JS_IMPORT.finditer(text))),
    )


_GO_IMPORTS = re.compile(r"^import\s+(?:\(([^)]*)\)|.*?(\"[^\"]+\"))", re.MULTILINE)
_GO_NAME = re.compile(r"^(?:func|type)\s+(?:\([^)]*\)\s*)?([A-Z]\w*)", re.MULTILINE)
# From its first line on alone: from each line, a long comment is read for ever.
_GO_DOC = re.compile(r"(?:\A|^(?!//).*\n)((?:^//.*\n)++)package\s", re.MULTILINE)


def go(text: str) -> Source:
    blocks = (m[1] or m[2] for m in _GO_IMPORTS.finditer(text))
    paths = (path for block in blocks for path in re.findall(r'"([^"]+)"', block))
    doc = _GO_DOC.search(text)
    return Source(
        doc=first_sentence(re.sub(r"(?m)^// ?", "", doc[1])) if doc else "",
        names=tuple(dict.fromkeys(_GO_NAME.findall(text))),
        imports=tuple(dict.fromkeys(paths)),
    )


_RUST_USE = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s+([\w:]+)", re.MULTILINE)
_RUST_MOD = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.MULTILINE)
_RUST_NAME = re.compile(
    r"^pub\s+(?:async\s+)?(?:fn|struct|enum|trait|type)\s+(\w+)", re.MULTILINE
)


def rust(text: str) -> Source:
    doc = "\n".join(re.findall(r"^//! ?(.*)$", text, re.MULTILINE))
    uses = [*_RUST_USE.findall(text), *(f"self::{m}" for m in _RUST_MOD.findall(text))]
    return Source(
        doc=first_sentence(doc),
        names=tuple(dict.fromkeys(_RUST_NAME.findall(text))),
        imports=tuple(dict.fromkeys(uses)),
    )


def _unread(text: str) -> Source:
    del text
    return Source()


LANGUAGES: Mapping[str, Language] = {
    ".py": Language("Python", python),
    **dict.fromkeys(
        (".js", ".mjs", ".cjs", ".jsx"), Language("JavaScript", javascript)
    ),
    **dict.fromkeys((".ts", ".tsx", ".mts"), Language("TypeScript", javascript)),
    ".vue": Language("Vue", javascript),
    ".go": Language("Go", go),
    ".rs": Language("Rust", rust),
    ".java": Language("Java", _unread),
    ".kt": Language("Kotlin", _unread),
    ".c": Language("C", _unread),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp"), Language("C++", _unread)),
    ".cs": Language("C#", _unread),
    ".rb": Language("Ruby", _unread),
    ".php": Language("PHP", _unread),
    ".swift": Language("Swift", _unread),
}


def first_sentence(text: str, *, limit: int = 240) -> str:
    """The first sentence of the first paragraph, on one line, with its full stop."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph, maxsplit=1)[0]
    if len(sentence) > limit:
        return f"{sentence[:limit]}…"
    return f"{sentence.rstrip(':')}." if sentence[-1:].isalnum() else sentence

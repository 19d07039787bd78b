"""Which file or dependency an import means, language by language."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_JS_ENDS = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".vue", "/index.ts", "/index.js")

# Distributions whose modules have another name.
MODULE_OF = {
    "attrs": "attr",
    "beautifulsoup4": "bs4",
    "djangorestframework": "rest_framework",
    "django_ninja": "ninja",
    "django_q2": "django_q",
    "opencv_python": "cv2",
    "pillow": "pil",
    "pyjwt": "jwt",
    "python_dateutil": "dateutil",
    "python_dotenv": "dotenv",
    "pyyaml": "yaml",
    "scikit_learn": "sklearn",
}


@dataclass(frozen=True, kw_only=True)
class Index:
    """The source files of a project; those of Python also by their dotted names."""

    files: frozenset[PurePosixPath]
    modules: Mapping[str, PurePosixPath]
    dotted: Mapping[PurePosixPath, str]
    go_module: str


def index(
    files: Iterable[PurePosixPath], *, root_name: str, go_module: str = ""
) -> Index:
    """`root_name`: of the project's folder, which may itself be a Python package."""
    known = frozenset(files)
    packages = {path.parent for path in known if path.name == "__init__.py"}
    dotted = {
        path: _dotted(path, packages, root_name)
        for path in sorted(known)
        if path.suffix == ".py"
    }
    return Index(
        files=known,
        modules={name: path for path, name in dotted.items()},
        dotted=dotted,
        go_module=go_module,
    )


def _dotted(path: PurePosixPath, packages: set[PurePosixPath], root_name: str) -> str:
    """The name by which Python imports a file, from its outermost package on."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while folder in packages and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    if not folder.name and folder in packages:
        parts.insert(0, root_name)
    elif len(parts) == 1 and folder.name and folder.name != "src":
        # Of no package: named by its place, which no import mistakes for another.
        parts = [*folder.parts, *parts]
    return ".".join(parts)


def resolve(
    imported: str, *, by: PurePosixPath, known: Index
) -> tuple[PurePosixPath | None, str]:
    """The project's file that is meant, or the name of what comes from outside.

    Both are empty for the standard library and for what cannot be told.
    """
    found = RESOLVERS.get(by.suffix)
    return found(imported, by, known) if found else (None, "")


Resolved = tuple[PurePosixPath | None, str]


def _python(imported: str, by: PurePosixPath, known: Index) -> Resolved:
    name = imported.lstrip(".")
    dots = len(imported) - len(name)
    if dots:
        own = known.dotted[by].split(".")
        up = dots - 1 if by.name == "__init__.py" else dots
        name = ".".join([*own[: len(own) - up], *filter(None, name.split("."))])
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = known.modules.get(".".join(parts[:end]))
        if path is not None:
            return (None, "") if path == by else (path, "")
    if dots or parts[0] in sys.stdlib_module_names or parts[0].startswith("_"):
        return None, ""
    return None, parts[0]


def _javascript(imported: str, by: PurePosixPath, known: Index) -> Resolved:
    if not imported.startswith("."):
        if imported.startswith(("node:", "@/", "~/", "#", "/")):
            return None, ""
        parts = imported.split("/")
        return None, "/".join(parts[:2] if imported.startswith("@") else parts[:1])
    place = posixpath.normpath((by.parent / imported).as_posix())
    bare = re.sub(r"\.(?:js|mjs|jsx)$", "", place)
    for base in (place, bare):
        for end in _JS_ENDS:
            if PurePosixPath(base + end) in known.files:
                return PurePosixPath(base + end), ""
    return None, ""


def _go(imported: str, by: PurePosixPath, known: Index) -> Resolved:
    module = known.go_module
    if module and (imported == module or imported.startswith(f"{module}/")):
        folder = PurePosixPath(imported[len(module) + 1 :])
        inside = sorted(f for f in known.files if f.parent == folder)
        first = [f for f in inside if f.suffix == ".go"][:1]
        return (first[0] if first and folder != by.parent else None), ""
    return None, imported if "." in imported.split("/")[0] else ""


def _rust(imported: str, by: PurePosixPath, known: Index) -> Resolved:
    first, *rest = imported.split("::")
    if first in ("std", "core", "alloc"):
        return None, ""
    if first not in ("crate", "self", "super"):
        return None, first
    inside = by.parent if by.stem in ("mod", "lib", "main") else by.with_suffix("")
    starts = {"crate": _crate(by), "self": inside, "super": inside.parent}
    for end in range(len(rest), 0, -1):
        place = starts[first].joinpath(*rest[:end])
        for path in (place.with_suffix(".rs"), place / "mod.rs"):
            if path in known.files and path != by:
                return path, ""
    return None, ""


def _crate(path: PurePosixPath) -> PurePosixPath:
    """The `src` folder of the crate that a file belongs to."""
    for folder in path.parents:
        if folder.name == "src":
            return folder
    return PurePosixPath()


RESOLVERS: Mapping[str, Callable[[str, PurePosixPath, Index], Resolved]] = {
    ".py": _python,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".vue"), _javascript),
    **dict.fromkeys((".ts", ".tsx", ".mts"), _javascript),
    ".go": _go,
    ".rs": _rust,
}


def dependency_key(name: str) -> str:
    """What the name of a distribution and that of its module have in common."""
    key = re.sub(r"[-_.]+", "_", name).lower()
    return MODULE_OF.get(key, key)

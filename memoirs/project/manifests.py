"""What manifests say: name, description, dependencies and scripts of a project."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?([^;#]*)")
# A line with a comment behind it is an indirect one.
GO_REQUIRE = re.compile(
    r"^[ \t]*(?:require[ \t]+)?([\w.-]+\.[\w.-]+/\S+)[ \t]+(v\S+)[ \t]*$",
    re.MULTILINE,
)
TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?![=:])", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What one file says, as pairs: name and version, name and command.

    `optional` dependencies are for tests, extras or development.
    """

    name: str = ""
    description: str = ""
    version: str = ""
    dependencies: tuple[tuple[str, str], ...] = ()
    optional: tuple[tuple[str, str], ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()


def pyproject(text: str) -> Manifest:
    """PEP 621, and Poetry's own table where that is missing."""
    whole = tomllib.loads(text)
    tool = _table(whole, "tool")
    project = _table(whole, "project")
    poetry = _table(tool, "poetry")
    needed = [_requirement(line) for line in _texts(project.get("dependencies"))]
    groups = {**_table(project, "optional-dependencies")}
    extra = [_requirement(t) for lines in groups.values() for t in _texts(lines)]
    own = [(n, _version(v)) for n, v in _table(poetry, "dependencies").items()]
    scripts = {**_table(poetry, "scripts"), **_table(project, "scripts")}
    return Manifest(
        name=_text(project.get("name") or poetry.get("name")),
        description=_text(project.get("description") or poetry.get("description")),
        version=_text(project.get("version") or poetry.get("version")),
        dependencies=tuple(needed or [pair for pair in own if pair[0] != "python"]),
        optional=tuple(extra),
        scripts=_pairs(scripts),
        tools=tuple(tool),
    )


def package_json(text: str) -> Manifest:
    whole = json.loads(text)
    return Manifest(
        name=_text(whole.get("name")),
        description=_text(whole.get("description")),
        version=_text(whole.get("version")),
        dependencies=_pairs(_table(whole, "dependencies")),
        optional=_pairs(_table(whole, "devDependencies")),
        scripts=_pairs(_table(whole, "scripts")),
    )


def cargo(text: str) -> Manifest:
    whole = tomllib.loads(text)
    package = _table(whole, "package")
    needed = {
        **_table(_table(whole, "workspace"), "dependencies"),
        **_table(whole, "dependencies"),
    }
    extra = _table(whole, "dev-dependencies")
    return Manifest(
        name=_text(package.get("name")),
        description=_text(package.get("description")),
        version=_text(package.get("version")),
        dependencies=tuple((n, _version(v)) for n, v in needed.items()),
        optional=tuple((n, _version(v)) for n, v in extra.items()),
    )


def go_mod(text: str) -> Manifest:
    module = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
    return Manifest(
        name=module[1] if module else "",
        dependencies=tuple(GO_REQUIRE.findall(text)),
    )


def requirements(text: str) -> Manifest:
    lines = [line for line in text.splitlines() if re.match(r"\s*[A-Za-z0-9]", line)]
    return Manifest(dependencies=tuple(_requirement(line) for line in lines))


def makefile(text: str) -> Manifest:
    targets = dict.fromkeys(TARGET.findall(text))
    return Manifest(scripts=tuple((f"make {name}", f"make {name}") for name in targets))


# In this order: the first that gives a name is the project's.
READERS: Mapping[str, Callable[[str], Manifest]] = {
    "pyproject.toml": pyproject,
    "Cargo.toml": cargo,
    "package.json": package_json,
    "go.mod": go_mod,
    "requirements.txt": requirements,
    "Makefile": makefile,
}


def read(texts: Mapping[str, str]) -> dict[str, Manifest]:
    """Manifests by file name; one that does not parse says nothing."""
    found = {}
    for name, reader in READERS.items():
        if name in texts:
            try:
                found[name] = reader(texts[name])
            except (ValueError, AttributeError, RecursionError):
                found[name] = Manifest()
    return found


def joined(manifests: Mapping[str, Manifest]) -> Manifest:
    """All of them as one: the first name, every dependency and script once."""
    whole = Manifest()
    for one in manifests.values():
        whole = replace(
            whole,
            name=whole.name or one.name,
            description=whole.description or one.description,
            version=whole.version or one.version,
            dependencies=_merged(whole.dependencies, one.dependencies),
            optional=_merged(whole.optional, one.optional),
            scripts=_merged(whole.scripts, one.scripts),
        )
    return whole


Pairs = tuple[tuple[str, str], ...]


def _merged(one: Pairs, other: Pairs) -> Pairs:
    known = dict(one)
    return (*one, *(pair for pair in other if pair[0] not in known))


def _requirement(line: str) -> tuple[str, str]:
    match = REQUIREMENT.match(line)
    return (match[1], match[2].strip()) if match else (line.strip(), "")


def _version(value: object) -> str:
    if isinstance(value, dict):
        return _text(value.get("version"))
    return _text(value)


def _table(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _texts(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _pairs(table: Mapping[str, Any]) -> Pairs:
    return tuple((n, v) for n, v in table.items() if isinstance(v, str))

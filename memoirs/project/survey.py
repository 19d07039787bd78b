"""A project as named items and links between them: what `learn` puts into a memoir."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from memoirs.graph import closes_ring
from memoirs.project import files, manifests, modules
from memoirs.project.manifests import Manifest
from memoirs.project.modules import Modules
from memoirs.project.resolve import dependency_key
from memoirs.project.sources import first_sentence

MOST_DEPENDENCIES = 15
MOST_OF_A_KIND = 15
USERS_SHOWN, USERS_LINKED = 8, 3
DEEPEST_ENTRY = 3
ENTRIES = {
    "__main__.py": "Runs as `python -m`.",
    "main.py": "Program in Python.",
    "manage.py": "Django's command line of the project.",
    "main.rs": "Program in Rust.",
    "lib.rs": "Root of a Rust library.",
    "mod.rs": "Root of a Rust module.",
    "main.go": "Program in Go.",
    "index.js": "Entry in JavaScript.",
    "index.ts": "Entry in TypeScript.",
}
CONFIGURATION = {
    "pyproject.toml": "Python project: metadata, build and tools",
    "setup.cfg": "Python project: metadata and tools",
    "tox.ini": "Test environments of tox",
    "requirements.txt": "Python packages to install",
    "Cargo.toml": "Rust package",
    "package.json": "JavaScript package",
    "tsconfig.json": "TypeScript compiler",
    "go.mod": "Go module",
    "Makefile": "Targets of make",
    "Dockerfile": "Container image",
    "docker-compose.yml": "Containers that run together",
    "compose.yaml": "Containers that run together",
    ".pre-commit-config.yaml": "Checks before each commit",
    ".gitlab-ci.yml": "Continuous integration of GitLab",
    ".env.example": "Names of the variables that configure the program",
    "ruff.toml": "Checks of ruff",
    "vite.config.ts": "Build of Vite",
    "vite.config.js": "Build of Vite",
    "mkdocs.yml": "Documentation site",
}
READMES = ("README.md", "README.rst", "README.txt", "README")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A concept to be; kinds are project, module, dependency, entry, config, script."""

    name: str
    kinds: tuple[str, ...]
    definition: str


@dataclass(kw_only=True)
class Survey:
    """Items by distinct names, the project first.

    Edges are (source, target, relation) of names; depends_on runs in no ring.
    """

    name: str
    description: str
    items: dict[str, Item] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], None] = field(default_factory=dict)

    def add(self, name: str, *kinds: str, definition: str) -> str:
        """Add an item; returns its name, `rich (dependency)` if `rich` was taken."""
        free, number = name, 1
        while free in self.items:
            free = (
                f"{name} ({kinds[0]})"
                if number == 1
                else f"{name} ({kinds[0]} {number})"
            )
            number += 1
        self.items[free] = Item(name=free, kinds=kinds, definition=definition)
        return free

    def join(self, source: str, relation: str, target: str) -> None:
        self.edges[source, target, relation] = None

    def closes_ring(self, source: str, target: str) -> bool:
        """Whether `source` depending on `target` would close a ring."""
        depends = (edge[:2] for edge in self.edges if edge[2] == "depends_on")
        return closes_ring(depends, source, target)


def survey(root: Path, *, name: str) -> Survey:
    """Read a project's folder. Nothing outside it is read, no program is run.

    `name` is the project's where no manifest gives one.
    """
    paths = files.walk(root)
    top = {path.name: path for path in paths if len(path.parts) == 1}
    texts = {n: files.read(root, top[n]) for n in manifests.READERS if n in top}
    read = manifests.read(texts)
    manifest = manifests.joined(read)
    go_module = read["go.mod"].name if "go.mod" in read else ""
    found = modules.find(root, paths, go_module=go_module)
    readme = next((files.read(root, top[n]) for n in READMES if n in top), "")
    result = Survey(
        name=manifest.name or name,
        description=manifest.description or introduction(readme) or found.doc,
    )
    project = _add_project(result, manifest, found)
    names = _add_modules(result, found, project)
    _add_dependencies(result, manifest, found, names, project)
    _add_entries(result, paths, found, names, project)
    _add_scripts(result, manifest, found, names, project)
    _add_configuration(result, root, top, read, project)
    return result


def introduction(readme: str) -> str:
    """The first sentence of a README that is neither heading, badge nor markup."""
    for paragraph in re.split(r"\n\s*\n", readme):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        prose = [n for n in lines if n and not re.match(r"[#<\[!|=\-*>`:.]", n)]
        if prose and prose == lines and len(" ".join(prose)) > 20:
            return first_sentence(" ".join(prose))
    return ""


def _add_project(result: Survey, manifest: Manifest, found: Modules) -> str:
    counts = ", ".join(f"{n} ({c} files)" for n, c in found.languages.most_common(5))
    parts = [
        f"{result.description.rstrip('.')}." if result.description else "",
        f"Version {manifest.version}." if manifest.version else "",
        f"Languages: {counts}." if counts else "",
    ]
    text = " ".join(part for part in parts if part) or f"Project {result.name}."
    return result.add(result.name, "project", definition=text)


def _add_modules(result: Survey, found: Modules, project: str) -> dict[str, str]:
    """Add the modules; returns the item's name by the module's."""
    names = {"": project}
    for module in found.modules:
        names[module.name] = result.add(
            module.name, "module", definition=module.definition
        )
    for module in found.modules:
        result.join(names[module.name], "part_of", names[module.parent])
    parents = {module.name: module.parent for module in found.modules}
    # The strongest first: what then closes a ring is the weaker direction.
    for (source, target), weight in sorted(
        found.uses.items(), key=lambda use: (-use[1], use[0])
    ):
        if source in _around(target, parents) or target in _around(source, parents):
            continue
        ends = names[source], names[target]
        if not result.closes_ring(*ends):
            result.join(ends[0], "depends_on", ends[1])
        elif weight >= modules.TOP:
            result.join(ends[0], "related_to", ends[1])
    return names


def _around(name: str, parents: dict[str, str]) -> set[str]:
    """The modules that a module is part of."""
    found = set()
    while name := parents.get(name, ""):
        found.add(name)
    return found


def _add_dependencies(
    result: Survey,
    manifest: Manifest,
    found: Modules,
    names: dict[str, str],
    project: str,
) -> None:
    declared = dict(manifest.optional) | dict(manifest.dependencies)
    users: dict[str, list[str]] = defaultdict(list)
    for (module, outside), _ in sorted(found.outside.items()):
        match = _declared(outside, declared) or ("" if declared else outside)
        if match and module not in users[match]:
            users[match].append(module)
    needed = [name for name, _ in manifest.dependencies]
    wanted = [*needed, *(n for n in sorted(users) if n not in needed)]
    wanted.sort(key=lambda name: -len(users.get(name, ())))
    for name in wanted[:MOST_DEPENDENCIES]:
        shown = [names[module] for module in users.get(name, ())]
        text = f"Dependency {name} {declared.get(name, '')}".rstrip() + "."
        if shown:
            more = ", …" if len(shown) > USERS_SHOWN else ""
            text += f" Imported by {', '.join(shown[:USERS_SHOWN])}{more}."
        item = result.add(name, "dependency", definition=text)
        # What nearly all use hangs on the whole, or the arrows hide everything else.
        few = 0 < len(shown) <= USERS_LINKED
        for user in shown if few else [project]:
            result.join(user, "depends_on", item)


def _declared(outside: str, declared: Iterable[str]) -> str:
    key = dependency_key(outside)
    for name in declared:
        if dependency_key(name) == key or outside.startswith(f"{name}/"):
            return name
    return ""


def _add_entries(
    result: Survey,
    paths: Sequence[PurePosixPath],
    found: Modules,
    names: dict[str, str],
    project: str,
) -> None:
    entries = [
        path
        for path in paths
        if path.name in ENTRIES
        and len(path.parts) <= DEEPEST_ENTRY
        and not modules.is_test(path)
    ]
    for path in entries[:MOST_OF_A_KIND]:
        module = found.of_file.get(path, "")
        alone = list(found.of_file.values()).count(module) == 1
        if module and alone:
            item = result.items[names[module]]
            result.items[item.name] = Item(
                name=item.name, kinds=(*item.kinds, "entry"), definition=item.definition
            )
            continue
        item_name = result.add(path.as_posix(), "entry", definition=ENTRIES[path.name])
        result.join(item_name, "part_of", names.get(module, project))


def _add_scripts(
    result: Survey,
    manifest: Manifest,
    found: Modules,
    names: dict[str, str],
    project: str,
) -> None:
    for name, command in manifest.scripts[:MOST_OF_A_KIND]:
        text = f"Script {name}: {command}"
        item = result.add(name, "script", definition=text)
        result.join(item, "part_of", project)
        module = found.of_python.get(command.partition(":")[0], "")
        if module:
            result.join(item, "depends_on", names[module])


def _add_configuration(
    result: Survey,
    root: Path,
    top: dict[str, PurePosixPath],
    read: dict[str, Manifest],
    project: str,
) -> None:
    known = {name: text for name, text in CONFIGURATION.items() if name in top}
    for path in sorted((root / ".github" / "workflows").glob("*.y*ml")):
        known[f".github/workflows/{path.name}"] = "Workflow of GitHub Actions"
    for name, text in list(known.items())[:MOST_OF_A_KIND]:
        tools = read[name].tools if name in read else ()
        more = f" ({', '.join(tools)})" if tools else ""
        item = result.add(name, "config", definition=f"{text}{more}.")
        result.join(item, "related_to", project)

"""The modules of a project: files of a small one, folders of a large one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from memoirs.project import files, resolve
from memoirs.project.resolve import Index
from memoirs.project.sources import LANGUAGES, Source

# More than these cannot be taken in at a glance.
MOST_MODULES = 30
FEW_FOLDERS = 5
DEEPEST = 4
MOST_TEST_FOLDERS = 3
# Of a folder's definition: files with their first sentence, then names alone.
DESCRIBED_CHARS, NAMED_CHARS = 1_200, 600
NAMES_SHOWN = 12
TESTS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing"})
TEST_FILE = re.compile(r"test_.*|conftest|.*_test|.*\.(?:test|spec)")
# Files that speak for the folder they are in.
FACES = frozenset({"__init__", "index", "mod", "lib", "doc"})
ROOT = PurePosixPath()
# An import at the top of a file against one that waits in a function.
TOP, LATE = 100, 1

Scanned = Mapping[PurePosixPath, Source]


@dataclass(frozen=True, kw_only=True)
class Module:
    """`name` is unique among modules; `parent` is a module's name or empty."""

    name: str
    parent: str
    definition: str


@dataclass(kw_only=True)
class Modules:
    """`of_file` maps each file to its module's name, empty for the project itself.

    `of_python` does so for dotted names. `uses` weighs imports from module to module,
    `outside` counts those of other packages. `doc` describes the whole, if anything.
    """

    modules: list[Module] = field(default_factory=list)
    of_file: dict[PurePosixPath, str] = field(default_factory=dict)
    of_python: dict[str, str] = field(default_factory=dict)
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    outside: Counter[tuple[str, str]] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    doc: str = ""


@dataclass(frozen=True, kw_only=True)
class Import:
    """What one file imports: another file or a package from outside."""

    by: PurePosixPath
    target: PurePosixPath | None
    outside: str
    weight: int


def find(root: Path, paths: Iterable[PurePosixPath], *, go_module: str = "") -> Modules:
    """The modules of the files below `root` and what they import."""
    code = [path for path in paths if path.suffix in LANGUAGES]
    product = [path for path in code if not is_test(path)]
    known = resolve.index(code, root_name=root.name, go_module=go_module)
    scanned = {
        path: LANGUAGES[path.suffix].scan(files.read(root, path)) for path in product
    }
    imports = list(_imports(scanned, known))
    of_file = _names(product, known, imports)
    groups = _groups(of_file, scanned)
    wanted = Counter(one.target for one in imports)
    found = Modules(
        modules=[
            Module(
                name=name,
                parent=_parent(name, groups),
                definition=_definition(members, scanned, wanted),
            )
            for name, members in groups.items()
        ],
        of_file=of_file,
        of_python={name: of_file.get(p, "") for p, name in known.dotted.items()},
        languages=Counter(LANGUAGES[path.suffix].name for path in code),
        doc=next((scanned[p].doc for p in product if p.stem in FACES), ""),
    )
    _count(found, imports)
    found.modules += _test_folders(path for path in code if is_test(path))
    return found


def is_test(path: PurePosixPath) -> bool:
    """Whether a file belongs to the tests, by its own name or a folder's."""
    inside = TESTS.intersection(path.parts[:-1])
    return bool(inside) or TEST_FILE.fullmatch(path.stem) is not None


def _imports(scanned: Scanned, known: Index) -> Iterator[Import]:
    for path, source in scanned.items():
        weighed = dict.fromkeys(source.late, LATE) | dict.fromkeys(source.imports, TOP)
        for imported, weight in weighed.items():
            target, outside = resolve.resolve(imported, by=path, known=known)
            if target or outside:
                yield Import(by=path, target=target, outside=outside, weight=weight)


def _names(
    product: Sequence[PurePosixPath], known: Index, imports: Iterable[Import]
) -> dict[PurePosixPath, str]:
    """The module of each file: itself, its folder, or empty for the project.

    Few files are modules each. Many are grouped by folder; where there are hardly any
    folders, the files that most others import stand for themselves.
    """
    depth, folders = _folders(product)
    alone = set(product)
    if len(product) > MOST_MODULES:
        alone = set() if len(folders) >= FEW_FOLDERS else _central(imports)

    def name_of(path: PurePosixPath) -> str:
        face = path.stem in FACES
        folder = path.parent if path in alone else _upper(path.parent, depth)
        if path in alone and not face:
            return known.dotted.get(path) or path.with_suffix("").as_posix()
        if folder == ROOT or (path not in alone and folder not in folders):
            return ""
        return known.dotted.get(folder / "__init__.py") or folder.as_posix()

    return {path: name_of(path) for path in product}


def _folders(product: Sequence[PurePosixPath]) -> tuple[int, set[PurePosixPath]]:
    """The depth at which folders are few enough, and the largest of them there."""
    counts: Counter[PurePosixPath] = Counter()
    depth = DEEPEST
    for depth in range(DEEPEST, 0, -1):
        counts = Counter(_upper(path.parent, depth) for path in product)
        if len(counts) <= MOST_MODULES:
            break
    counts.pop(ROOT, None)
    return depth, {folder for folder, _ in counts.most_common(MOST_MODULES)}


def _central(imports: Iterable[Import]) -> set[PurePosixPath]:
    """The files that most other files import."""
    pairs = {(i.by, i.target) for i in imports if i.target}
    counts = Counter(target for _, target in pairs if target)
    most = sorted(counts, key=lambda path: (-counts[path], path))
    return set(most[:MOST_MODULES])


def _upper(folder: PurePosixPath, depth: int) -> PurePosixPath:
    return PurePosixPath(*folder.parts[:depth])


def _groups(
    of_file: Mapping[PurePosixPath, str], scanned: Scanned
) -> dict[str, list[PurePosixPath]]:
    """The files of each module; a folder that holds an empty file alone is none."""
    groups: dict[str, list[PurePosixPath]] = defaultdict(list)
    for path, name in of_file.items():
        groups[name].append(path)
    nothing = Source()
    return {
        name: members
        for name, members in groups.items()
        if name and any(p.stem not in FACES or scanned[p] != nothing for p in members)
    }


def _parent(name: str, names: Mapping[str, object]) -> str:
    """The nearest module around one, by its name."""
    mark = "/" if "/" in name else "."
    while mark in name:
        name = name.rpartition(mark)[0]
        if name in names:
            return name
    return ""


def _count(found: Modules, imports: Iterable[Import]) -> None:
    names = {module.name for module in found.modules}
    for one in imports:
        own = found.of_file[one.by]
        own = own if own in names else ""
        if one.outside:
            found.outside[own, one.outside] += 1
        other = found.of_file.get(one.target, "") if one.target else ""
        if own and other in names and other != own:
            found.uses[own, other] += one.weight


def _definition(
    members: Sequence[PurePosixPath],
    scanned: Scanned,
    wanted: Mapping[PurePosixPath | None, int],
) -> str:
    """What a module is; of a folder, what its files are, the most imported first."""
    if len(members) == 1:
        return _file_definition(members[0], scanned[members[0]])
    top = min(len(path.parts) for path in members)
    faces = [p for p in members if p.stem in FACES and len(p.parts) == top]
    doc = next((scanned[p].doc for p in faces if scanned[p].doc), "")
    counts = Counter(LANGUAGES[path.suffix].name for path in members)
    size = ", ".join(f"{name} ({n} files)" for name, n in counts.most_common())
    inside = sorted(
        (path for path in members if path.stem not in FACES),
        key=lambda path: (-wanted.get(path, 0), path),
    )
    described, named = "", []
    for path in inside:
        line = f" {path.stem}: {scanned[path].doc.rstrip('.')};"
        if scanned[path].doc and len(described) + len(line) <= DESCRIBED_CHARS:
            described += line
        else:
            named.append(path.stem)
    also = f" Also {', '.join(named)}"[:NAMED_CHARS] if named else ""
    return (
        f"{doc} {size}.{described.rstrip(';')}{'.' if described else ''}{also}".strip()
    )


def _file_definition(path: PurePosixPath, source: Source) -> str:
    shown = ", ".join(source.names[:NAMES_SHOWN])
    more = ", …" if len(source.names) > NAMES_SHOWN else ""
    doc = source.doc or f"{LANGUAGES[path.suffix].name} source {path}."
    return f"{doc} Defines {shown}{more}." if shown else doc


def _test_folders(tests: Iterable[PurePosixPath]) -> list[Module]:
    counts: Counter[str] = Counter()
    for path in tests:
        for depth, part in enumerate(path.parts[:-1], 1):
            if part in TESTS:
                counts[_upper(path, depth).as_posix()] += 1
                break
    return [
        Module(name=folder, parent="", definition=f"Tests: {count} files.")
        for folder, count in counts.most_common(MOST_TEST_FOLDERS)
    ]

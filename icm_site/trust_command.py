"""`icm trust`: let the `.icm` folder of a repository count, after a look at it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from icm_site import conf, git, paths
from icm_site.arguments import Parser
from icm_site.errors import InvalidInput, NotFound

CONFIG = f"{paths.REPOSITORY_FOLDER}/config.toml"
DATABASE = f"{paths.REPOSITORY_FOLDER}/{paths.DATABASE}"


def main(arguments: Sequence[str]) -> int:
    """Put a repository on the trust list, take it off, or show the list."""
    parser = _parser()
    try:
        given = parser.parse_args(list(arguments))
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if given.list:
        print("\n".join(paths.trusted_roots()) or "No repository is trusted.")
        return 0
    if given.remove:
        return _remove(given.path)
    return _trust(*_trees(given.path))


def _parser() -> Parser:
    parser = Parser(
        prog="icm trust",
        description=(
            "Let the .icm folder of a repository count: its config.toml may name the "
            "project, projects of sub-folders and a database. Shows what it sets."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "path", nargs="?", default=".", help="folder in the repository (default: .)"
    )
    acts = parser.add_mutually_exclusive_group()
    acts.add_argument("--remove", action="store_true", help="trust it no longer")
    acts.add_argument("--list", action="store_true", help="show what is trusted")
    return parser


def _trees(path: str) -> tuple[Path, Path]:
    """The main working tree around a folder, and the one that the folder lies in.

    Raises InvalidInput outside any.
    """
    place = Path(path)
    if not place.is_dir():
        raise InvalidInput(f"no such folder: {path}")
    repository = git.find(place)
    if repository is None:
        raise InvalidInput(f"not in a git repository: {os.path.realpath(place)}")
    if git.is_linked(repository):
        return git.main_tree(repository), repository.root
    return repository.root, repository.root


def _trust(root: Path, tree: Path) -> int:
    lines = list(_settings(root))  # first: a broken file is not to be trusted
    if tree != root and (tree / paths.REPOSITORY_FOLDER).is_dir():
        lines += [f"In the worktree {tree}, by its own folder:", *_settings(tree)]
    paths.trust(root)
    print("\n".join([f"Trusted: {root}", *lines]))
    return 0


def _settings(root: Path) -> Iterator[str]:
    """What the repository's files set, a line each. Raises InvalidInput."""
    file = root / CONFIG
    values, unknown = conf.repository_values(file)
    if not values and not unknown:
        state = "sets nothing" if file.exists() else "does not exist yet"
        yield f"{CONFIG} {state}."
    for name, value in values.items():
        shown = dict(value) if isinstance(value, Mapping) else value
        yield f"{CONFIG} sets {name} = {json.dumps(shown, ensure_ascii=False)}"
    for name in unknown:
        yield f"{CONFIG}: {name} means nothing in a repository and is left out."
    if "store.path" in values:
        paths.inside_repository(root, values["store.path"])
    elif (root / DATABASE).is_file():
        yield f"{DATABASE} is the database of this repository."


def _remove(path: str) -> int:
    """Take a repository off the list, also one that does not exist any more."""
    known = paths.trusted_roots()
    around = git.find(path)
    places = [os.path.realpath(path)]
    if around:
        places += [str(around.root), str(git.main_tree(around))]
    found = next((place for place in places if place in known), None)
    if found is None:
        raise NotFound(f"not trusted: {places[-1]}")
    paths.trust(found, allow=False)
    print(f"No longer trusted: {found}")
    return 0

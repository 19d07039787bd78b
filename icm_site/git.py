"""What a repository's own files say about it, read without running git."""

import os
from dataclasses import dataclass
from pathlib import Path

_LIMIT = 1 << 20


@dataclass(frozen=True)
class Repository:
    """One working tree: its top, its git folder and the folder all its trees share."""

    root: Path
    git_dir: Path
    common_dir: Path


def find(cwd: str | os.PathLike[str]) -> Repository | None:
    """Return the repository whose working tree holds `cwd`, with links resolved."""
    start = Path(os.path.realpath(cwd))
    for folder in (start, *start.parents):
        git_dir = _git_dir(folder)
        if git_dir is not None:
            return Repository(folder, git_dir, _common_dir(git_dir))
    return None


def main_tree(repository: Repository) -> Path:
    """Return the main working tree: a linked tree counts as the one it came from.

    A bare repository has none; its own folder stands for it.
    """
    common = repository.common_dir
    worktree = config_value(common, section="core", key="worktree")
    if worktree:
        return Path(os.path.realpath(common / worktree))
    if repository.git_dir == common:
        return repository.root
    if common.name.startswith("."):
        return common.parent
    return common


def is_linked(repository: Repository) -> bool:
    """Tell whether this is a linked tree that its repository knows of.

    Any folder may hold a `.git` file that names a repository; only git writes the name
    of a tree into the repository (gitrepository-layout, worktrees/<id>/gitdir).
    """
    if repository.git_dir == repository.common_dir:
        return False
    told = _read(repository.git_dir / "gitdir").strip()
    named = os.path.realpath(repository.git_dir / told)
    return bool(told) and named == str(repository.root / ".git")


def config_value(common_dir: Path, *, section: str, key: str) -> str | None:
    """Return one value of the repository's config, or None; includes stay unread.

    `section` is written as in the file: `core`, or `remote "origin"`.
    """
    inside = False
    for line in _joined_lines(_read(common_dir / "config")):
        if line.startswith("["):
            inside = _section_name(line) == section
            continue
        name, _, value = line.partition("=")
        if inside and name.strip().lower() == key:
            return _unquoted(value.strip())
    return None


def origin_url(repository: Repository) -> str | None:
    """Return the address of the remote `origin`, or None."""
    return config_value(repository.common_dir, section='remote "origin"', key="url")


def head_commit(repository: Repository) -> str | None:
    """Return the full hash that HEAD stands on; None before the first commit."""
    head = _read(repository.git_dir / "HEAD").strip()
    if not head.startswith("ref:"):
        return head if _is_hash(head) else None
    ref = head.removeprefix("ref:").strip()
    if not ref.startswith("refs/") or ".." in ref:
        return None
    for folder in (repository.git_dir, repository.common_dir):
        commit = _read(folder / ref).strip()
        if _is_hash(commit):
            return commit
    return _packed(repository.common_dir, ref)


def _packed(common_dir: Path, ref: str) -> str | None:
    for line in _read(common_dir / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref and _is_hash(commit):
            return commit
    return None


def _git_dir(folder: Path) -> Path | None:
    place = folder / ".git"
    if place.is_dir():
        return place if (place / "HEAD").is_file() else None
    text = _read(place)
    if not text.startswith("gitdir:"):
        return None
    return Path(os.path.realpath(folder / text.removeprefix("gitdir:").strip()))


def _common_dir(git_dir: Path) -> Path:
    text = _read(git_dir / "commondir").strip()
    return Path(os.path.realpath(git_dir / text)) if text else git_dir


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LIMIT))
    except (OSError, ValueError):
        # Missing, a folder, out of reach, or a NUL in the name: nothing to read.
        return ""


def _is_hash(text: str) -> bool:
    return len(text) in (40, 64) and all(c in "0123456789abcdef" for c in text)


def _joined_lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\\\n", "").split("\n")
    return [line.strip() for line in lines]


def _section_name(line: str) -> str:
    inner = line[1:].rpartition("]")[0]
    name, blank, rest = inner.partition(" ")
    return f"{name.lower()}{blank}{rest.strip()}"


def _unquoted(value: str) -> str:
    text, quoted, position = "", False, 0
    while position < len(value):
        char = value[position]
        if char == "\\":
            position += 1
            text += value[position : position + 1]
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            text += char
        position += 1
    return text.rstrip()

import subprocess
from pathlib import Path

import pytest

from icm_site import git


def run(folder: Path, *command: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, "-c", "protocol.file.allow=always", *command],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "a b #1"
    root.mkdir()
    run(root, "init", "-q", "-b", "main")
    run(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def found(folder: Path) -> git.Repository:
    repository = git.find(folder)
    assert repository is not None
    return repository


def test_a_repository_is_found_from_a_folder_below_it(repository: Path) -> None:
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    assert found(deep).root == repository
    assert git.main_tree(found(deep)) == repository


def test_a_folder_without_git_has_no_repository(tmp_path: Path) -> None:
    assert git.find(tmp_path) is None
    (tmp_path / ".git").mkdir()
    assert git.find(tmp_path) is None


def test_a_folder_that_is_gone_is_looked_up_from_above(repository: Path) -> None:
    assert found(repository / "gone" / "deeper").root == repository


def test_a_worktree_counts_as_its_main_repository(
    repository: Path, tmp_path: Path
) -> None:
    run(repository, "worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    side = found(tmp_path / "side")
    assert side.root == tmp_path / "side"
    assert git.main_tree(side) == repository


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "add", "-q", str(repository), "libs/inner")
    inner = found(outer / "libs/inner")
    assert git.main_tree(inner) == outer / "libs/inner"
    assert git.origin_url(inner) == str(repository)
    assert git.origin_url(found(outer)) is None


def test_a_worktree_of_a_bare_repository_counts_as_that_repository(
    repository: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "store.git"
    run(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    run(bare, "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert git.main_tree(found(tmp_path / "tree")) == bare


@pytest.mark.parametrize("packed", [False, True])
def test_the_commit_of_head_is_read_from_files(repository: Path, packed: bool) -> None:
    if packed:
        run(repository, "pack-refs", "--all")
    assert git.head_commit(found(repository)) == run(repository, "rev-parse", "HEAD")


def test_a_detached_head_and_a_worktree_give_their_own_commit(
    repository: Path, tmp_path: Path
) -> None:
    side = tmp_path / "side"
    run(repository, "worktree", "add", "-q", "--detach", str(side))
    run(side, "commit", "-q", "--allow-empty", "-m", "second")
    assert git.head_commit(found(side)) == run(side, "rev-parse", "HEAD")
    assert git.head_commit(found(repository)) == run(repository, "rev-parse", "HEAD")


def test_a_repository_without_a_commit_has_no_head(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    assert git.head_commit(found(tmp_path)) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("url = https://example.org/a.git", "https://example.org/a.git"),
        ('\tURL="../with # mark" ; why', "../with # mark"),
        ("url = plain # remark", "plain"),
        ("url = C:\\\\work\\\\a.git", "C:\\work\\a.git"),
        ("url = long\\\nname", "longname"),
        ("fetch = x", None),
    ],
)
def test_the_config_is_read_as_git_reads_it(
    repository: Path, written: str, read: str | None
) -> None:
    with (repository / ".git/config").open("a", encoding="utf-8") as file:
        file.write(f'[Remote "other"]\nurl = wrong\n[REMOTE "origin"]\n{written}\n')
    assert git.origin_url(found(repository)) == read
    got = subprocess.run(
        ["git", "config", "remote.origin.url"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (got.stdout.rstrip("\n") or None) == read

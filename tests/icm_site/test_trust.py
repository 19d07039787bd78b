"""`icm trust`: what a repository's own file may set, and who lets it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from icm_site import conf, paths
from icm_site.errors import InvalidInput
from memories.projects import project_name
from tests.conftest import Icm

FILE = """\
[project]
name = "mono"
[project.folders]
"services/api" = "mono-api"
"services" = "mono-services"
[embeddings]
model = "evil"
"""


def repository(folder: Path, text: str = FILE) -> Path:
    (folder / "services/api/src").mkdir(parents=True)
    (folder / "web").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".icm").mkdir()
    (folder / ".icm/config.toml").write_text(text)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    names = {"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config"}
    return {name: str(tmp_path / place) for name, place in names.items()}


def name(place: Path, env: dict[str, str]) -> str | None:
    config = conf.load(env, place)
    return project_name(place, env=env, name=config.project.name)


def test_a_trusted_file_splits_a_repository_by_folder(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = repository(tmp_path / "repo")
    assert name(root / "services/api/src", env) == "repo"
    paths.trust(root, env=env)
    assert name(root, env) == "mono"
    assert name(root / "web", env) == "mono"
    assert name(root / "services", env) == "mono-services"
    assert name(root / "services/api/src", env) == "mono-api"


def test_a_folder_outside_the_repository_is_refused(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = repository(tmp_path / "repo", '[project.folders]\n"../x" = "y"\n')
    paths.trust(root, env=env)
    with pytest.raises(InvalidInput, match="leaves the repository"):
        conf.load(env, root)


def worktree(root: Path, place: Path) -> Path:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (
        [*who, "commit", "-q", "--allow-empty", "-m", "first"],
        ["worktree", "add", "-q", str(place)],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    return place


def test_a_worktree_is_trusted_with_its_repository(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = repository(tmp_path / "repo")
    tree = worktree(root, tmp_path / "tree")
    (tree / "services/api").mkdir(parents=True)
    assert name(tree, env) == "repo"
    paths.trust(root, env=env)
    assert name(tree, env) == "mono"
    assert name(tree / "services/api", env) == "mono-api"
    # A tree with a file of its own is a project of its own, if so wished.
    (tree / ".icm").mkdir()
    (tree / ".icm/config.toml").write_text("[project]\nname = 'apart'\n")
    assert name(tree, env) == "apart"


def test_a_folder_that_claims_to_be_a_worktree_is_not_trusted(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = repository(tmp_path / "repo")
    tree = worktree(root, tmp_path / "tree")
    paths.trust(root, env=env)
    forged = tmp_path / "forged"
    (forged / ".icm").mkdir(parents=True)
    (forged / ".icm/config.toml").write_text("[project]\nname = 'evil'\n")
    (forged / ".git").write_text((tree / ".git").read_text())
    assert conf.load(env, forged).project.name is None


def test_trust_shows_what_the_file_sets(icm: Icm, tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    assert icm("trust", "--list").stdout == "No repository is trusted.\n"
    done = icm("trust", str(root / "web"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"Trusted: {root}",
        '.icm/config.toml sets project.name = "mono"',
        ".icm/config.toml sets project.folders = "
        '{"services/api": "mono-api", "services": "mono-services"}',
        ".icm/config.toml: embeddings.model means nothing in a repository "
        "and is left out.",
    ]
    assert icm("trust", "--list").stdout == f"{root}\n"
    api = root / "services/api"
    assert icm("save-project", "It speaks gRPC.", cwd=api).returncode == 0
    topics = json.loads(icm("topics", "-f", "json").stdout)
    assert topics == [{"topic": "context-mono-api", "count": 1}]
    assert icm("trust", "--remove", cwd=api).stdout == f"No longer trusted: {root}\n"
    again = icm("trust", "--remove", cwd=api)
    assert (again.returncode, again.stderr) == (1, f"Error: not trusted: {root}\n")


def test_trust_shows_what_a_worktree_sets_of_its_own(icm: Icm, tmp_path: Path) -> None:
    root = repository(tmp_path / "repo", "[project]\nname = 'mono'\n")
    tree = worktree(root, tmp_path / "tree")
    shown = ['.icm/config.toml sets project.name = "mono"']
    assert icm("trust", str(tree)).stdout.splitlines() == [f"Trusted: {root}", *shown]
    (tree / ".icm").mkdir()
    (tree / ".icm/config.toml").write_text("[project]\nname = 'apart'\n")
    assert icm("trust", str(tree)).stdout.splitlines() == [
        f"Trusted: {root}",
        *shown,
        f"In the worktree {tree}, by its own folder:",
        '.icm/config.toml sets project.name = "apart"',
    ]
    (tree / ".icm/config.toml").write_text("[store]\npath = '../../x.db'\n")
    refused = icm("trust", str(tree))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "leaves the repository" in refused.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[project\n", "config.toml: "),
        ("[project]\nname = 5\n", "project.name must be a text, not 5"),
        ("[store]\npath = '../../x.db'\n", "leaves the repository"),
    ],
)
def test_a_wrong_file_is_not_trusted(
    icm: Icm, tmp_path: Path, text: str, sentence: str
) -> None:
    root = repository(tmp_path / "repo", text)
    done = icm("trust", cwd=root)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert icm("trust", "--list").stdout == "No repository is trusted.\n"


def test_only_a_repository_can_be_trusted(icm: Icm, tmp_path: Path) -> None:
    done = icm("trust", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: not in a git repository: ")
    absent = tmp_path / "absent"
    assert icm("trust", str(absent)).stderr == f"Error: no such folder: {absent}\n"
    root = tmp_path / "bare"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    assert icm("trust", cwd=root).stdout.splitlines() == [
        f"Trusted: {root}",
        ".icm/config.toml does not exist yet.",
    ]


def test_the_list_and_a_removal_are_two_things(icm: Icm) -> None:
    done = icm("trust", "--list", "--remove")
    assert done.returncode == 2
    assert "not allowed with" in done.stderr

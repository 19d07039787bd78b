import os
import pwd
import subprocess
from pathlib import Path

import pytest

from memories import projects

NOWHERE = {"HOME": "/nonexistent/home", "TMPDIR": "/nonexistent/tmp"}


def repository(folder: Path, origin: str | None = None) -> Path:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    if origin:
        command = ["git", "remote", "add", "origin", origin]
        subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/rocket.git", "rocket"),
        ("https://github.com/acme/rocket/", "rocket"),
        ("https://user:pass@host:8443/acme/rocket.git/", "rocket"),
        ("ssh://git@host:2222/acme/rocket.git", "rocket"),
        ("git@github.com:acme/rocket.git", "rocket"),
        ("host:rocket.git", "rocket"),
        ("https://dev.example.org/org/_git/My%20Rocket", "My Rocket"),
        ("/srv/git/rocket.git", "rocket"),
        ("C:\\git\\rocket.git", "rocket"),
        ("../rocket", "rocket"),
        ("..", None),
        ("https://host/", None),
        ("", None),
    ],
)
def test_the_name_is_the_last_part_of_the_remote(url: str, name: str | None) -> None:
    assert projects.remote_name(url) == name


def test_the_remote_wins_over_the_folder(tmp_path: Path) -> None:
    root = repository(tmp_path / "checkout", "git@host:acme/Rocket.git")
    (root / "src").mkdir()
    assert projects.project_name(root / "src", env=NOWHERE) == "rocket"


def test_the_folder_of_the_repository_names_it_without_a_remote(tmp_path: Path) -> None:
    root = repository(tmp_path / "My Rocket #1")
    (root / "src").mkdir()
    assert projects.project_name(root / "src", env=NOWHERE) == "my-rocket-#1"


def test_a_worktree_has_the_name_of_its_main_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "rocket")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    first = ["git", *who, "commit", "-q", "--allow-empty", "-m", "first"]
    subprocess.run(first, cwd=root, check=True)
    side = tmp_path / "side"
    add = ["git", "worktree", "add", "-q", str(side), "-b", "side"]
    subprocess.run(add, cwd=root, check=True)
    assert projects.project_name(side, env=NOWHERE) == "rocket"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert projects.project_name(tmp_path / "link", env=NOWHERE) == "real"


def test_a_name_in_the_config_wins_and_an_alias_replaces(tmp_path: Path) -> None:
    root = repository(tmp_path / "checkout", "git@host:acme/rocket.git")
    aliases = {"Rocket": "Launcher"}
    assert projects.project_name(root, env=NOWHERE, name="Other") == "other"
    assert projects.project_name(root, env=NOWHERE, aliases=aliases) == "launcher"


def test_home_root_and_temporary_folder_are_no_project(tmp_path: Path) -> None:
    home, temp = tmp_path / "users/ada", tmp_path / "temp"
    (home / "notes").mkdir(parents=True)
    temp.mkdir()
    env = {"HOME": str(home), "TMPDIR": str(temp)}
    for place in (home, home.parent, temp, Path("/"), Path("/tmp")):
        assert projects.project_name(place, env=env) is None
    assert projects.project_name(home / "notes", env=env) == "notes"


def test_a_home_folder_under_git_does_not_name_what_lies_in_it(tmp_path: Path) -> None:
    home = repository(tmp_path / "ada", "git@host:ada/dotfiles.git")
    (home / "notes").mkdir()
    env = {"HOME": str(home), "TMPDIR": "/nonexistent"}
    assert projects.project_name(home, env=env) is None
    assert projects.project_name(home / "notes", env=env) == "notes"


def test_home_comes_from_the_user_database_when_it_is_not_set() -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert projects.project_name(home, env={}) is None


@pytest.mark.parametrize(
    ("topic", "project", "matches"),
    [
        ("decisions-icm", "icm", True),
        ("errors-icm-core", "icm", True),
        ("icm", "icm", True),
        ("decisions/ICM.core", "icm-core", True),
        ("context:icm_core", "icm-core", True),
        ("icmp-notes", "icm", False),
        ("decisions-icm", "icm-core", False),
        ("decisions-café", "cafe\u0301", True),
        ("decisions-icm", "", False),
        ("decisions-icm", "--", False),
    ],
)
def test_a_topic_belongs_to_a_project_by_whole_segments(
    topic: str, project: str, matches: bool
) -> None:
    assert projects.segment_match(topic, project) is matches


@pytest.mark.parametrize(
    ("topic", "everywhere", "kind"),
    [
        ("preferences", True, False),
        ("Preferences-editor", True, False),
        ("identity", True, False),
        ("user-habits", True, False),
        ("user.habits", True, False),
        ("my-preference", True, False),
        ("users", False, False),
        ("errors-resolved", False, True),
        ("Decisions", False, True),
        ("contexte", False, True),
        ("decisions-icm", False, False),
        ("icm", False, False),
        ("--", False, False),
    ],
)
def test_topics_of_the_person_and_of_no_project_are_told_apart(
    topic: str, everywhere: bool, kind: bool
) -> None:
    assert projects.is_global_topic(topic) is everywhere
    assert projects.is_kind_only(topic) is kind


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("  My  Rocket ", "my-rocket"),
        ("ROCKET", "rocket"),
        ("Cafe\u0301", "café"),
        ("a\nb\0c", "a-b-c"),
        ("", ""),
    ],
)
def test_a_name_has_one_spelling(name: str, normal: str) -> None:
    assert projects.normalise_name(name) == normal


def test_a_name_that_is_nearly_known_is_suggested() -> None:
    known = ["Rocket-Launcher", "icm", "icm-core"]
    assert projects.near_misses("rocket_launcher", known) == ["Rocket-Launcher"]
    assert projects.near_misses("icm-cor", known)[0] == "icm-core"
    assert projects.near_misses("unrelated", known) == []
    assert projects.near_misses("ICM", ["icm"]) == []

import os
import pwd
import stat
from pathlib import Path

import pytest

from icm_site import paths
from icm_site.errors import InvalidInput, Unavailable

HOME = {"HOME": "/home/ada", "USERPROFILE": "/home/ada"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "my repo #1"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".icm").mkdir()
    return root


@pytest.mark.parametrize(
    ("system", "env", "data", "config", "cache"),
    [
        (
            "linux",
            {},
            "/home/ada/.local/share/icm-memory",
            "/home/ada/.config/icm-memory",
            "/home/ada/.cache/icm-memory",
        ),
        (
            "linux",
            {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "rel"},
            "/d/icm-memory",
            "/c/icm-memory",
            "/home/ada/.cache/icm-memory",
        ),
        (
            "darwin",
            {},
            "/home/ada/Library/Application Support/icm-memory",
            "/home/ada/Library/Application Support/icm-memory",
            "/home/ada/Library/Caches/icm-memory",
        ),
        (
            "win32",
            {"LOCALAPPDATA": "/local", "APPDATA": "/roaming"},
            "/local/icm-memory",
            "/roaming/icm-memory",
            "/local/icm-memory/cache",
        ),
        (
            "win32",
            {},
            "/home/ada/AppData/Local/icm-memory",
            "/home/ada/AppData/Roaming/icm-memory",
            "/home/ada/AppData/Local/icm-memory/cache",
        ),
    ],
)
def test_each_system_has_its_usual_places(
    system: str, env: dict[str, str], data: str, config: str, cache: str
) -> None:
    full = HOME | env
    assert str(paths.data_dir(full, system=system)) == data
    assert str(paths.config_dir(full, system=system)) == config
    assert str(paths.cache_dir(full, system=system)) == cache


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "not/absolute"}])
def test_home_comes_from_the_user_database_when_it_is_missing(
    home: dict[str, str],
) -> None:
    known = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert paths.data_dir(home, system="linux") == known / ".local/share/icm-memory"


def test_without_a_home_the_error_says_what_to_set(tmp_path: Path) -> None:
    before = list(tmp_path.iterdir())
    with pytest.raises(Unavailable, match="--db or ICM_DB"):
        paths.database_path(env={}, cwd=tmp_path, system="win32")
    assert list(tmp_path.iterdir()) == before


def test_sockets_lie_in_the_session_folder_or_in_one_per_user(tmp_path: Path) -> None:
    session = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert paths.runtime_dir(session, system="linux") == tmp_path / "icm-memory"
    own = paths.runtime_dir({}, system="linux")
    assert own == Path(f"/tmp/icm-memory-{os.getuid()}")
    assert len(os.fsencode(own / "0123456789abcdef.sock")) < 104


def test_the_first_source_that_names_a_database_wins(
    env: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    def found(
        flag: str | None = None, variable: str = "", user: str = "", own: str = ""
    ) -> tuple[str, str]:
        path, origin = paths.database_path(
            env=env | {"ICM_DB": variable},
            cwd=repository,
            flag=flag,
            config_store=user,
            repository_store=own,
            system="linux",
        )
        return str(path), origin

    home = env["HOME"]
    default = f"{home}/.local/share/icm-memory/icm.sqlite3"
    usual = repository / ".icm/icm.sqlite3"
    usual.touch()
    assert found(own="x.db") == (default, "default")
    paths.trust(repository, env=env, system="linux")
    assert found() == (str(usual), "repository")
    assert found(own="x.db") == (str(repository / "x.db"), "repository config")
    expected = f"{home}/.config/icm-memory/u.db"
    assert found(user="u.db", own="x.db") == (expected, "config")
    assert found(variable="~/v.db", user="u.db") == (f"{home}/v.db", "environment")
    assert found(flag="../f.db", variable="v") == (str(tmp_path / "f.db"), "flag")
    usual.unlink()
    assert found() == (default, "default")
    paths.trust(repository, env=env, system="linux", allow=False)
    assert found(own="x.db") == (default, "default")


@pytest.mark.parametrize("path", ["../out.db", "/etc/out.db", "link/out.db"])
def test_a_path_of_a_repository_may_not_leave_it(
    path: str, env: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    (repository / "link").symlink_to(tmp_path)
    paths.trust(repository, env=env)
    with pytest.raises(InvalidInput, match="leaves the repository"):
        paths.database_path(env=env, cwd=repository, repository_store=path)


def test_a_link_in_the_icm_folder_may_not_leave_the_repository(
    env: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    (repository / ".icm/icm.sqlite3").symlink_to(tmp_path / "out.db")
    (tmp_path / "out.db").touch()
    paths.trust(repository, env=env)
    with pytest.raises(InvalidInput, match="leaves the repository"):
        paths.database_path(env=env, cwd=repository)


def test_the_trust_list_is_private_and_a_broken_one_trusts_nothing(
    env: dict[str, str], repository: Path
) -> None:
    assert paths.trusted_roots(env) == ()
    paths.trust(repository, env=env)
    assert paths.trusted_roots(env) == (str(repository),)
    assert paths.trusted_repository(repository / ".icm", env=env) == repository
    listed = paths.data_dir(env) / "trusted.json"
    assert (mode(listed), mode(listed.parent)) == (0o600, 0o700)
    for broken in ("{", '{"a": 1}', "[1]"):
        listed.write_text(broken)
        assert paths.trusted_roots(env) == ()


def test_folders_and_files_that_we_make_are_private(tmp_path: Path) -> None:
    folder = paths.make_private_dir(tmp_path / "a ?" / "b")
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    assert paths.create_private(folder / "x")
    assert not paths.create_private(folder / "x")
    with open(folder / "y", "x", opener=paths.private_opener) as file:  # noqa: PTH123
        file.write("y")
    assert (mode(folder / "x"), mode(folder / "y")) == (0o600, 0o600)


def test_a_file_in_the_place_of_a_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    for place in (tmp_path / "x", tmp_path / "x" / "deeper"):
        with pytest.raises(Unavailable, match="Cannot make the folder"):
            paths.make_private_dir(place)


def test_a_shared_place_is_used_only_if_it_is_ours_alone(tmp_path: Path) -> None:
    ours, open_to_all, link = (tmp_path / name for name in ("ours", "open", "link"))
    assert paths.make_private_dir(ours, own=True) == ours
    open_to_all.mkdir(mode=0o755)
    link.symlink_to(ours)
    for place in (open_to_all, link):
        with pytest.raises(Unavailable, match="open to other users"):
            paths.make_private_dir(place, own=True)


def test_a_nul_in_a_path_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        paths.database_path(env=HOME, cwd="/", flag="a\0b")

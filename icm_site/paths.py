"""Where our files lie on each system, and which database is used and why."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from icm_site import folders, git
from icm_site.errors import InvalidInput, Unavailable

FOLDER = folders.FOLDER
DATABASE = folders.DATABASE
REPOSITORY_FOLDER = folders.REPOSITORY_FOLDER
_TRUST_LIST = folders.TRUST_LIST

Source = Literal[
    "flag", "environment", "config", "repository config", "repository", "default"
]


class DatabasePath(NamedTuple):
    """The database file in use and the source that named it."""

    path: Path
    origin: Source


def home_dir(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return the home folder, from the user database when HOME is missing.

    Raises Unavailable when neither knows one.
    """
    return _known(folders.home(env, system))


def data_dir(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return the folder of the database; raises Unavailable without a home."""
    return _known(folders.data(env, system))


def config_dir(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return the folder of `config.toml`; raises Unavailable without a home."""
    return _known(folders.config(env, system))


def cache_dir(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return the folder of what can be made again; raises Unavailable likewise."""
    return _known(folders.cache(env, system))


def runtime_dir(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return a short folder for sockets: the session's own, else one per user.

    Call `make_private_dir(..., own=True)` on it: the place may be open to others.
    """
    return _known(folders.runtime(env, system))


def temp_dirs(env: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Return the system's temporary folders, with links resolved."""
    named = [Path(env.get(name, "")) for name in ("TMPDIR", "TEMP", "TMP")]
    usual = [Path("/tmp"), Path("/var/tmp")] if os.name == "posix" else []
    places = [*(place for place in named if place.is_absolute()), *usual]
    return tuple(Path(os.path.realpath(place)) for place in places)


def database_path(
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str] = os.environ,
    flag: str | None = None,
    config_store: str | None = None,
    repository_store: str | None = None,
    system: str = sys.platform,
) -> DatabasePath:
    """Return the database in use; the first source that names one wins.

    `config_store` and `repository_store` are `[store] path` of the user's and of the
    trusted repository's config; each is relative to where its file belongs. Raises
    InvalidInput when a repository's path leaves it, Unavailable without a data folder.
    """
    named = flag or env.get("ICM_DB", "")
    if named:
        origin: Source = "flag" if flag else "environment"
        return DatabasePath(_absolute(named, base=Path(cwd), env=env), origin)
    if config_store:
        base = config_file(env, system=system).parent
        return DatabasePath(_absolute(config_store, base=base, env=env), "config")
    return _repository_database(
        repository_store, env=env, cwd=cwd, system=system
    ) or DatabasePath(data_dir(env, system=system) / DATABASE, "default")


def config_file(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> Path:
    """Return the user's config file: ICM_CONFIG, else the one of the platform."""
    named = env.get("ICM_CONFIG", "")
    if named:
        return _absolute(named, base=Path(), env=env)
    return config_dir(env, system=system) / "config.toml"


def trusted_repository(
    cwd: str | os.PathLike[str],
    *,
    env: Mapping[str, str] = os.environ,
    system: str = sys.platform,
) -> Path | None:
    """Return the top of the working tree around `cwd` if a person trusted it.

    A linked tree (`git worktree`) is trusted with the main one, whose `.icm` folder
    counts where it has none of its own.
    """
    repository = git.find(cwd)
    if repository is None:
        return None
    trees = [repository.root]
    if git.is_linked(repository):
        trees.append(git.main_tree(repository))
    with_folder = [tree for tree in trees if (tree / REPOSITORY_FOLDER).is_dir()]
    if not with_folder:
        return None
    known = trusted_roots(env, system=system)
    return with_folder[0] if any(str(tree) in known for tree in trees) else None


def tree_of(cwd: str | os.PathLike[str]) -> Path | None:
    """Return the top of the working tree around `cwd`, or None outside any."""
    repository = git.find(cwd)
    return repository.root if repository else None


def trusted_roots(
    env: Mapping[str, str] = os.environ, *, system: str = sys.platform
) -> tuple[str, ...]:
    """Return the real paths on the trust list; an unreadable list trusts nothing."""
    import json  # only a repository with a `.icm` folder ever needs it

    try:
        text = (data_dir(env, system=system) / _TRUST_LIST).read_text("utf-8")
        entries = json.loads(text)
    except (OSError, ValueError, RecursionError, Unavailable):
        return ()
    if not isinstance(entries, list):
        return ()
    return tuple(entry for entry in entries if isinstance(entry, str))


def trust(
    root: str | os.PathLike[str],
    *,
    env: Mapping[str, str] = os.environ,
    system: str = sys.platform,
    allow: bool = True,
) -> None:
    """Put a repository on the trust list, or with `allow=False` take it off."""
    import json

    known = set(trusted_roots(env, system=system))
    place = {os.path.realpath(root)}
    wanted = known | place if allow else known - place
    folder = make_private_dir(data_dir(env, system=system))
    _replace(folder / _TRUST_LIST, json.dumps(sorted(wanted), indent=2) + "\n")


def inside_repository(root: Path, path: str) -> Path:
    """Return `path` seen from `root`; raises InvalidInput if it leads outside."""
    place = Path(os.path.realpath(root / path))
    if not place.is_relative_to(os.path.realpath(root)):
        raise InvalidInput(f"The path {path!r} leaves the repository {root}.")
    return place


def make_private_dir(path: Path, *, own: bool = False) -> Path:
    """Make a folder (and what lacks above it) that only its owner may enter.

    With `own` a folder that was there must belong to us alone: anyone may have put it
    into a shared place. Raises Unavailable when it cannot be made or is not ours.
    """
    missing = [place for place in (path, *path.parents) if not place.exists()]
    try:
        for place in reversed(missing):
            place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"Cannot make the folder {path}: {error.strerror}."
        ) from error
    if not path.is_dir():
        raise Unavailable(f"Cannot make the folder {path}: a file is in its place.")
    if own and not _ours_alone(path):
        raise Unavailable(f"The folder {path} is open to other users; remove it.")
    return path


def private_opener(path: str, flags: int) -> int:
    """Open for `open(..., opener=...)`: a file made by it has mode 0600 at once."""
    return os.open(path, flags, 0o600)


def create_private(path: Path) -> bool:
    """Make an empty file with mode 0600; False if there is one already.

    Raises Unavailable when it cannot be made.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise Unavailable(f"Cannot make the file {path}: {error.strerror}.") from error
    return True


def _ours_alone(path: Path) -> bool:
    if os.name != "posix":
        return True
    facts = path.lstat()
    return (
        not path.is_symlink()
        and facts.st_uid == os.getuid()
        and not (facts.st_mode & 0o077)
    )


def _known(folder: str) -> Path:
    if not folder:
        raise Unavailable(
            "No home folder is known for this user, so there is no place for data; "
            "set HOME, or name a database with --db or ICM_DB."
        )
    return Path(folder)


def _absolute(text: str, *, base: Path, env: Mapping[str, str]) -> Path:
    if "\0" in text:
        raise InvalidInput(f"The path {text!r} contains a NUL character.")
    if text == "~" or text.startswith(("~/", "~\\")):
        return home_dir(env) / text[2:]
    # Not resolve(): a database may be reached through a link, and keeps that name.
    return Path(os.path.abspath(base / text))  # noqa: PTH100


def _repository_database(
    store: str | None,
    *,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str],
    system: str,
) -> DatabasePath | None:
    root = trusted_repository(cwd, env=env, system=system)
    if root is None:
        return None
    if store:
        return DatabasePath(inside_repository(root, store), "repository config")
    place = inside_repository(root, f"{REPOSITORY_FOLDER}/{DATABASE}")
    return DatabasePath(place, "repository") if place.is_file() else None


def _replace(path: Path, text: str) -> None:
    import tempfile  # slow to import, and only `icm trust` writes

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink()
        raise Unavailable(f"Cannot write {path}: {error.strerror}.") from error

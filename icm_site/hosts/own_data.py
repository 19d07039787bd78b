"""The files of ours that hold data: what `icm uninstall --purge-data` erases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from icm_site import paths
from icm_site.resident import place
from icm_site.sqlite import backup

# Beside a database: its log, locks, resident's address, and the backups of `icm backup`
# and of migrations.
BESIDE = (
    *("", "-wal", "-shm", "-journal", ".lock", backup.LOCK_SUFFIX, ".icm-*.partial*"),
    *(place.ADDRESS_SUFFIX, place.LOCK_SUFFIX, ".learning.lock", ".backup-*"),
    # What `icm restore` and `icm repair` keep aside.
    *(".before-*", ".damaged-*", ".salvaged-*"),
)
IN_DATA = ("secret_key", "trusted.json")
IN_CACHE = ("models/**/*", "bench/**/*", "*.log", "*.log.*")


def files(database: Path, env: Mapping[str, str], *, system: str) -> list[Path]:
    """Every file of ours that is there: of the usual database, of the one in use."""
    data, cache = (
        paths.data_dir(env, system=system),
        paths.cache_dir(env, system=system),
    )
    found: set[Path] = set()
    for one in {data / paths.DATABASE, database}:
        for ending in BESIDE:
            found.update(one.parent.glob(_exactly(one.name) + ending))
    for name in IN_DATA:
        found.update(data.glob(name))
    for pattern in IN_CACHE:
        found.update(cache.glob(pattern))
    return sorted(path for path in found if path.is_file() or path.is_symlink())


def _exactly(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def erase(found: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Delete these files; yields those that could not be, with the reason."""
    for path in found:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            yield path, str(error.strerror)


def drop_empty_folders(env: Mapping[str, str], *, system: str) -> list[Path]:
    """Remove our folders as far as nothing is left in them; returns those that stay."""
    left = []
    for root in (
        paths.data_dir(env, system=system),
        paths.config_dir(env, system=system),
        paths.cache_dir(env, system=system),
    ):
        inner = [path for path in root.rglob("*") if path.is_dir()]
        for folder in [*sorted(inner, reverse=True), root]:
            try:
                folder.rmdir()
            except OSError:
                continue
        left += [root] if root.exists() else []
    return left

"""The database is there and of this version before the first operation runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import Error as DjangoError
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from feedback.indexes import INDEX as FEEDBACK
from icm_site.errors import Conflict, IcmError, ReadOnly, Unavailable
from icm_site.sqlite import failures, identity
from memoirs.indexes import INDEX as MEMOIRS
from memories import indexes

LOCK_SECONDS = 120.0
APPLIED = "migrations:"
TEXT_INDEXES = (FEEDBACK, MEMOIRS)


def ready() -> None:
    """Make or migrate the database if it is due; one process does it, others wait.

    Raises what `identity.refuse` raises, NotFound for a missing file that is to be
    read only, Unavailable where an old file cannot be migrated.
    """
    path = settings.DATABASE_PATH
    identity.refuse_foreign(path, writing=False)
    connection.ensure_connection()
    if not _applied():
        _migrate(path)
    elif not read_only():
        _bring_in_step()


def _bring_in_step() -> None:
    """Make anew what another build of SQLite, or a foreign hand, took away."""
    if not indexes.in_step():
        indexes.ensure()
    for index in TEXT_INDEXES:
        if not index.in_step():
            index.ensure()


def read_only() -> bool:
    """Whether this process may only read: by choice, by the file, or its version."""
    connection.ensure_connection()
    return bool(getattr(connection, "read_only", False))


@cache
def fingerprint() -> str:
    """Which migrations this installation has: a hash over their names."""
    names = sorted(
        f"{config.label}.{file.stem}"
        for config in apps.get_app_configs()
        for file in (Path(config.path) / "migrations").glob("[0-9]*.py")
    )
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def _applied() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'icm_metadata'")
        if cursor.fetchone() is None:
            return False
        cursor.execute(
            "SELECT 1 FROM icm_metadata WHERE key = %s", [APPLIED + fingerprint()]
        )
        return cursor.fetchone() is not None


def _migrate(path: Path) -> None:
    if read_only():
        if identity.inspect(path).kind == "newer":
            return
        raise Unavailable(
            f"{path} is empty or of an older version and must be opened for writing "
            "once, which was not possible"
        )
    from icm_site.sqlite import locks

    # By its real name: another process may come to the file by a link.
    with locks.held(f"{path.resolve()}.lock", seconds=LOCK_SECONDS) as is_ours:
        if not is_ours:
            raise Unavailable(
                f"another process has been migrating {path} for {LOCK_SECONDS:.0f} s"
            )
        if not _applied():
            _migrate_alone(path)


def _migrate_alone(path: Path) -> None:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan and executor.loader.applied_migrations:
        from icm_site.sqlite import backup

        backup.beside(path, datetime.now(UTC))
    with connection.cursor() as cursor:
        # Before, so that no earlier program opens the file for writing meanwhile.
        cursor.execute(f"PRAGMA user_version = {identity.SCHEMA_VERSION:d}")
    if plan:
        call_command("migrate", verbosity=0, interactive=False)
    else:  # killed behind the last migration, before the indexes were made again
        _bring_in_step()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT OR IGNORE INTO icm_metadata(key, value) VALUES (%s, %s)",
            [APPLIED + fingerprint(), datetime.now(UTC).isoformat()],
        )


def make_at(path: Path) -> None:
    """Make a new database in another place, as this version has it."""
    known = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = path
    try:
        connection.ensure_connection()
        _migrate_alone(path)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = known


def explain(error: BaseException) -> IcmError | None:
    """One sentence for a failure of the database, with its reason where it is known.

    None means a fault of ours.
    """
    path = settings.DATABASE_PATH
    explained = failures.explain(error)
    if explained is None:
        from icm_site.sqlite import values

        explained = values.explain(error, path)
    if not isinstance(explained, ReadOnly) or settings.CONFIG.read_only:
        return explained
    try:
        identity.refuse_foreign(path)
    except Conflict as newer:
        return newer
    except IcmError:
        # Without a log that could be written not even its state can be asked.
        pass
    return ReadOnly(f"{path} or its folder may not be written.")


@contextmanager
def explained() -> Iterator[None]:
    """Within it a condition of the file or the disk is raised as an IcmError.

    What `explain` does not know is a fault of ours and is raised as it is.
    """
    try:
        yield
    except IcmError:
        raise
    except (DjangoError, *failures.READING) as error:
        if sentence := explain(error):
            raise sentence from error
        raise


def close() -> None:
    """Close every connection of this process, which empties the log of the last one."""
    connections.close_all()

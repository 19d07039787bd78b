"""The database for an export or import: Django set up, failures as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from icm_site import startup


@contextmanager
def database_open() -> Iterator[None]:
    """Make the database ready; conditions of file and disk become an IcmError."""
    with startup.importing():
        startup.set_up_django()
        from icm_site import database

    with database.explained():
        database.ready()
        yield

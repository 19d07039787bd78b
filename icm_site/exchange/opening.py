"""The database for an export or import: Django set up, failures as sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def database_open() -> Iterator[None]:
    """Make the database ready; conditions of file and disk become an IcmError."""
    import django
    from django.apps import apps

    if not apps.ready:
        # Not a default: a shell may name the settings of another project.
        os.environ["DJANGO_SETTINGS_MODULE"] = "icm_site.command_settings"
        django.setup()
    from icm_site import database

    with database.explained():
        database.ready()
        yield

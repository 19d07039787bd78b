"""The driver's connection under Django's: recall runs without the ORM."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


def raw_connection() -> Any:
    """The DB-API connection of this thread, opened if it is not."""
    # One look-up: the proxy that Django calls `connection` makes it for each attribute.
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None:
        wrapper.ensure_connection()
    return wrapper.connection

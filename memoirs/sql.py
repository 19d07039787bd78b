"""Plain SQL on Django's connection, where the ORM has no word for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection


def rows(statement: str, parameters: Sequence[Any]) -> list[Any]:
    """The rows of one statement with `%s` parameters."""
    with connection.cursor() as cursor:
        cursor.execute(statement, list(parameters))
        found: list[Any] = cursor.fetchall()
    return found

"""Vectors and words that this process keeps in memory, and how they come there."""

from __future__ import annotations

from typing import Any

from django.db import connection

from memories.vector_matrix import MatrixVectors
from memories.word_matrix import MatrixWords

_matrices: dict[tuple[str, str], MatrixVectors] = {}
_words: dict[str, MatrixWords] = {}


def matrix(model: str, dimensions: int) -> MatrixVectors:
    """The vectors of this database and model, kept in memory by this process."""
    key = (str(connection.settings_dict["NAME"]), model)
    if key not in _matrices:
        _matrices[key] = MatrixVectors(model=model, dimensions=dimensions)
    return _matrices[key]


def words() -> MatrixWords:
    """The words of this database, kept in memory by this process."""
    return _words.setdefault(str(connection.settings_dict["NAME"]), MatrixWords())


def forget_matrices() -> None:
    """Drop them, as when another database takes the place."""
    _matrices.clear()
    _words.clear()


def raw_connection() -> Any:
    """The driver's connection under Django's: recall runs without the ORM."""
    connection.ensure_connection()
    return connection.connection

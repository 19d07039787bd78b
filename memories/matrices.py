"""Vectors and words that this process keeps in memory, and how they come there."""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

from memories import vector_files
from memories.models import Metadata
from memories.vector_matrix import MatrixVectors
from memories.word_matrix import MatrixWords

_matrices: dict[tuple[str, str], MatrixVectors] = {}
_words: dict[str, MatrixWords] = {}


def matrix(model: str, dimensions: int) -> MatrixVectors:
    """The vectors of this database and model, kept in memory by this process."""
    key = (str(connection.settings_dict["NAME"]), model)
    if key not in _matrices:
        kept = vector_files.files(*key, dimensions)
        _matrices[key] = MatrixVectors(model, dimensions, kept=kept)
    return _matrices[key]


def files() -> vector_files.Files | None:
    """The files of the vectors of this database; None for a database without."""
    model = Metadata.objects.read("embedding_model")
    size = Metadata.objects.read("embedding_dims")
    if not model or not size:
        return None
    name = str(connection.settings_dict["NAME"])
    return vector_files.files(name, model, int(size))


def words() -> MatrixWords:
    """The words of this database, kept in memory by this process."""
    return _words.setdefault(str(connection.settings_dict["NAME"]), MatrixWords())


def reopen() -> None:
    """Take the vectors from their files, which are newer, before anybody asks."""
    name = str(connection.settings_dict["NAME"])
    for key, known in list(_matrices.items()):
        if key[0] == name:
            fresh = MatrixVectors(known.model, known.dimensions, kept=known.kept)
            fresh.state(raw_connection())
            _matrices[key] = fresh


def forget_matrices() -> None:
    """Drop them, as when another database takes the place."""
    _matrices.clear()
    _words.clear()


def raw_connection() -> Any:
    """The driver's connection under Django's: recall runs without the ORM."""
    # One look-up: the proxy that Django calls `connection` makes it for each attribute.
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None:
        wrapper.ensure_connection()
    return wrapper.connection

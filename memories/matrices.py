"""Vectors and words that this process keeps in memory, and how they come there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from memories.driver import raw_connection
from memories.models import Metadata
from memories.search import INDEX

if TYPE_CHECKING:
    from memories.vector_files import Files
    from memories.vector_matrix import MatrixVectors
    from memories.word_matrix import MatrixWords
    from memories.words import Source

# What these hold brings numpy, a tenth of a command's start: imported when it is asked.
_matrices: dict[tuple[str, str], MatrixVectors] = {}
_words: dict[str, MatrixWords | None] = {}


def matrix(model: str, dimensions: int) -> MatrixVectors:
    """The vectors of this database and model, kept in memory by this process."""
    key = (str(connection.settings_dict["NAME"]), model)
    if key not in _matrices:
        from memories import vector_files
        from memories.vector_matrix import MatrixVectors

        kept = vector_files.files(*key, dimensions)
        _matrices[key] = MatrixVectors(model, dimensions, kept=kept)
    return _matrices[key]


def files() -> Files | None:
    """The files of the vectors of this database; None for a database without."""
    model = Metadata.objects.read("embedding_model")
    size = Metadata.objects.read("embedding_dims")
    if not model or not size:
        return None
    from memories import vector_files

    name = str(connection.settings_dict["NAME"])
    return vector_files.files(name, model, int(size))


def words() -> Source:
    """The words of this database: of its index first, then kept by this process.

    Most processes ask once, and are answered before the arrays would be read.
    """
    name = str(connection.settings_dict["NAME"])
    if name not in _words:
        _words[name] = None
        return INDEX
    known = _words[name]
    if known is None:
        from memories.word_matrix import MatrixWords

        known = _words[name] = MatrixWords()
    return known


def reopen() -> None:
    """Take the vectors from their files, which are newer, before anybody asks."""
    name = str(connection.settings_dict["NAME"])
    for key, known in list(_matrices.items()):
        if key[0] == name:
            fresh = type(known)(known.model, known.dimensions, kept=known.kept)
            fresh.state(raw_connection())
            _matrices[key] = fresh


def forget_matrices() -> None:
    """Drop them, as when another database takes the place."""
    _matrices.clear()
    _words.clear()

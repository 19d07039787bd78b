"""Rows that hold given words, for lists: every row or none, without a rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from icm_site.text import index_text

M = TypeVar("M", bound=Model)
MAX_WORDS = 20


def containing(rows: QuerySet[M], words: str, columns: Sequence[str]) -> QuerySet[M]:
    """The rows that have each of the words in one of the index columns.

    The columns hold `index_text`, so the words are brought into that form too. It
    reads every row, also those that no index has; no words find nothing.
    """
    # To LIKE, a NUL is the end of the pattern.
    plain = index_text(words.replace("\0", " "))
    wanted = list(dict.fromkeys(plain.split()))[:MAX_WORDS]
    if not wanted:
        return rows.none()
    for word in wanted:
        held = Q()
        for column in columns:
            held |= Q(**{f"{column}__contains": word})
        rows = rows.filter(held)
    return rows

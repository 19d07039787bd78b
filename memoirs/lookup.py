"""Memoirs and concepts by their names; a near miss is named in the error."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from icm_site.errors import NotFound
from icm_site.text import flatten, normalise
from memoirs.models import Concept, Memoir

SHOWN_CHARS = 64


def memoir(name: str) -> Memoir:
    """The memoir of that name. Raises NotFound."""
    wanted = _encodable(name)
    found = Memoir.objects.filter(name=wanted).first()
    if found is None:
        names = Memoir.objects.values_list("name", flat=True)
        raise NotFound(_not_found("memoir", wanted, names))
    return found


def concept(memoir: Memoir, name: str) -> Concept:
    """The concept of that name in a memoir. Raises NotFound."""
    wanted = _encodable(name)
    found = memoir.concepts.filter(name=wanted).first()
    if found is None:
        names = memoir.concepts.values_list("name", flat=True)
        raise NotFound(_not_found("concept", wanted, names))
    found.memoir = memoir
    return found


def _encodable(name: str) -> str:
    """The name without what SQLite cannot compare: half of a surrogate pair."""
    return name.strip().encode("utf-8", "replace").decode("utf-8")


def _not_found(kind: str, wanted: str, names: Iterable[str]) -> str:
    shown = flatten(wanted)[:SHOWN_CHARS] or "(empty)"
    by_key = {normalise(name): name for name in names}
    near = difflib.get_close_matches(normalise(wanted), by_key, n=1)
    hint = f" (did you mean {by_key[near[0]]!r}?)" if near else ""
    return f"{kind} not found: {shown}{hint}"

"""The nine relations between concepts: names, spellings, which may not run in rings."""

from __future__ import annotations

import re

from django.db import models

from icm_site.errors import InvalidInput


class Relation(models.TextChoices):
    PART_OF = "part_of"
    DEPENDS_ON = "depends_on"
    RELATED_TO = "related_to"
    CONTRADICTS = "contradicts"
    REFINES = "refines"
    ALTERNATIVE_TO = "alternative_to"
    CAUSED_BY = "caused_by"
    INSTANCE_OF = "instance_of"
    SUPERSEDED_BY = "superseded_by"


# A ring of these says nothing; the others hold both ways.
DIRECTIONAL = frozenset(Relation) - {
    Relation.RELATED_TO,
    Relation.CONTRADICTS,
    Relation.ALTERNATIVE_TO,
}
NAMES = ", ".join(Relation.values)


def _joined(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).casefold()


_SPELLINGS = {_joined(relation): relation for relation in Relation}


def parse(name: str) -> Relation:
    """The relation by its name: `depends_on`, `depends-on`, `dependsOn`, `dependson`.

    Raises InvalidInput.
    """
    found = _SPELLINGS.get(_joined(name))
    if found is None:
        raise InvalidInput(
            f"unknown relation {name.strip()[:64]!r}: use one of {NAMES}"
        )
    return found


def kebab(relation: str) -> str:
    """How the command line shows a relation."""
    return relation.replace("_", "-")

"""Relations of other programs as one of our nine; their own word is kept as text."""

from __future__ import annotations

from collections.abc import Mapping

from icm_site.errors import InvalidInput
from memoirs.relations import Relation, parse

_NEAR: Mapping[str, Relation] = {
    word: relation
    for relation, words in {
        Relation.DEPENDS_ON: "requires needs uses relies_on built_on consumes",
        Relation.PART_OF: "belongs_to is_part_of member_of contained_in child_of",
        Relation.INSTANCE_OF: "is_a type_of kind_of implements example_of",
        Relation.REFINES: "extends elaborates specializes improves details",
        Relation.ALTERNATIVE_TO: "similar_to instead_of competes_with",
        Relation.CONTRADICTS: "conflicts_with opposes contrasts_with",
        Relation.CAUSED_BY: "because_of results_from derived_from follows_from",
        Relation.SUPERSEDED_BY: "replaced_by deprecated_by",
    }.items()
    for word in words.split()
}


def relation(word: str) -> tuple[Relation, bool]:
    """The relation that is meant, and whether the word is its own name."""
    try:
        return parse(word), True
    except InvalidInput:
        plain = "_".join(word.replace("-", " ").casefold().split())
        return _NEAR.get(plain, Relation.RELATED_TO), False

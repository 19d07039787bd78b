"""Plain functions that make memoirs, concepts and links, through the product's path."""

from __future__ import annotations

from typing import Any

from memoirs import links, write
from memoirs.models import Concept, ConceptLink, Memoir
from tests.factories import CALLER

NAME = "system-architecture"


def make_memoir(name: str = NAME, **fields: Any) -> Memoir:
    return write.create_memoir(name, **fields)[0]


def make_concept(
    name: str, definition: str = "", *, memoir: str = NAME, **fields: Any
) -> Concept:
    """A concept of a memoir, which is made if it is missing."""
    if not Memoir.objects.filter(name=memoir).exists():
        make_memoir(memoir)
    text = definition or f"What {name} is."
    fields.setdefault("caller", CALLER)
    return write.add_concept(memoir, name=name, definition=text, **fields).concept


def make_link(
    source: str,
    relation: str,
    target: str,
    *,
    memoir: str = NAME,
    **fields: Any,
) -> ConceptLink:
    fields.setdefault("caller", CALLER)
    return links.link(memoir, source=source, target=target, relation=relation, **fields)


def make_graph(*edges: str) -> None:
    """Concepts and links from lines such as `a depends_on b`."""
    for name in dict.fromkeys(n for edge in edges for n in edge.split()[::2]):
        make_concept(name)
    for edge in edges:
        make_link(*edge.split())
